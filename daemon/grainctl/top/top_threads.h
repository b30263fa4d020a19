/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process, as far as everyone can read them in /proc. */
#ifndef GRAINCTL_TOP_THREADS_H
#define GRAINCTL_TOP_THREADS_H

#include "daemon/grainctl/top/top.h"

/*
 * Reads at most TOP_THREADS threads of the process, sorted by number. The caller frees *out. 0, or a
 * negative errno with no threads.
 */
int top_threads__read(int64_t pid, struct top_thread **out, size_t *count);
/* Computes the rates between two updates. */
void top_threads__rate(struct top_thread *threads, size_t count, const struct top_thread *before,
		       size_t before_count, double seconds);
/* The CPU time of a process in ns; 0: it cannot be read. */
uint64_t top_threads__process_ns(int64_t pid);

#endif
