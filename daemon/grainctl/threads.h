/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process as /proc tells everyone. */
#ifndef GRAINCTL_THREADS_H
#define GRAINCTL_THREADS_H

#include "daemon/grainctl/top.h"

/* Its threads, by number, at most TOP_THREADS, for free(). 0, or a negative errno and nothing. */
int threads__read(int64_t pid, struct top_thread **out, size_t *count);
/* Those rates that the time between two looks tells. */
void threads__rate(struct top_thread *threads, size_t count, const struct top_thread *before,
		   size_t before_count, double seconds);
/* CPU time of a process, 0 when it is not seen. */
uint64_t threads__process_ns(int64_t pid);

#endif
