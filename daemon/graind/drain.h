/* SPDX-License-Identifier: BSD-2-Clause */
/* How often the rings are emptied, and what is looked at besides. */
#ifndef GRAIND_DRAIN_H
#define GRAIND_DRAIN_H

#include "daemon/graind/job.h"
#include "uprobes/capture.h"

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

/* Those of the kernel. */
#define DRAIN_CAUSES (LOST_UNKNOWN_BODIES + 1)

/*
 * Events of the process that the capture lost since `before` and that no event in the trace tells of. What
 * was overwritten is told to all. NULL: none are known. In the order of enum job_loss.
 */
size_t drain__losses(const struct capture *capture, pid_t pid, const struct capture_losses *before,
		     const struct ring_counts *counts, struct recorder_loss losses[DRAIN_CAUSES]);
/* The same of samples; before the end of the record. */
void drain__tell_lost_samples(const struct capture *capture, pid_t pid, const struct capture_losses *before,
			      struct recorder *recorder);

#endif
