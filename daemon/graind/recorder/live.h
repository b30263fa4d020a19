/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures of a process while it is recorded, computed from one event after another: how many of its
 * threads execute its code, and for what part of their time they were preempted. Memory grows with the
 * number of threads that exist at a time, up to LIVE_THREADS. With more threads the measures are unknown.
 * Belongs to one thread at a time.
 */
#ifndef GRAIND_LIVE_H
#define GRAIND_LIVE_H

#include <stdint.h>

struct ring_event;
struct live;

#define LIVE_THREADS 4096

int live__new(struct live **out);
void live__free(struct live *live); /* accepts NULL */

/* Takes the next event of a thread. The times of one thread ascend, with small exceptions. */
void live__saw(struct live *live, const struct ring_event *event);

/* A window ends and another one begins. Nothing is recorded between them. */
void live__pause(struct live *live, uint64_t end_ns);
void live__resume(struct live *live, uint64_t begin_ns);

/* Averages over the time recorded so far; NAN: unknown. */
struct live_measures {
	double busy_threads;	/* threads that execute fragments and chunks, on average: work / time */
	double preempted_share; /* preempted part of its threads' time, 0 to 1 */
};
void live__read(const struct live *live, uint64_t now_ns, struct live_measures *out);

#endif
