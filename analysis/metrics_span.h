/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaviest paths, in two parts:
 *   metrics_span.c   how heavy the paths to everything are
 *   metrics_path.c   the heaviest of all, and what it goes through
 */
#ifndef GRAIND_METRICS_SPAN_H
#define GRAIND_METRICS_SPAN_H

#include "analysis/graph.h"
#include "analysis/metrics.h"

/* What a join knows of the paths that lead into it. */
struct meeting {
	uint64_t path, burdened;
	uint32_t pending;
	uint32_t winner;  /* context whose end or arrival is the heaviest */
	uint32_t item;	  /* of an arrival: at which the winner stands */
	uint32_t waiters; /* list of contexts that stand at it */
	bool arrival;	  /* the winner stands at the join, it has not ended */
	bool any, released;
};

/* A context on its way, with what is needed of the context itself. */
struct walk {
	uint64_t path, burdened; /* up to here */
	uint64_t start;		 /* the path where it began */
	uint32_t item, past;	 /* the next one; the end of its items */
	uint32_t link;		 /* list of contexts that stand at one meeting, or can go on */
	uint32_t join;		 /* that it ends in; GRAIN_NONE */
	uint8_t kind;		 /* enum grain_context_kind */
	bool started, done;
};

/* What waits for the end of a task with dependences. */
struct successor {
	uint32_t index; /* context, or join */
	bool join;
};

struct span {
	const struct grain_graph *graph;
	struct grain_graph *marked; /* the same, where the path is marked; NULL: nowhere */
	struct memory *memory;
	const struct metrics_scale *scale; /* NULL: every fragment counts as it is */
	/* NULL without dependences; else per context: */
	uint32_t *pending;	   /* what its begin still waits for */
	uint32_t *after;	   /* the predecessor whose path is heavier than the fork's */
	uint32_t *first_successor; /* up to that of the next context */
	struct successor *successors;
	struct meeting *meetings;
	struct meeting *ends; /* of regions: all members done */
	struct walk *walks;
	uint32_t ready; /* contexts that can go on, a stack */
	size_t waiting; /* contexts that have not started */
};

/*
 * Of each window the context at whose end the heaviest path of that window ends, GRAIN_NONE where nothing is;
 * the caller's, of memory; *burdened: the heaviest burdened paths of all of them, added up. Windows that
 * follow each other are one program; of others, and without any, there is one entry, for everything.
 */
int span__heaviest(const struct span *span, uint32_t **last, size_t *count, uint64_t *burdened);
void span__release_heaviest(const struct span *span, uint32_t **last, size_t count);
/* Marks the path, and says in the totals how heavy it is. -ENOMEM, -E2BIG. */
int span__conclude(struct span *span);

#endif
