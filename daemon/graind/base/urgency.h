/* SPDX-License-Identifier: BSD-2-Clause */
/* The priority of graind's threads while all CPUs are busy with observed programs. */
#ifndef GRAIND_URGENCY_H
#define GRAIND_URGENCY_H

#include <pthread.h>
#include <stdint.h>

/*
 * In ascending order. If the kernel permits no real-time priority, all threads stay ordinary. Events that
 * are lost because of this are counted.
 */
enum urgency {
	URGENCY_NONE,
	URGENCY_LOOK,  /* for reading a process that may end at any time */
	URGENCY_DRAIN, /* for emptying rings before they are full */
};

/*
 * Sets the calling thread's urgency. A thread begins with URGENCY_NONE. Threads and processes that it
 * starts are ordinary.
 */
void urgency__set(enum urgency urgency);

/*
 * Real-time priority is for work that is bounded elsewhere: emptying rings, and sleeping until they contain
 * something. A thread takes the priority for this work and gives it back for all other work. A budget of
 * half a CPU limits it, so that no program can make graind run before all others for ever.
 */
struct urgency_budget {
	uint64_t debt_ns, at_ns; /* used CPU time, minus the time that was granted since; starts with zeros */
};
/* Gives the calling thread this urgency, unless its debt is too large. Repeated calls change nothing. */
void urgency__rush(struct urgency_budget *budget, enum urgency urgency);
/* Makes the calling thread ordinary again. */
void urgency__rest(struct urgency_budget *budget);
/*
 * Call this between the parts of long work: a thread that has been urgent for a long time becomes ordinary.
 */
void urgency__pause(void);
/*
 * Raises the priority of the calling thread while it is ordinary, if that is permitted. Then it goes before
 * programs that compute all the time.
 */
void urgency__prefer(void);

/*
 * Gives the calling thread at least this urgency. Returns the former urgency, which the caller sets again.
 * For a thread that holds a lock of malloc for a long time: threads share arenas, and urgent threads may
 * wait for that lock.
 */
enum urgency urgency__raise(enum urgency urgency);

/* Returns the CPU time that the calling thread has used, in ns. */
uint64_t urgency__cpu_ns(void);

/*
 * Initialises a lock with priority inheritance: the thread that holds it is as urgent as the most urgent
 * thread that waits for it.
 */
void urgency__make_lock(pthread_mutex_t *lock);

#endif
