/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans where to probe the file of an OpenMP runtime: a library, or an executable that contains one. The
 * points are found from symbols and by disassembling the few functions involved, never from a table of
 * versions.
 */
#ifndef GRAIND_MAKE_PLAN_H
#define GRAIND_MAKE_PLAN_H

#include "uprobes/plan/plan.h"

/*
 * Plans the probes for the ELF file `path`. Returns 0 and the plan, or a negative errno. -ENOEXEC: it is
 * not an ELF file of this machine; -ENOENT: it has no OpenMP runtime; -ENOTSUP: its runtime lacks
 * instructions that are needed (*err names them). Nothing is guessed.
 */
int probe_plan__create(const char *path, struct probe_plan **out, struct uprobes_error *err);
/* The same for an open file that messages call `name`. The caller keeps the descriptor. */
int probe_plan__create_fd(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err);
/* The same for a file of any processor that the planner knows. Such a plan is to be read, not attached. */
int probe_plan__create_foreign(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err);

#endif
