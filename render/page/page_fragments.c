/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of fragments: by thread, then by time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/page/page_fill.h"
#include "render/base/radix.h"
#include "render/base/array.h"

/* Prefetch distance in steps. */
#define AHEAD 16
/* Sorting divides fragments into parts of about USUAL_PART. Parts with more than LARGE_PART are large. */
#define USUAL_PART 8
#define LARGE_PART 256

struct fragment {
	uint64_t start_ns, end_ns; /* from the start of the recording */
	uint32_t context, item;
	uint32_t thread;
	uint16_t cpu;
	bool critical;
};

/* Threads in the order in which they were found. A hash table finds them by tid. */
struct threads {
	uint32_t *slots; /* thread + 1; 0: free */
	size_t slot_count;
	size_t *fragments; /* per thread */
	uint32_t last;	   /* index of the thread that was found last */
	size_t room;
};

struct page_gather {
	struct threads threads;
	struct fragment *fragments; /* per context */
	size_t count, capacity;
	uint64_t last_start_ns;
};

static uint32_t *slot_of(const struct threads *t, const uint32_t *tids, uint32_t tid)
{
	size_t at = tid * 2654435761u & (t->slot_count - 1);

	while (t->slots[at] && tids[t->slots[at] - 1] != tid)
		at = (at + 1) & (t->slot_count - 1);
	return &t->slots[at];
}

