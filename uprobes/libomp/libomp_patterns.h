/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the patterns of libomp share; private to them. */
#ifndef GRAIND_LIBOMP_PATTERNS_H
#define GRAIND_LIBOMP_PATTERNS_H

#include "bpf/abi/libomp_task_cookie.h"
#include "uprobes/planner/planner.h"

/*
 * A cookie for instruction `insn`. Its off, reg and reg2 say where the runtime's code is (libomp_cookie.h).
 */
uint64_t libomp__cookie(const struct planner *planner, size_t insn, uint32_t kind, uint32_t variant,
			uint32_t a, uint32_t b);

struct libomp_span {
	const char *function;  /* exported */
	const char *event;     /* at the entry */
	const char *end_event; /* at the exits */
	const char *reads;
	uint32_t kind, variant, a, b; /* for the cookie at the entry */
	uint32_t end_kind, end_a;     /* RING_NONE: the exits are not probed */
};

/*
 * Adds the entry of an exported function and its exits. The exits are the jumps into its returning code if
 * there are any, else its return. False: there is no such function.
 */
bool libomp__add_span(struct planner *planner, const struct libomp_span *span);
/* The same for a function that is not exported, given by its range. */
void libomp__add_span_at(struct planner *planner, const struct code_range *f, const struct libomp_span *span);

/*
 * Index of the first instruction of the function that a direct call or jump leads to, also through the PLT.
 * CODE_NONE: the function is not in this file.
 */
size_t libomp__callee(const struct planner *planner, size_t insn);

int libomp_tasks__find(struct planner *planner); /* creations, bodies, taskloops, undeferred, detached */
int libomp_teams__find(struct planner *planner); /* regions and their members */
int libomp_waits__find(struct planner *planner); /* taskwait, taskgroups, barriers, cancellation */
int libomp_worksharing__find(struct planner *planner); /* loops, sections, singles, and locks */
int libomp_locks__find(struct planner *planner);       /* critical, ordered, doacross, locks */

#endif
