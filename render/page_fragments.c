/* SPDX-License-Identifier: BSD-2-Clause */
/* The fragments, by thread and in the order of time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/page_fill.h"

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

struct fragment {
	uint64_t start_ns; /* from the start of the recording */
	uint32_t context, item;
};

/* Threads in the order in which they are met; a hash table of tids finds them. */
struct threads {
	uint32_t *slots; /* thread + 1; 0: free */
	size_t slot_count;
	size_t *fragments; /* per thread */
	uint32_t last;	   /* found */
	size_t room;
};

struct gather {
	struct page_fill *fill;
	struct threads threads;
	struct fragment *fragments, *other;
	size_t *first; /* per thread, and the end of the last */
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

/* Leaves it in t->last. */
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

static bool takes_time(const struct grain_item *item)
{
	return item->kind == GRAIN_FRAGMENT && item->end_ns > item->start_ns;
}

/* Also what is around the joins that the context waits in. */
static int count_context(struct gather *g, uint32_t context, struct page_body *body)
{
	struct page_fill *f = g->fill;
	struct page_wait *open = NULL;
	uint64_t last_end = 0;
	uint32_t count = 0;

	for (uint32_t k = body->first_item; k < body->first_item + body->item_count; k++) {
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
		if (!takes_time(&item))
			continue;
		if (open)
			open->to_ns = item.start_ns;
		open = NULL;
		last_end = item.end_ns;
		count++;
		if (find_thread(&g->threads, f->out, item.tid))
			return -ENOMEM;
		g->threads.fragments[g->threads.last]++;
	}
	f->out->fragments += count;
	return 0;
}

static int count_fragments(struct gather *g)
{
	struct page_fill *f = g->fill;

	for (uint32_t i = 0; i < f->out->contexts; i++) {
		struct grain_context c;

		grain_graph__context(f->graph, i, &c);
		f->bodies[i] = (struct page_body){.first = UINT64_MAX,
						  .first_item = c.first_item,
						  .item_count = c.item_count,
						  .parent = c.parent,
						  .depth = c.depth};
		if (count_context(g, i, &f->bodies[i]))
			return -ENOMEM;
	}
	return 0;
}

/* `at`: where the next of each thread goes. */
static int place_fragments(struct gather *g, size_t *at)
{
	struct page_columns *out = g->fill->out;

	for (uint32_t i = 0; i < out->contexts; i++) {
		const struct page_body *b = &g->fill->bodies[i];

		for (uint32_t k = b->first_item; k < b->first_item + b->item_count; k++) {
			struct grain_item item;

			grain_graph__item(g->fill->graph, k, &item);
			if (!takes_time(&item))
				continue;
			if (find_thread(&g->threads, out, item.tid))
				return -ENOMEM;
			g->fragments[at[g->threads.last]++] =
				(struct fragment){.start_ns = item.start_ns < out->start_ns
								      ? 0
								      : item.start_ns - out->start_ns,
						  .context = i,
						  .item = k};
		}
	}
	return 0;
}

/* By start, stable, in time that is linear; `other` has as much room. */
static void sort(struct fragment *fragments, struct fragment *other, size_t count)
{
	struct fragment *from = fragments, *to = other, *swap;
	uint64_t most = 0;
	bool sorted = true;

	for (size_t i = 0; i < count; i++) {
		most = fragments[i].start_ns > most ? fragments[i].start_ns : most;
		sorted &= i == 0 || fragments[i - 1].start_ns <= fragments[i].start_ns;
	}
	for (unsigned shift = 0; !sorted && shift < 64 && most >> shift; shift += DIGIT_BITS) {
		size_t at[DIGITS] = {0}, sum = 0;

		for (size_t i = 0; i < count; i++)
			at[from[i].start_ns >> shift & (DIGITS - 1)]++;
		for (size_t d = 0; d < DIGITS; d++) {
			size_t n = at[d];

			at[d] = sum;
			sum += n;
		}
		for (size_t i = 0; i < count; i++)
			to[at[from[i].start_ns >> shift & (DIGITS - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != fragments)
		memcpy(fragments, from, count * sizeof(*fragments));
}

static int gather(struct gather *g)
{
	struct page_columns *out = g->fill->out;
	size_t *at = NULL, sum = 0;
	int error = count_fragments(g);

	if (error)
		return error;
	g->first = malloc((out->thread_count + 1) * sizeof(*g->first));
	at = malloc((out->thread_count + 1) * sizeof(*at));
	g->fragments = malloc((out->fragments + 1) * sizeof(*g->fragments));
	g->other = malloc((out->fragments + 1) * sizeof(*g->other));
	error = g->first && at && g->fragments && g->other ? 0 : -ENOMEM;
	for (size_t t = 0; !error && t <= out->thread_count; t++) {
		g->first[t] = at[t] = sum;
		sum += t < out->thread_count ? g->threads.fragments[t] : 0;
	}
	if (!error)
		error = place_fragments(g, at);
	for (size_t t = 0; !error && t < out->thread_count; t++)
		sort(g->fragments + g->first[t], g->other, g->first[t + 1] - g->first[t]);
	free(at);
	return error;
}

static void add_to_body(struct page_body *b, uint64_t start, uint64_t end)
{
	b->exec += end - start;
	b->first = start < b->first ? start : b->first;
	b->last = end > b->last ? end : b->last;
}

static void fill(struct gather *g)
{
	struct page_fill *f = g->fill;
	struct page_columns *out = f->out;
	struct page_column *counts = page_columns__add(out, "thread_fragments"),
			   *gap = page_columns__add(out, "fragment_gap"),
			   *length = page_columns__add(out, "fragment_length"),
			   *context = page_columns__add(out, "fragment_context"),
			   *cpu = page_columns__add(out, "fragment_cpu");

	for (size_t t = 0; t < out->thread_count; t++) {
		uint64_t at = 0;
		int64_t last = 0, last_cpu = 0;

		page_column__number(counts, g->first[t + 1] - g->first[t]);
		for (size_t i = g->first[t]; i < g->first[t + 1]; i++) {
			const struct fragment *x = &g->fragments[i];
			struct grain_item item;
			uint64_t start, end;

			grain_graph__item(f->graph, x->item, &item);
			start = page_fill__time(f, item.start_ns);
			end = page_fill__time(f, item.end_ns);
			out->items[i] = x->item;
			page_column__signed(gap, (int64_t)(start - at));
			page_column__number(length, (end - start) << 1 | item.critical);
			page_column__signed(context, (int64_t)x->context - last);
			page_column__signed(cpu, (int64_t)item.cpu - last_cpu);
			add_to_body(&f->bodies[x->context], start, end);
			at = end;
			last = x->context;
			last_cpu = item.cpu;
		}
	}
}

int page_fill__fragments(struct page_fill *f)
{
	struct gather g = {.fill = f};
	int error = gather(&g);

	if (!error) {
		f->out->items = malloc((f->out->fragments + 1) * sizeof(*f->out->items));
		error = f->out->items ? 0 : -ENOMEM;
	}
	if (!error)
		fill(&g);
	free(g.threads.slots);
	free(g.threads.fragments);
	free(g.fragments);
	free(g.other);
	free(g.first);
	return error;
}
