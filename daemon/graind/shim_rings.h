/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings that one process shares (bpf/shim_abi.h), from where its
 * words go to its trace unread. Nothing that the process writes is believed:
 * positions are kept here, and what does not fit costs the process its events.
 */
#ifndef GRAIND_SHIM_RINGS_H
#define GRAIND_SHIM_RINGS_H

#include "daemon/graind/recorder.h"

struct shim_rings;

#define SHIM_RING_WORDS (1u << 19)

/*
 * Makes the memory and hands it over through `connection`, which is closed in the end; 0 or a negative errno.
 * `lossless`: a thread whose ring is full waits until it is drained. `pauses`: nothing is written before
 * shim_rings__resume().
 */
struct shim_rings_opts {
	bool lossless, pauses;
	const struct counter_set *counters; /* that the process reads at each event; NULL: none. Copied */
};
int shim_rings__new(pid_t pid, int connection, const struct shim_rings_opts *opts, struct shim_rings **out);
/*
 * Between windows the process writes nothing, but for calls that had begun; what is there still can be
 * drained. One that has ended its recording by itself does not begin it again.
 */
void shim_rings__pause(struct shim_rings *rings);
void shim_rings__resume(struct shim_rings *rings);
/* Words since the last call, of the ring that had most and of all. */
void shim_rings__pace(struct shim_rings *rings, uint64_t *most, uint64_t *all);
/* Nothing more is written; what is there still can be drained. */
void shim_rings__disable(struct shim_rings *rings);
/* Accepts NULL. */
void shim_rings__free(struct shim_rings *rings);

/*
 * What has come since the last call: how many words the fullest ring held, of SHIM_RING_WORDS. 0 after
 * shim_rings__disable(), so that nobody waits for a process that goes on writing.
 */
long shim_rings__drain(struct shim_rings *rings, struct recorder *recorder);

/* What the process says of itself, for those who look at it while it runs. */
void shim_rings__counts(const struct shim_rings *rings, struct inside_counts *out);

/* What writing an event takes the process, as it says; 0: it says nothing that could be true. */
double shim_rings__ns_per_event(const struct shim_rings *rings);

struct shim_losses {
	uint64_t full;	   /* events for which a ring had no room, as the process says */
	uint64_t broken;   /* words that were overwritten or made up */
	uint64_t unseated; /* threads for which there was no ring */
	uint64_t sites;	   /* code addresses for which there was no number */
	bool stopped;	   /* the process has ended its recording before it was told to */
};
void shim_rings__losses(const struct shim_rings *rings, struct shim_losses *out);

#endif
