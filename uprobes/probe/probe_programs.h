/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uprobe programs of a capture. The kernel takes tens of milliseconds to verify each of them. Programs
 * that are certainly needed are loaded with the capture's skeleton. Any other is loaded, with the same
 * maps, when the first of its points is attached. Private to uprobes/.
 */
#ifndef GRAIND_PROBE_PROGRAMS_H
#define GRAIND_PROBE_PROGRAMS_H

#include "uprobes/plan/probe_point.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

struct openmp_bpf;
struct probe_programs;

/*
 * Chooses the programs of a skeleton that is not loaded yet. `ready`: bits 1 << enum probe_runtime;
 * `multi`: the programs are for uprobe_multi links.
 */
void probe_programs__choose(const struct openmp_bpf *skeleton, unsigned int ready, bool multi);

/*
 * `shared` is loaded, with the chosen programs, and must live longer than the result. Returns 0 or a
 * negative errno.
 */
int probe_programs__new(struct openmp_bpf *shared, unsigned int ready, bool multi,
			struct probe_programs **out);
/*
 * Returns the program that handles points of `runtime` and loads it if needed. Returns 0, or a negative
 * errno if the kernel refuses it.
 */
int probe_programs__get(struct probe_programs *programs, enum probe_runtime runtime,
			struct bpf_program **out);
/* Call it after all links are closed; accepts NULL. */
void probe_programs__free(struct probe_programs *programs);

#endif
