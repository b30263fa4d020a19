/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaviest paths, in two parts:
 *   metrics_span.c   how heavy the paths to everything are
 *   metrics_path.c   the heaviest of all, and what it goes through
 */
#ifndef GRAIND_METRICS_SPAN_H
#define GRAIND_METRICS_SPAN_H

#include "analysis/graph/graph.h"
#include "analysis/metrics/metrics.h"

/* A join and the paths that lead to it. */
struct meeting {
	uint64_t path, burdened;
	uint32_t pending;
	uint32_t winner;  /* the context from which the heaviest path comes; it has ended, or waits here */
	uint32_t item;	  /* if the winner waits here: its item of that wait */
	uint32_t waiters; /* the list of the contexts that wait at the join */
	bool arrival;	  /* the winner waits at the join and has not ended */
	bool any, released;
};

/* The state of the walk through a context, and what the walk needs to know about the context. */
struct walk {
	uint64_t path, burdened; /* the length of the heaviest path up to here */
	uint64_t start;		 /* the same at the context's begin */
	uint32_t item, past;	 /* the index of the next item, and the end of the items */
	uint32_t link;		 /* the next context that waits at the same join, or that can continue */
	uint32_t join;		 /* the join that waits for it; GRAIN_NONE: none does */
	uint8_t kind;		 /* enum grain_context_kind */
	bool started, done;
};

/* A context or join that waits for the end of a task with dependences. */
struct successor {
	uint32_t index; /* of the context or join */
	bool join;
};

struct span {
	const struct grain_graph *graph;
	struct grain_graph *marked; /* the same graph; NULL: the path is not marked in it */
	struct memory *memory;
	const struct metrics_scale *scale; /* NULL: fragments are not scaled */
	/* Per context; NULL if there are no dependences: */
	uint32_t *pending; /* number of predecessors that must end before it may begin */
	uint32_t *after; /* the predecessor from which the heaviest path comes; none: the path comes from the
			    fork */
	uint32_t *first_successor; /* the first of its successors; they end at the next context's first */
	struct successor *successors;
	struct meeting *meetings;
	struct meeting *ends; /* per region: its end, which all members reach */
	struct walk *walks;
	uint32_t ready; /* stack of the contexts that can continue */
	size_t waiting; /* number of contexts that have not started */
};

/*
 * Finds the context at which the heaviest path ends. If the graph has only some windows of a run
 * (graph__windows_follow()), finds it for each window; GRAIN_NONE: the window is empty. *last is allocated
 * from `memory`; span__release_heaviest() releases it. *burdened is the length of the heaviest burdened path;
 * with windows, the sum over all of them.
 */
int span__heaviest(const struct span *span, uint32_t **last, size_t *count, uint64_t *burdened);
void span__release_heaviest(const struct span *span, uint32_t **last, size_t count);
/* Marks the heaviest path, and stores its length in the totals. Returns 0, -ENOMEM or -E2BIG. */
int span__conclude(struct span *span);

#endif
