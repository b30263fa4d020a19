/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of the calling thread, as graind asks for them in the header: those
 * that the kernel keeps for every thread, and perf events of this thread alone.
 * Without them nothing here is called. With them a thread makes a system call
 * or two per event, but for perf events that the processor lets it read itself.
 */
#ifndef GRAIND_SHIM_COUNTERS_H
#define GRAIND_SHIM_COUNTERS_H

#include "bpf/shim_abi.h"

#include <stdbool.h>

struct shim_readings {
	uint64_t value[SHIM_COUNTERS_MAX]; /* since the thread's first reading or earlier */
	uint32_t blind;			   /* a bit for each that is not known, or of which a part is not */
};

/* errno is kept. The first call of a thread opens its events; the first of all says which cannot be had. */
void counters__read(struct shim_header *header, struct shim_readings *out);

/* What the library's own memory takes in page faults between these calls is not the program's. */
uint64_t counters__faults(void);
void counters__own_faults(uint64_t since);

/* The thread ends, or is the one of a fork's child, to which its parent's events are of no use. */
void counters__leave(bool is_child);

#endif
