/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread did, as nested slices. Formats that show a stack of calls over time need this form.
 *
 * Each slice is reported twice, at its begin and at its end. Begins come in the order of time over all
 * threads. On each thread, begins and ends together are properly nested and in the order of time. An item is
 * a slice of its own time. If an untied task leaves its thread while another task runs above it, the slice
 * below ends together with the one above.
 */
#ifndef GRAIND_RENDER_SLICES_H
#define GRAIND_RENDER_SLICES_H

#include "analysis/include/grain.h"
#include "render/base/radix.h"

enum slice_kind {
	SLICE_STRETCH, /* a context on a thread, from its begin or resumption to its end or suspension */
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
	uint32_t item;	 /* of a stretch or loop: its first item */
	uint32_t past;	 /* the item after its last */
	uint32_t ref;	 /* ref of the first item */
	uint32_t thread; /* index into slices.tids */
	uint16_t cpu;
	bool critical; /* critical of the first item */
};

enum slice_detail {
	SLICES_FRAGMENTS, /* fragments, in which nothing is nested; no stretches */
	SLICES_STRETCHES, /* stretches, in which everything is nested; no fragments */
};

#define SLICES_NEAR 1024

struct slices {
	const struct grain_graph *graph;
	enum slice_detail detail;
	struct radix_pair *entries; /* in the order of begins */
	size_t count;
	uint32_t *tids; /* by thread, in the order in which threads begin */
	size_t thread_count;
	uint32_t near[SLICES_NEAR]; /* cache of the places where threads were found last */
	uint64_t base_ns;
	struct slice_stack *stacks; /* per thread */
};

/*
 * Finds all slices. Takes time and memory in proportion to the items. The graph must outlive the slices.
 * Returns 0 or -ENOMEM.
 */
int slices__fill(struct slices *slices, const struct grain_graph *graph, enum slice_detail detail);
void slices__free(struct slices *slices);

struct slice_visitor {
	void *ctx;
	/*
	 * Both return 0, or a negative errno that ends the walk. At its end, a slice is the same as at its
	 * begin, except for end_ns: the time at which it ends on this thread.
	 */
	int (*begin)(void *ctx, const struct slice *slice);
	int (*end)(void *ctx, const struct slice *slice);
	void (*progress)(void *ctx, double done); /* called from time to time; may be NULL */
	void *progress_ctx;
};
int slices__walk(struct slices *slices, const struct slice_visitor *visitor);
/* During a walk: returns the context of the innermost open stretch on the thread. GRAIN_NONE: none. */
uint32_t slices__context_on(const struct slices *slices, uint32_t thread);

#endif
