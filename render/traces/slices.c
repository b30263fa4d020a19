/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/traces/slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/base/array.h"

#define KIND_BITS 3
#define TELL_EVERY 16384
#define MOST_OUTER 1024

struct slice_stack {
	struct slice *open;
	size_t depth, capacity;
};

static const enum slice_kind kind_of_item[] = {
	[GRAIN_FRAGMENT] = SLICE_FRAGMENT,	 [GRAIN_FORK] = SLICE_FORK,
	[GRAIN_REGION] = SLICE_REGION,		 [GRAIN_JOIN] = SLICE_JOIN,
	[GRAIN_BOOKKEEPING] = SLICE_BOOKKEEPING,
};

/* ---- from items to slices ---------------------------------------------- */

static bool goes_on(const struct grain_item *item, const struct grain_item *next)
{
	return next->tid == item->tid && next->start_ns == item->end_ns;
}

/* Finds the end of the stretch or loop that begins with this item. The item has been read. */
static uint32_t find_past(const struct grain_graph *graph, enum slice_kind kind, uint32_t item, uint32_t end,
			  const struct grain_item *first, uint64_t *end_ns)
{
	struct grain_item last = *first, next;

	for (item++; item < end && (kind == SLICE_STRETCH || kind == SLICE_LOOP); item++) {
		grain_graph__item(graph, item, &next);
		if (!goes_on(&last, &next))
			break;
		if (kind == SLICE_LOOP && next.kind != GRAIN_CHUNK_ITEM &&
		    (next.kind != GRAIN_BOOKKEEPING || next.ref != first->ref))
			break;
		last = next;
	}
	*end_ns = last.end_ns;
	return item;
}

/* Returns the thread's index. If the thread is unknown, returns thread_count. */
static uint32_t thread_of(struct slices *s, uint32_t tid)
{
	uint32_t *near = &s->near[tid % SLICES_NEAR], t = *near;

	if (t >= s->thread_count || s->tids[t] != tid)
		for (t = 0; t < s->thread_count && s->tids[t] != tid; t++)
			;
	return *near = t;
}

/* Makes the slice of an entry. Its `thread` is still a tid. The caller replaces it by the thread's index. */
static void read_slice(const struct slices *s, const struct radix_pair *entry, struct slice *out)
{
	uint32_t context = (uint32_t)entry->value, index = (uint32_t)(entry->value >> 32);
	struct grain_context c;
	struct grain_item item;

	grain_graph__context(s->graph, context, &c);
	grain_graph__item(s->graph, index, &item);
	*out = (struct slice){.kind = (enum slice_kind)(entry->key & ((1u << KIND_BITS) - 1)),
			      .start_ns = item.start_ns,
			      .context = context,
			      .item = index,
			      .ref = item.ref,
			      .thread = item.tid,
			      .cpu = item.cpu,
			      .critical = item.critical};
	out->past = find_past(s->graph, out->kind, index, c.first_item + c.item_count, &item, &out->end_ns);
	if (out->end_ns < out->start_ns)
		out->end_ns = out->start_ns;
}

/*
 * Makes an entry. The key has the start, relative to base_ns, and in its lower bits the kind. The value has
 * item and context.
 */
static struct radix_pair entry_of(const struct slices *s, enum slice_kind kind, uint64_t start_ns,
				  uint32_t item, uint32_t context)
{
	return (struct radix_pair){(start_ns - s->base_ns) << KIND_BITS | kind,
				   (uint64_t)item << 32 | context};
}

static void add(struct slices *s, enum slice_kind kind, uint64_t start_ns, uint32_t item, uint32_t context)
{
	/* The first pass only counts entries. */
	if (s->entries)
		s->entries[s->count] = entry_of(s, kind, start_ns, item, context);
	s->count++;
}

