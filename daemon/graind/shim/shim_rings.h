/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings in memory that one process shares with graind (bpf/abi/shim_abi.h). Words go from the rings to
 * the trace without interpretation. Nothing that the process writes is trusted: graind keeps the positions
 * itself, and if words do not fit, the process loses its events.
 */
#ifndef GRAIND_SHIM_RINGS_H
#define GRAIND_SHIM_RINGS_H

#include "daemon/graind/recorder/recorder.h"

struct shim_rings;

#define SHIM_RING_WORDS (1u << 19)

/*
 * shim_rings__new() makes the memory and sends it over `connection`, which it closes at the end.
 * `lossless`: a thread whose ring is full waits until the ring is drained. `pauses`: the process writes
 * nothing until shim_rings__resume(). 0 or a negative errno.
 */
struct shim_rings_opts {
	bool lossless, pauses;
	const struct counter_set *counters; /* the process reads these at each event; copied; NULL: none */
};
int shim_rings__new(pid_t pid, int connection, const struct shim_rings_opts *opts, struct shim_rings **out);
/*
 * Between windows the process writes nothing, except for calls that had already begun. Words in the rings
 * can still be drained. If a process has ended its recording itself, it is not started again.
 */
void shim_rings__pause(struct shim_rings *rings);
void shim_rings__resume(struct shim_rings *rings);
/* Returns the numbers of words since the last call: of the ring with the most words, and of all rings. */
void shim_rings__pace(struct shim_rings *rings, uint64_t *most, uint64_t *all);
/* Tells the process to stop writing. Words in the rings can still be drained. */
void shim_rings__disable(struct shim_rings *rings);
/* Accepts NULL. */
void shim_rings__free(struct shim_rings *rings);

/*
 * Drains what has arrived since the last call. Returns how many of its SHIM_RING_WORDS words the fullest
 * ring held. Returns 0 after shim_rings__disable(), so that nobody waits for a process that goes on
 * writing. If the recorder has no room, words stay in the rings, and the process counts losses or waits.
 * With `all`, they are recorded even then.
 */
long shim_rings__drain(struct shim_rings *rings, struct recorder *recorder, bool all);

/*
 * Returns the counts that the process reports, limited to possible values. They are for display while the
 * process runs.
 */
void shim_rings__counts(struct shim_rings *rings, struct inside_counts *out);

/*
 * Returns the cost of writing an event in ns, as the process measured it. 0: the process reports no
 * possible value.
 */
double shim_rings__ns_per_event(const struct shim_rings *rings);

struct shim_losses {
	uint64_t full;	   /* events for which a ring had no room, as reported by the process */
	uint64_t broken;   /* words that were overwritten or are invalid */
	uint64_t unseated; /* threads for which there was no ring */
	uint64_t sites;	   /* code addresses for which there was no number */
	bool stopped;	   /* the process ended its recording before graind told it to */
	bool impossible;   /* the process reported an impossible number, which counts as 0 */
};
void shim_rings__losses(struct shim_rings *rings, struct shim_losses *out);

#endif
