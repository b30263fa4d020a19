/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uprobe programs of a capture. The kernel checks each for tens of milliseconds: those that are surely
 * needed are loaded with the capture's skeleton, each other one when the first of its points is attached,
 * into the same maps; private to uprobes/.
 */
#ifndef GRAIND_PROBE_PROGRAMS_H
#define GRAIND_PROBE_PROGRAMS_H

#include "uprobes/plan.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

struct openmp_bpf;
struct probe_programs;

/* Of a skeleton that is yet to be loaded. `ready`: 1 << enum probe_runtime; `multi`: for uprobe_multi links.
 */
void probe_programs__choose(const struct openmp_bpf *skeleton, unsigned int ready, bool multi);

/* `shared` is loaded, with what was chosen, and outlives them. */
int probe_programs__new(struct openmp_bpf *shared, unsigned int ready, bool multi,
			struct probe_programs **out);
/* The one that reads points of `runtime`; negative errno if the kernel refuses it. */
int probe_programs__get(struct probe_programs *programs, enum probe_runtime runtime,
			struct bpf_program **out);
/* After all links; accepts NULL. */
void probe_programs__free(struct probe_programs *programs);

#endif
