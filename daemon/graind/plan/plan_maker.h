/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the probe plan of a file by a worker without privileges. For plan_cache.c. */
#ifndef GRAIND_PLAN_MAKER_H
#define GRAIND_PLAN_MAKER_H

#include "uprobes/plan/plan.h"

#include <stdatomic.h>

#define PLAN_SECONDS 20

/* What a file is searched for. */
enum plan_subject {
	PLAN_RUNTIME,
	PLAN_BODIES, /* the bodies of constructs in a program (uprobes/make_plan/bodies.h) */
	PLAN_LOOPS,  /* static loops in a program (uprobes/static_loops/static_loops.h) */
};

struct plan_order {
	int fd;
	enum plan_subject subject;
	uint64_t offset; /* file offset of the only wanted body; 0: all */
	const atomic_bool *unwanted;
};

/*
 * Makes the plan and its text. The caller owns both. *spent_ns is the CPU time that the worker used, also
 * on failure. Errors are those of probe_plan__create(), with *err set, in which the file is called
 * WORKER_PLAN_NAME. -ETIMEDOUT and -ECHILD are also the file's fault; -ECANCELED: the plan is not wanted
 * any more; all other errors come from the present state of the machine. The worker's answer is checked
 * like a plan file. Only probe_plan__check() is left to the caller.
 */
int plan_maker__make(const struct plan_order *order, struct probe_plan **out, char **text, uint64_t *spent_ns,
		     struct uprobes_error *err);

/* Runs in the worker (worker.h), from stdin to stdout. Returns the exit status. */
int worker__plan(void);
int worker__bodies(uint64_t offset);
int worker__loops(void);

#endif
