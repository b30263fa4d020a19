/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of graind's threads go first while all CPUs are busy with what is observed. */
#ifndef GRAIND_URGENCY_H
#define GRAIND_URGENCY_H

#include <pthread.h>

/* In this order. Where not even the second is permitted all are ordinary; what is lost is counted. */
enum urgency {
	URGENCY_NONE,
	URGENCY_SCOUT, /* what a process shows only while it lives */
	URGENCY_DRAIN, /* rings that fill */
};

/* Of the calling thread, which begins with none; the threads and processes that it starts are ordinary ones.
 */
void urgency__set(enum urgency urgency);
/*
 * At least that; returns what it was, to be set again. For what holds one of malloc's locks for long, on
 * which urgent threads may wait: few threads share many.
 */
enum urgency urgency__raise(enum urgency urgency);

/* A lock that such a thread takes, too: who holds it is as urgent meanwhile as who waits for it. */
void urgency__make_lock(pthread_mutex_t *lock);

#endif
