/* SPDX-License-Identifier: BSD-2-Clause */
/* How often the rings are emptied, and what is looked at besides. */
#ifndef GRAIND_DRAIN_H
#define GRAIND_DRAIN_H

#include "daemon/graind/job.h"
#include "uprobes/capture.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

struct drain_pace {
	struct job *job;
	uint64_t start_ns, flushed_ns, shown_ns;
	uint64_t shown_events;
	uint64_t nap_ns;
	uint64_t exe_inode; /* of the program that is recorded, 0 = unknown */
	bool replaced;	    /* it has executed another program */
	bool changed_user;  /* it is another user's */
};

void drain_pace__start(struct drain_pace *pace, struct job *job, uint64_t start_ns);

/*
 * After each poll, which gave `got` events: shows the counts once in a while,
 * flushes every second, and says how long to sleep.
 */
void drain_pace__tick(struct drain_pace *pace, struct recorder *recorder, const struct capture *capture,
		      const struct capture_losses *before, long got, struct timespec *nap);

/* Brings the job's counts up to date. */
void drain_pace__show(struct drain_pace *pace, const struct recorder *recorder, const struct capture *capture,
		      const struct capture_losses *before);

/*
 * For the calling thread: while all CPUs are busy with what is observed, the
 * rings must still be emptied in time. Where that is not permitted, what is
 * lost is counted.
 */
void drain__set_urgent(bool urgent);

/* A lock that such a thread takes, too: who holds it is as urgent meanwhile as who waits for it. */
void drain__make_lock(pthread_mutex_t *lock);

/*
 * Keeps the calling thread, as far as it may choose, on the NUMA node that most of the events come from,
 * whose memory they are in. Begin with {.node = -1}, then after each poll; looks once a second.
 */
struct drain_home {
	uint64_t looked_ns;
	int node;      /* -1: where it likes */
	cpu_set_t own; /* CPUs that it had before */
	bool known;
};
void drain_home__look(struct drain_home *home, struct capture *capture);

#define DRAIN_CAUSES 4

/*
 * Events that the capture lost since `before` and that no event in the trace
 * tells of. Of a capture of several processes nobody knows whose they are: each
 * is told of all. In sessions capture is NULL and there are none.
 */
size_t drain__losses(const struct capture *capture, const struct capture_losses *before,
		     const struct ring_counts *counts, struct recorder_loss losses[DRAIN_CAUSES]);

#endif
