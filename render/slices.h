/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread did, as slices that nest: the form of the formats that show
 * a stack of calls over time. Every slice is told once when it begins and once
 * when it ends; begins come in the order of time over all threads, and on each
 * thread begins and ends together are a sound nesting in the order of time.
 *
 * An item is a slice of its own time. Of an untied task that leaves its thread
 * while another runs above it, the slice below ends with the one above.
 */
#ifndef GRAIND_RENDER_SLICES_H
#define GRAIND_RENDER_SLICES_H

#include "analysis/grain.h"
#include "render/radix.h"

enum slice_kind {
	SLICE_STRETCH, /* a context on a thread, from where it begins or resumes to where it ends or leaves */
	SLICE_LOOP,    /* a member in a loop: book-keeping and chunks */
	SLICE_FORK,
	SLICE_REGION,
	SLICE_JOIN,
	SLICE_BOOKKEEPING,
	SLICE_FRAGMENT,
};

struct slice {
	enum slice_kind kind;
	uint64_t start_ns, end_ns;
	uint32_t context;
	uint32_t item;	 /* of a stretch or a loop the first */
	uint32_t past;	 /* the item after the last */
	uint32_t ref;	 /* the first item's */
	uint32_t thread; /* index into slices.tids */
	uint16_t cpu;
	bool critical; /* the first item's */
};

enum slice_detail {
	SLICES_FRAGMENTS, /* fragments, which nothing nests in; no stretches */
	SLICES_STRETCHES, /* stretches, in which everything nests; no fragments */
};

#define SLICES_NEAR 1024

struct slices {
	const struct grain_graph *graph;
	enum slice_detail detail;
	struct radix_pair *entries; /* in the order of begins */
	size_t count;
	uint32_t *tids; /* by thread, in the order in which threads begin */
	size_t thread_count;
	uint32_t near[SLICES_NEAR]; /* where a thread was last found, by its number */
	uint64_t base_ns;
	struct slice_stack *stacks; /* by thread */
};

/* Time and memory linear in items. 0 or -ENOMEM; the graph must outlive it. */
int slices__fill(struct slices *slices, const struct grain_graph *graph, enum slice_detail detail);
void slices__free(struct slices *slices);

struct slice_visitor {
	void *ctx;
	/* Both return 0, or a negative errno that ends the walk. Of an end the slice has the same but end_ns,
	 * which is when it ends here. */
	int (*begin)(void *ctx, const struct slice *slice);
	int (*end)(void *ctx, const struct slice *slice);
	void (*progress)(void *ctx, double done); /* now and then; may be NULL */
	void *progress_ctx;
};
int slices__walk(struct slices *slices, const struct slice_visitor *visitor);
/* During a walk: the context whose stretch is the innermost that is open on the thread; GRAIN_NONE. */
uint32_t slices__context_on(const struct slices *slices, uint32_t thread);

#endif
