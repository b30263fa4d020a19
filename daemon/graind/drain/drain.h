/* SPDX-License-Identifier: BSD-2-Clause */
/* How often a job's rings are emptied, and what is checked at these times. */
#ifndef GRAIND_DRAIN_H
#define GRAIND_DRAIN_H

#include "daemon/graind/jobs/job.h"
#include "daemon/graind/recorder/recorder.h"
#include "uprobes/capture/capture.h"

#include <time.h>

struct drain_pace {
	struct job *job;
	uint64_t start_ns, flushed_ns, shown_ns;
	uint64_t shown_events;
	uint64_t nap_ns;
	uint64_t exe_inode; /* of the program that is recorded, 0 = unknown */
	bool replaced;	    /* the process has executed another program */
	bool changed_user;  /* the process has become another user's */
	bool told_crowded;
};

void drain_pace__start(struct drain_pace *pace, struct job *job, uint64_t start_ns);

/*
 * Call this after each poll, which gave `got` events. Shows the job's counts now and then, flushes the
 * trace every second, and sets *nap to the time to sleep.
 */
void drain_pace__tick(struct drain_pace *pace, struct recorder *recorder, const struct capture *capture,
		      const struct capture_losses *before, long got, struct timespec *nap);

/* Brings the job's counts up to date. */
void drain_pace__show(struct drain_pace *pace, const struct recorder *recorder, const struct capture *capture,
		      const struct capture_losses *before);

/* Number of causes of losses in the kernel. */
#define DRAIN_CAUSES (LOST_UNKNOWN_BODIES + 1)

/*
 * Counts the events of the process that the capture lost since `before` and that no RING_LOST event in the
 * trace accounts for. Overwritten events are counted for every process, as nobody knows whose they were.
 * Fills `losses` in the order of enum job_loss. Returns the number of entries, or 0 if `capture` is NULL.
 */
size_t drain__losses(const struct capture *capture, pid_t pid, const struct capture_losses *before,
		     const struct ring_counts *counts, struct recorder_loss losses[DRAIN_CAUSES]);
/* Does the same for lost samples. Call it before the trace ends. */
void drain__tell_lost_samples(const struct capture *capture, pid_t pid, const struct capture_losses *before,
			      struct recorder *recorder);

#endif
