/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardware and kernel counters of the calling thread, as graind requests them in the header: counts that
 * the kernel keeps for every thread, and perf events of this thread. Without a request this is not called.
 * With a request, a thread makes one or two system calls per event, except for perf events that the
 * processor lets it read directly.
 */
#ifndef GRAIND_SHIM_COUNTERS_H
#define GRAIND_SHIM_COUNTERS_H

#include "bpf/abi/shim_abi.h"

#include <stdbool.h>

struct shim_readings {
	uint64_t value[SHIM_COUNTERS_MAX]; /* counts since the thread's first reading or earlier */
	uint32_t blind;			   /* a bit for each counter whose value is unknown or incomplete */
};

/*
 * Keeps errno. A thread's first call opens its events; the first call of the process reports which are not
 * available.
 */
void counters__read(struct shim_header *header, struct shim_readings *out);

/*
 * Call counters__faults() before the library touches its own memory, and pass the result to
 * counters__own_faults() afterwards. Page faults between the two calls do not count as the program's.
 */
uint64_t counters__faults(void);
void counters__own_faults(uint64_t since);

/* Call it when the thread ends, or in the child of a fork, which cannot use its parent's events. */
void counters__leave(bool is_child);

#endif
