/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans probes at the static loops that GCC wrote into a program: schedule(static) and schedule(static, k)
 * make no call that shows the iterations. The functions that ask for the number of threads and the thread's
 * number are followed (loop_flow.h) to where the share is computed (loop_match.h). No symbols are needed.
 */
#ifndef GRAIND_STATIC_LOOPS_H
#define GRAIND_STATIC_LOOPS_H

#include "uprobes/plan/plan.h"

/*
 * Plans probes at the loops in an open ELF file that messages call `name`. *out is a plan of RUNTIME_LOOPS;
 * its "missing" names are functions with a loop that was not understood. Returns 0, or a negative errno
 * with *err set. -ENOENT: there are no loops; -ENOEXEC: it is not an ELF file of this machine; -ENOTSUP: it
 * cannot be read.
 */
int static_loops__plan_fd(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err);
/* The same for a file of any processor that the planner knows. Such a plan is to be read, not attached. */
int static_loops__plan_foreign(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err);

/*
 * How many loops a plan has, and how many more were seen but not understood. The latter are counted up to
 * 64.
 */
void static_loops__count(const struct probe_plan *plan, size_t *understood, size_t *missing);

#endif
