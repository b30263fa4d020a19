/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a program that the compiler has made of the bodies of its
 * OpenMP constructs, as places to probe: for a libgomp that does not show where
 * it calls them (probe_plan__needs_bodies). Found by their names (f._omp_fn.0);
 * in a stripped file by the addresses that it hands to GOMP_parallel, GOMP_task
 * and their like; or one by one, when the runtime is handed one.
 */
#ifndef GRAIND_BODIES_H
#define GRAIND_BODIES_H

#include "uprobes/plan.h"

/*
 * Plans probes at the entries and returns of the bodies in an open ELF file that
 * people know as `name`; `offset` not 0: of the one that begins there in the
 * file. A plan of RUNTIME_PROGRAM, or a negative errno: -ENOENT none was found,
 * -ENOEXEC not an ELF file of this machine, -ENOTSUP one that cannot be read.
 */
int bodies__plan_fd(int fd, const char *name, uint64_t offset, struct probe_plan **out,
		    struct uprobes_error *err);

#endif
