/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts events of the rings to events of the trace. No other code knows both formats. Kinds, waits and
 * flags are mapped one by one, so that each format can grow independently. Also counts the events.
 */
#ifndef GRAIND_RING_TO_TRACE_H
#define GRAIND_RING_TO_TRACE_H

#include "daemon/common/trace/trace_writer.h"
#include "daemon/graind/recorder/neighbours.h"
#include "daemon/graind/symbols/sites.h"

#include <sys/types.h>

struct accesses;
struct live;
struct ring_event;

/* The counts that libgrainshim reports from inside the process. */
struct inside_counts {
	uint64_t grains, lost;
	uint32_t threads; /* the largest number at a time */
};

struct ring_counts {
	uint64_t events;	/* handed to the trace */
	uint64_t grains;	/* number of task creations, chunks and sections among the events */
	uint64_t samples;	/* number of samples among the events */
	uint64_t lost_reported; /* lost events, as reported by RING_LOST events */
	uint64_t foreign;	/* events of other processes, left out */
	uint64_t unknown;	/* events of unknown kinds, left out */
	uint32_t largest_team;
	uint64_t first_ns, last_ns;
	struct inside_counts inside; /* these are not included above */
};

struct ring_to_trace {
	struct trace_writer *writer; /* for events */
	struct trace_writer *lines;
	struct site_set *sites, *idents;
	struct site_set *addresses; /* code addresses in samples; NULL: there are no samples */
	bool kernel_names;	    /* functions of the kernel have names */
	struct accesses *accesses;  /* NULL: data addresses are not sampled */
	struct neighbours *neighbours;
	struct live *live;
	pid_t tgid;
	bool by_itself; /* libgrainshim records the process: losses of the rings without RING_F_IN_PROGRAM are
			   of scheduling and samples */
	uint64_t loop_site; /* site of the loop whose parameters come next */
	uint32_t loop_tid;
	struct ring_counts counts;
};

/* Converts `count` events. No content of an event makes it fail. Returns 0 or the writer's error. */
int ring_to_trace__convert(struct ring_to_trace *to, unsigned int cpu, const struct ring_event *events,
			   size_t count);

/*
 * Writes kept accesses whose pages were not in memory: those whose time has come, or all with `now`. 0 or
 * the writer's error.
 */
int ring_to_trace__settle(struct ring_to_trace *to, bool now);

/*
 * Returns how many events, from the first one on, belong to the same thread group, and its number in *tgid.
 */
size_t ring_to_trace__same_process(const struct ring_event *events, size_t count, pid_t *tgid);

#endif
