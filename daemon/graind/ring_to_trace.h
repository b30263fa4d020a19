/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the rings to the trace: the one place that knows both formats. Numbers
 * of kinds, waits and flags are mapped one by one, so that each format can grow
 * by itself. Also counts what passes.
 */
#ifndef GRAIND_RING_TO_TRACE_H
#define GRAIND_RING_TO_TRACE_H

#include "daemon/common/trace_writer.h"
#include "daemon/graind/neighbours.h"
#include "daemon/graind/sites.h"

#include <sys/types.h>

struct accesses;
struct live;
struct ring_event;

/* What a process that writes by itself says of that. */
struct inside_counts {
	uint64_t grains, lost;
	uint32_t threads; /* at a time */
};

struct ring_counts {
	uint64_t events;	/* handed to the trace */
	uint64_t grains;	/* task creations, chunks and sections among them */
	uint64_t samples;	/* among the events */
	uint64_t lost_reported; /* events that RING_LOST events say are missing */
	uint64_t foreign;	/* of other processes, left out */
	uint64_t unknown;	/* of a kind that this program does not know, left out */
	uint32_t largest_team;
	uint64_t first_ns, last_ns;
	struct inside_counts inside; /* not among those above */
};

struct ring_to_trace {
	struct trace_writer *writer; /* of events */
	struct trace_writer *lines;
	struct site_set *sites, *idents;
	struct site_set *addresses; /* in samples; NULL: there are none */
	struct accesses *accesses;  /* NULL: none are sampled */
	struct neighbours *neighbours;
	struct live *live;
	pid_t tgid;
	bool by_itself;	    /* its own events come another way: what rings lose are others */
	uint64_t loop_site; /* of the loop whose parameters come next */
	uint32_t loop_tid;
	struct ring_counts counts;
};

/* Never fails because of what is in the events; the writer's error otherwise. */
int ring_to_trace__convert(struct ring_to_trace *to, unsigned int cpu, const struct ring_event *events,
			   size_t count);

/* Writes the accesses whose pages were not in memory yet, once it is time for them, or now. */
int ring_to_trace__settle(struct ring_to_trace *to, bool now);

/* How many of the events at the start belong to one thread group, and to which. */
size_t ring_to_trace__same_process(const struct ring_event *events, size_t count, pid_t *tgid);

#endif