/* Adds all slices of a context. The first pass also finds the earliest start. */
static void add_context(struct slices *s, uint32_t context)
{
	struct grain_context c;
	uint32_t past_stretch, past_loop;

	grain_graph__context(s->graph, context, &c);
	past_stretch = past_loop = c.first_item;
	for (uint32_t i = c.first_item; i < c.first_item + c.item_count; i++) {
		struct grain_item item;
		uint64_t end;

		grain_graph__item(s->graph, i, &item);
		if (!s->entries && item.start_ns < s->base_ns)
			s->base_ns = item.start_ns;
		if (s->detail == SLICES_STRETCHES && i >= past_stretch) {
			past_stretch = find_past(s->graph, SLICE_STRETCH, i, c.first_item + c.item_count,
						 &item, &end);
			add(s, SLICE_STRETCH, item.start_ns, i, context);
		}
		if (item.kind == GRAIN_BOOKKEEPING && i >= past_loop) {
			past_loop =
				find_past(s->graph, SLICE_LOOP, i, c.first_item + c.item_count, &item, &end);
			add(s, SLICE_LOOP, item.start_ns, i, context);
		}
		if (item.kind == GRAIN_CHUNK_ITEM ||
		    (item.kind == GRAIN_FRAGMENT && s->detail == SLICES_STRETCHES))
			continue;
		add(s, kind_of_item[item.kind], item.start_ns, i, context);
	}
}

/* ---- order --------------------------------------------------------------- */

/* One of several slices that begin at the same time, and its place among them. */
struct tie {
	struct slice slice;
	size_t place;
};

static bool holds(const struct slice *outer, const struct slice *inner)
{
	return (outer->kind == SLICE_STRETCH || outer->kind == SLICE_LOOP) &&
	       outer->context == inner->context && outer->item <= inner->item && inner->item < outer->past;
}

/*
 * Slices with a length come first, outer before inner. Fragments come last, because nothing is nested in
 * them.
 */
static int by_nesting(const void *a, const void *b)
{
	const struct slice *x = &((const struct tie *)a)->slice, *y = &((const struct tie *)b)->slice;
	bool x_long = x->end_ns > x->start_ns, y_long = y->end_ns > y->start_ns;

	if (x_long != y_long)
		return x_long ? -1 : 1;
	if ((x->kind == SLICE_FRAGMENT) != (y->kind == SLICE_FRAGMENT))
		return y->kind == SLICE_FRAGMENT ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

static int by_place(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	return x->place != y->place ? (x->place < y->place ? -1 : 1) : by_nesting(a, b);
}

/*
 * Orders slices of the same time. A slice without length is inside the slice that has it; if no slice has it,
 * it comes before all others. A fragment without length comes before other fragments. If there are very many
 * ties, a slice without length comes first.
 */
static void place_ties(struct tie *ties, size_t count)
{
	size_t outer = 0, fragments;

	qsort(ties, count, sizeof(*ties), by_nesting);
	while (outer < count && ties[outer].slice.end_ns > ties[outer].slice.start_ns &&
	       ties[outer].slice.kind != SLICE_FRAGMENT)
		outer++;
	for (size_t i = 0; i < count; i++)
		ties[i].place = 2 * i + 1;
	fragments = 2 * outer;
	for (size_t i = outer; i < count; i++) {
		if (ties[i].slice.end_ns > ties[i].slice.start_ns)
			continue;
		ties[i].place = ties[i].slice.kind == SLICE_FRAGMENT ? fragments : 0;
		for (size_t k = outer < MOST_OUTER ? outer : 0; k-- > 0 && !ties[i].place;)
			if (holds(&ties[k].slice, &ties[i].slice))
				ties[i].place = 2 * k + 2;
	}
	qsort(ties, count, sizeof(*ties), by_place);
}

static int order_ties(struct slices *s, size_t first, size_t past, struct tie **room, size_t *capacity)
{
	for (size_t i = first; i < past; i++) {
		if (!array__reserve((void **)room, capacity, i - first, sizeof(**room)))
			return -ENOMEM;
		read_slice(s, &s->entries[i], &(*room)[i - first].slice);
	}
	place_ties(*room, past - first);
	for (size_t i = first; i < past; i++) {
		const struct slice *x = &(*room)[i - first].slice;

		s->entries[i] = entry_of(s, x->kind, x->start_ns, x->item, x->context);
	}
	return 0;
}

static int order(struct slices *s)
{
	struct tie *room = NULL;
	size_t capacity = 0;
	int error = radix__sort(s->entries, s->count);

	for (size_t i = 0, past; i < s->count && !error; i = past) {
		for (past = i + 1;
		     past < s->count && s->entries[past].key >> KIND_BITS == s->entries[i].key >> KIND_BITS;
		     past++)
			;
		if (past - i > 1)
			error = order_ties(s, i, past, &room, &capacity);
	}
	free(room);
	return error;
}

static int find_threads(struct slices *s)
{
	size_t capacity = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct grain_item item;

		grain_graph__item(s->graph, (uint32_t)(s->entries[i].value >> 32), &item);
		if (thread_of(s, item.tid) < s->thread_count)
			continue;
		if (!array__reserve((void **)&s->tids, &capacity, s->thread_count, sizeof(*s->tids)))
			return -ENOMEM;
		s->tids[s->thread_count++] = item.tid;
	}
	s->stacks = calloc(s->thread_count + 1, sizeof(*s->stacks));
	return s->stacks ? 0 : -ENOMEM;
}

