/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans probes in the functions that the compiler has made from the bodies of a program's OpenMP
 * constructs. This is needed for a libgomp in which the calls of bodies were not found
 * (probe_plan__needs_bodies()). The functions are found by their names (f._omp_fn.0). In a stripped file
 * they are found by the addresses that it passes to GOMP_parallel, GOMP_task and so on, or one by one when
 * a body is passed to the runtime.
 */
#ifndef GRAIND_BODIES_H
#define GRAIND_BODIES_H

#include "uprobes/plan/plan.h"

/*
 * Plans probes at the entries and returns of the bodies in an open ELF file that messages call `name`. If
 * `offset` is not 0: only of the body that begins there in the file. *out is a plan of RUNTIME_PROGRAM.
 * Returns 0, or a negative errno with *err set: -ENOENT: there is no body; -ENOEXEC: it is not an ELF file
 * of this machine; -ENOTSUP: it cannot be read.
 */
int bodies__plan_fd(int fd, const char *name, uint64_t offset, struct probe_plan **out,
		    struct uprobes_error *err);

#endif
