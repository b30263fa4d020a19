/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of the rings (ring_abi.h). It is one BPF map for all rings. On a machine with several NUMA
 * nodes, each node has a map in its own memory, with the rings of its CPUs. Private to uprobes/.
 */
#ifndef GRAIND_RING_MEMORY_H
#define GRAIND_RING_MEMORY_H

#include "bpf/abi/ring_abi.h"

#include <stdbool.h>
#include <stddef.h>

struct openmp_bpf;
struct ring_memory;

/*
 * Makes rings for `cpus` possible CPUs with `slots` slots each. For tests, the environment variable
 * GRAIND_RINGS can be "one" (one map on any machine) or "apart" (one map for each CPU, which tests several
 * maps on a machine with one node). Returns 0 or a negative errno.
 */
int ring_memory__new(unsigned cpus, uint32_t slots, struct ring_memory **out);
/* Makes the maps of the nodes. Call it each time before the programs are loaded. */
int ring_memory__prepare(struct ring_memory *memory, struct openmp_bpf *skeleton);
/*
 * Maps the rings into this process. Call it once after the programs are loaded. Returns 0 or a negative
 * errno.
 */
int ring_memory__map(struct ring_memory *memory, struct openmp_bpf *skeleton);
void ring_memory__free(struct ring_memory *memory); /* accepts NULL */

/* Uses one map from now on, because the kernel cannot have several. False: there was only one already. */
bool ring_memory__join(struct ring_memory *memory);

struct ring_ctl *ring_memory__ctl(const struct ring_memory *memory, unsigned cpu);
struct ring_event *ring_memory__ring(const struct ring_memory *memory, unsigned cpu);
size_t ring_memory__bytes(const struct ring_memory *memory);

/* Counts events that were read from the CPU's ring. Does nothing if there is one map. */
void ring_memory__count(struct ring_memory *memory, unsigned cpu, uint64_t events);
/* The node with more than two thirds of the events counted since the last call; -1: none. */
int ring_memory__busiest_node(struct ring_memory *memory);

#endif