static int grow_threads(struct threads *t, struct page_columns *out)
{
	size_t room = t->room ? 2 * t->room : 64;
	uint32_t *tids = realloc(out->tids, room * sizeof(*tids));
	size_t *fragments = realloc(t->fragments, room * sizeof(*fragments));
	uint32_t *slots = calloc(4 * room, sizeof(*slots));

	out->tids = tids ? tids : out->tids;
	t->fragments = fragments ? fragments : t->fragments;
	if (!tids || !fragments || !slots) {
		free(slots);
		return -ENOMEM;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = 4 * room;
	t->room = room;
	for (size_t i = 0; i < out->thread_count; i++)
		*slot_of(t, tids, tids[i]) = (uint32_t)i + 1;
	return 0;
}

/* Finds or adds a thread, and sets t->last to it. Returns 0 or -ENOMEM. */
static int find_thread(struct threads *t, struct page_columns *out, uint32_t tid)
{
	uint32_t *slot;

	if (t->last < out->thread_count && out->tids[t->last] == tid)
		return 0;
	if (out->thread_count == t->room && grow_threads(t, out))
		return -ENOMEM;
	slot = slot_of(t, out->tids, tid);
	if (!*slot) {
		out->tids[out->thread_count] = tid;
		t->fragments[out->thread_count] = 0;
		*slot = (uint32_t)++out->thread_count;
	}
	t->last = *slot - 1;
	return 0;
}

int page_gather__new(struct page_gather **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void page_gather__free(struct page_gather *gather)
{
	if (!gather)
		return;
	free(gather->threads.slots);
	free(gather->threads.fragments);
	free(gather->fragments);
	free(gather);
}

static uint64_t since_start(const struct page_fill *f, uint64_t ns)
{
	return ns < f->out->start_ns ? 0 : ns - f->out->start_ns;
}

static int add_fragment(struct page_fill *f, uint32_t context, uint32_t index, const struct grain_item *item,
			struct page_body *body)
{
	struct page_gather *g = f->gather;
	uint64_t start_ns = since_start(f, item->start_ns), end_ns = since_start(f, item->end_ns);
	uint64_t start = page_fill__ticks(f, start_ns), end = page_fill__ticks(f, end_ns);

	if (!array__reserve((void **)&g->fragments, &g->capacity, g->count, sizeof(*g->fragments)) ||
	    find_thread(&g->threads, f->out, item->tid))
		return -ENOMEM;
	g->threads.fragments[g->threads.last]++;
	g->fragments[g->count++] = (struct fragment){.start_ns = start_ns,
						     .end_ns = end_ns,
						     .context = context,
						     .item = index,
						     .thread = g->threads.last,
						     .cpu = item->cpu,
						     .critical = item->critical};
	g->last_start_ns = start_ns > g->last_start_ns ? start_ns : g->last_start_ns;
	body->exec += end - start;
	body->first = start < body->first ? start : body->first;
	body->last = end > body->last ? end : body->last;
	return 0;
}

int page_gather__add(struct page_fill *f, uint32_t context, const struct grain_context *c,
		     struct page_body *body)
{
	struct page_wait *open = NULL;
	uint64_t last_end = 0;
	uint32_t count = 0;

	*body = (struct page_body){.first = UINT64_MAX};
	for (uint32_t k = c->first_item; k < c->first_item + c->item_count; k++) {
		struct grain_item item;
		struct grain_join join;

		grain_graph__item(f->graph, k, &item);
		if (item.kind == GRAIN_JOIN && item.ref < f->out->joins) {
			grain_graph__join(f->graph, item.ref, &join);
			open = NULL;
			if (join.waiter == context && count) {
				open = &f->waits[item.ref];
				*open = (struct page_wait){.from_ns = last_end, .after = count};
			}
		}
		/* Fragments without length are not shown. */
		if (item.kind != GRAIN_FRAGMENT || item.end_ns <= item.start_ns)
			continue;
		if (open)
			open->to_ns = item.start_ns;
		open = NULL;
		last_end = item.end_ns;
		count++;
		if (add_fragment(f, context, k, &item, body))
			return -ENOMEM;
	}
	return 0;
}

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static uint64_t key_of(const struct fragment *x, unsigned bits)
{
	return (uint64_t)x->thread << bits | x->start_ns;
}

/* An insertion sort. It is stable, and fast for few elements. */
static void insert_all(struct radix_pair *pairs, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct radix_pair x = pairs[i];
		size_t at = i;

		for (; at && pairs[at - 1].key > x.key; at--)
			pairs[at] = pairs[at - 1];
		pairs[at] = x;
	}
}

/*
 * Sorts by keys of `key_bits` bits; `bits` of these are the start. Divides the elements into parts of equal
 * width, most of which have few elements, and sorts each part. Most fragments are nearly in order, so it
 * writes close to where it wrote before.
 */
static int sort_parts(const struct page_gather *g, unsigned bits, unsigned key_bits, struct radix_pair *order)
{
	unsigned part_bits = bits_of(g->count / USUAL_PART), shift;
	uint32_t *past;
	size_t parts, from = 0;
	int error = 0;

	part_bits = part_bits < key_bits ? part_bits : key_bits;
	shift = key_bits - part_bits;
	parts = (size_t)1 << part_bits;
	past = calloc(parts + 1, sizeof(*past));
	if (!past)
		return -ENOMEM;
	for (size_t i = 0; i < g->count; i++)
		past[(key_of(&g->fragments[i], bits) >> shift) + 1]++;
	for (size_t i = 0; i < parts; i++)
		past[i + 1] += past[i];
	for (size_t i = 0; i < g->count; i++) {
		uint64_t key = key_of(&g->fragments[i], bits);

		order[past[key >> shift]++] = (struct radix_pair){.key = key, .value = i};
	}
	for (size_t i = 0; i < parts && !error; from = past[i++]) {
		if (past[i] - from <= LARGE_PART)
			insert_all(order + from, past[i] - from);
		else
			error = radix__sort(order + from, past[i] - from);
	}
	free(past);
	return error;
}

/* Sorts by thread, then by start. Equal elements keep their order. Returns 0 or -ENOMEM. */
static int sort(const struct page_gather *g, size_t threads, struct radix_pair *order)
{
	unsigned bits = bits_of(g->last_start_ns), key_bits = bits + bits_of(threads);
	int error;

	if (key_bits < 64)
		return sort_parts(g, bits, key_bits, order);
	for (size_t i = 0; i < g->count; i++)
		order[i] = (struct radix_pair){.key = g->fragments[i].start_ns, .value = i};
	error = radix__sort(order, g->count);
	if (error)
		return error;
	for (size_t i = 0; i < g->count; i++)
		order[i].key = g->fragments[order[i].value].thread;
	return radix__sort(order, g->count);
}

static void fill(struct page_fill *f, const struct radix_pair *order)
{
	const struct page_gather *g = f->gather;
	struct page_columns *out = f->out;
	struct page_column *counts = page_columns__add(out, "thread_fragments"),
			   *gap = page_columns__add(out, "fragment_gap"),
			   *length = page_columns__add(out, "fragment_length"),
			   *context = page_columns__add(out, "fragment_context"),
			   *cpu = page_columns__add(out, "fragment_cpu");
	size_t i = 0;

	for (size_t t = 0; t < out->thread_count; t++) {
		size_t past = i + g->threads.fragments[t];
		uint64_t at = 0;
		int64_t last = 0, last_cpu = 0;

		page_column__number(counts, past - i);
		for (; i < past; i++) {
			const struct fragment *x = &g->fragments[order[i].value];
			uint64_t start = page_fill__ticks(f, x->start_ns),
				 end = page_fill__ticks(f, x->end_ns);

			if (i + AHEAD < g->count)
				__builtin_prefetch(&g->fragments[order[i + AHEAD].value]);
			out->items[i] = x->item;
			page_column__signed(gap, (int64_t)(start - at));
			page_column__number(length, (end - start) << 1 | x->critical);
			page_column__signed(context, (int64_t)x->context - last);
			page_column__signed(cpu, (int64_t)x->cpu - last_cpu);
			at = end;
			last = x->context;
			last_cpu = x->cpu;
		}
	}
}

int page_fill__fragments(struct page_fill *f)
{
	struct page_gather *g = f->gather;
	struct radix_pair *order = malloc((g->count + 1) * sizeof(*order));
	int error = order ? sort(g, f->out->thread_count, order) : -ENOMEM;

	f->out->fragments = g->count;
	if (!error) {
		f->out->items = malloc((g->count + 1) * sizeof(*f->out->items));
		error = f->out->items ? 0 : -ENOMEM;
	}
	if (!error)
		fill(f, order);
	free(order);
	return error;
}
