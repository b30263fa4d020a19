/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be said of a process while it is recorded, from its events one by one: how many of its threads
 * execute its code, and what part of their time they were preempted. In memory that follows the number of
 * threads at a time, up to LIVE_THREADS; with more nothing is known. Belongs to one thread at a time.
 */
#ifndef GRAIND_LIVE_H
#define GRAIND_LIVE_H

#include <stdint.h>

struct ring_event;
struct live;

#define LIVE_THREADS 4096

int live__new(struct live **out);
void live__free(struct live *live); /* accepts NULL */

/* The next event of a thread. Times of a thread ascend, nearly. */
void live__saw(struct live *live, const struct ring_event *event);

/* A window ends, and another one begins: in between nothing is recorded. */
void live__pause(struct live *live, uint64_t end_ns);
void live__resume(struct live *live, uint64_t begin_ns);

/* So far, of the time in which it was recorded; NAN: unknown. */
struct live_measures {
	double busy_threads;	/* executing fragments and chunks, on average: work / time */
	double preempted_share; /* of the time of its threads */
};
void live__read(const struct live *live, uint64_t now_ns, struct live_measures *out);

#endif