int slices__fill(struct slices *slices, const struct grain_graph *graph, enum slice_detail detail)
{
	size_t contexts = grain_graph__context_count(graph);
	int error;

	*slices = (struct slices){.graph = graph, .detail = detail, .base_ns = UINT64_MAX};
	for (size_t i = 0; i < contexts; i++)
		add_context(slices, (uint32_t)i);
	slices->entries = malloc((slices->count + 1) * sizeof(*slices->entries));
	if (!slices->entries)
		return -ENOMEM;
	slices->count = 0;
	for (size_t i = 0; i < contexts; i++)
		add_context(slices, (uint32_t)i);
	error = order(slices);
	return error ? error : find_threads(slices);
}

void slices__free(struct slices *slices)
{
	for (size_t i = 0; slices->stacks && i < slices->thread_count; i++)
		free(slices->stacks[i].open);
	free(slices->stacks);
	free(slices->entries);
	free(slices->tids);
	memset(slices, 0, sizeof(*slices));
}

/* ---- walk ---------------------------------------------------------------- */

static bool is_over(const struct slice *open, const struct slice *next)
{
	if (open->end_ns == next->start_ns && holds(open, next))
		return false;
	return open->end_ns <= next->start_ns;
}

static int push(struct slice_stack *stack, const struct slice *slice)
{
	if (!array__reserve((void **)&stack->open, &stack->capacity, stack->depth, sizeof(*stack->open)))
		return -ENOMEM;
	stack->open[stack->depth++] = *slice;
	for (size_t i = stack->depth - 1; i-- > 0 && stack->open[i].end_ns < slice->end_ns;)
		stack->open[i].end_ns = slice->end_ns;
	return 0;
}

uint32_t slices__context_on(const struct slices *slices, uint32_t thread)
{
	const struct slice_stack *stack = &slices->stacks[thread];

	for (size_t i = stack->depth; i-- > 0;)
		if (stack->open[i].kind == SLICE_STRETCH)
			return stack->open[i].context;
	return GRAIN_NONE;
}

int slices__walk(struct slices *slices, const struct slice_visitor *v)
{
	int error = 0;

	for (size_t i = 0; i < slices->count && !error; i++) {
		struct slice_stack *stack;
		struct slice slice;

		read_slice(slices, &slices->entries[i], &slice);
		slice.thread = thread_of(slices, slice.thread);
		stack = &slices->stacks[slice.thread];
		while (stack->depth && is_over(&stack->open[stack->depth - 1], &slice) && !error) {
			stack->depth--;
			error = v->end(v->ctx, &stack->open[stack->depth]);
		}
		if (!error)
			error = push(stack, &slice);
		if (!error)
			error = v->begin(v->ctx, &slice);
		if (v->progress && i % TELL_EVERY == 0)
			v->progress(v->progress_ctx, (double)i / (double)slices->count);
	}
	for (size_t t = 0; t < slices->thread_count; t++) {
		struct slice_stack *stack = &slices->stacks[t];

		while (stack->depth && !error) {
			stack->depth--;
			error = v->end(v->ctx, &stack->open[stack->depth]);
		}
		stack->depth = 0;
	}
	return error;
}
