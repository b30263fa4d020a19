/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of a whole run in a trace that has only a part of its events: from their lines to what a
 * summary says. Internal to analysis.
 */
#ifndef GRAIND_FOLDED_H
#define GRAIND_FOLDED_H

#include "analysis/fold.h"

struct folded_row {
	struct fold_row sums;
	uint32_t site;	 /* as in records */
	uint32_t source; /* index into the stream's sources, GRAIN_NONE */
};

struct folded {
	struct fold_totals totals;
	uint64_t damaged;	      /* chunks that were no events */
	uint64_t graph_lost;	      /* events of threads that are missing in the part that is a graph */
	uint64_t graph_lost_switches; /* of these */
	char *why;		      /* the statistics end early for that reason; NULL */
	uint64_t regions_seen, unkept_large, unkept_overlapping, unkept_lost, unkept_room,
		unkept_edge; /* after the part */
	char *unkept_why;    /* no regions of it are kept for that reason; NULL */
	struct folded_row *rows;
	size_t count;
};

bool folded__is_line(const char *line, size_t bytes);
/* @folded or @folded-row; -EBADMSG and in `why` what is wrong. */
int folded__line(struct event_stream *stream, const char *line, size_t bytes, struct budget *budget,
		 char why[128]);
/* Call sites of rows get their numbers, as if events named them. */
struct trace_events;
int folded__find_sites(struct event_stream *stream, struct trace_events *events);
/* ... and their sources. */
int folded__find_sources(struct event_stream *stream, struct site_table *sites);
void folded__free(struct folded *folded); /* accepts NULL */

#endif
