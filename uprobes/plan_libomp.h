/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that find libomp's points. */
#ifndef GRAIND_PLAN_LIBOMP_H
#define GRAIND_PLAN_LIBOMP_H

#include "bpf/libomp_task_cookie.h"
#include "uprobes/planner.h"

/* A cookie for instruction `insn` whose off, reg and reg2 say where the runtime's code is (libomp_cookie.h).
 */
uint64_t libomp__cookie(const struct planner *planner, size_t insn, uint32_t kind, uint32_t variant,
			uint32_t a, uint32_t b);

struct libomp_span {
	const char *function;  /* exported */
	const char *event;     /* of the entry; */
	const char *end_event; /* of the exits */
	const char *reads;
	uint32_t kind, variant, a, b; /* of the cookie at the entry */
	uint32_t end_kind, end_a;     /* RING_NONE: the exits are not probed */
};

/*
 * The entry of an exported function and its exits: jumps into the code that
 * returns where there are such, else its return. False when there is no
 * such function.
 */
bool libomp__add_span(struct planner *planner, const struct libomp_span *span);
/* The same for a function that is not exported, known by its range. */
void libomp__add_span_at(struct planner *planner, const struct code_range *f, const struct libomp_span *span);

/* Index of the function that a direct call or jump leads to, also through the PLT; CODE_NONE if it is not in
 * this file. */
size_t libomp__callee(const struct planner *planner, size_t insn);

int plan_libomp_tasks__find(struct planner *planner); /* creations, bodies, taskloops, undeferred, detached */
int plan_libomp_teams__find(struct planner *planner); /* regions and their members */
int plan_libomp_waits__find(struct planner *planner); /* taskwait, taskgroups, barriers, cancellation */

#endif
