/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the rings of ring_abi.h lie: all in one map or, on a machine with several NUMA nodes, a map for each
 * node, in its memory, with the rings of its CPUs. Private to uprobes/.
 */
#ifndef GRAIND_RING_MEMORY_H
#define GRAIND_RING_MEMORY_H

#include "bpf/ring_abi.h"

#include <stdbool.h>
#include <stddef.h>

struct openmp_bpf;
struct ring_memory;

/*
 * For so many CPUs (those that are possible) with so many slots each. GRAIND_RINGS in the environment: "one"
 * map whatever the nodes, or "apart", one for each CPU (to try what several nodes need where there is one).
 */
int ring_memory__new(unsigned cpus, uint32_t slots, struct ring_memory **out);
/* Before the programs are loaded, each time; makes the maps of nodes. */
int ring_memory__prepare(struct ring_memory *memory, struct openmp_bpf *skeleton);
/* After it: maps them here. Once; negative errno. */
int ring_memory__map(struct ring_memory *memory, struct openmp_bpf *skeleton);
void ring_memory__free(struct ring_memory *memory); /* accepts NULL */

/* From now on one map: the kernel cannot do it otherwise. False: it was one already. */
bool ring_memory__join(struct ring_memory *memory);

struct ring_ctl *ring_memory__ctl(const struct ring_memory *memory, unsigned cpu);
struct ring_event *ring_memory__ring(const struct ring_memory *memory, unsigned cpu);
size_t ring_memory__bytes(const struct ring_memory *memory);

/* The NUMA node that the CPU's ring lies on, -1: wherever, or there is no such CPU. */
int ring_memory__node(const struct ring_memory *memory, unsigned cpu);

/* So many events of the CPU were read; where there is one map nobody wants to know. */
void ring_memory__count(struct ring_memory *memory, unsigned cpu, uint64_t events);
/* The node of more than two thirds of the events counted since the last call, -1: of none. */
int ring_memory__busiest_node(struct ring_memory *memory);

#endif
