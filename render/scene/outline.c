/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/scene/outline.h"

#include <errno.h>
#include <stdlib.h>

#include "render/base/array.h"

/* Prefetch distance in steps. */
#define AHEAD 8

/*
 * Where items of contexts lead. Items are read once, in their order: following them from context to context
 * would jump in memory.
 */
struct links {
	struct link {
		uint32_t ref;
		uint32_t kind; /* GRAIN_FORK, GRAIN_REGION, GRAIN_CHUNK_ITEM */
	} * link;
	uint32_t *first; /* per context: its first link; one more for the end of the last context's links */
	uint32_t *nodes; /* per context: number of items that are drawn */
};

void outline_walk__start(struct outline_walk *walk, const struct outline *outline, uint32_t context)
{
	const struct outline_context *c = &outline->context[context];

	*walk = (struct outline_walk){.outline = outline,
				      .context = context,
				      .chunk = GRAIN_NONE,
				      .next = c->first_item,
				      .end = c->first_item + c->item_count,
				      .outer = context};
}

bool outline_walk__next(struct outline_walk *walk, struct grain_item *item)
{
	const struct outline_context *c;

	for (;;) {
		if (walk->next == walk->end) {
			if (walk->chunk == GRAIN_NONE)
				return false;
			walk->context = walk->outer;
			walk->chunk = GRAIN_NONE;
			walk->next = walk->outer_next;
			walk->end = walk->outer_end;
			continue;
		}
		walk->item = walk->next++;
		grain_graph__item(walk->outline->graph, walk->item, item);
		if (item->kind != GRAIN_CHUNK_ITEM)
			return true;
		if (walk->chunk != GRAIN_NONE || item->ref >= walk->outline->contexts)
			continue;
		c = &walk->outline->context[item->ref];
		walk->outer_next = walk->next;
		walk->outer_end = walk->end;
		walk->chunk = walk->context = item->ref;
		walk->next = c->first_item;
		walk->end = c->first_item + c->item_count;
	}
}

bool outline__is_shared(const struct grain_join *join)
{
	return join->region != GRAIN_NONE &&
	       (join->kind == GRAIN_JOIN_BARRIER || join->kind == GRAIN_JOIN_REGION_END ||
		join->kind == GRAIN_JOIN_LOOP);
}

static void reach_context(struct outline *o, uint32_t context, uint32_t parent, uint32_t region, bool leads)
{
	o->seen[context] = 1;
	o->context[context].place = (uint32_t)o->count;
	o->order[o->count++] = (struct outline_entry){.context = context,
						      .parent = parent,
						      .region = region,
						      .leads = leads};
}

static bool reach_region(struct outline *o, uint32_t index, uint32_t parent)
{
	struct grain_region region;
	bool leads = true;

	if (index >= o->regions || o->seen[o->contexts + index])
		return false;
	o->seen[o->contexts + index] = 1;
	o->full_nodes += 2;
	grain_graph__region(o->graph, index, &region);
	for (uint32_t i = 0; i < region.threads; i++) {
		uint32_t member = grain_graph__member(o->graph, region.first_member + i);

		if (member >= o->contexts || o->seen[member])
			continue;
		reach_context(o, member, parent, index, leads);
		leads = false;
	}
	return true;
}

/*
 * Reaches the contexts and regions that the items of a context lead to. Items of a chunk belong to the
 * context that executes it.
 */
static void reach_links(struct outline *o, const struct links *l, uint32_t context, uint32_t outer)
{
	o->full_nodes += l->nodes[context];
	for (uint32_t i = l->first[context]; i < l->first[context + 1]; i++) {
		uint32_t ref = l->link[i].ref;

		if (l->link[i].kind == GRAIN_REGION) {
			reach_region(o, ref, outer);
		} else if (l->link[i].kind == GRAIN_FORK) {
			if (!o->seen[ref])
				reach_context(o, ref, outer, GRAIN_NONE, false);
		} else if (context == outer) {
			o->seen[ref] = 1;
			reach_links(o, l, ref, outer);
		}
	}
}

/* Reaches everything below what was reached since `from`. */
static void reach_below(struct outline *o, const struct links *l, size_t from)
{
	for (; from < o->count; from++) {
		uint32_t context = o->order[from].context;

		if (from + AHEAD < o->count)
			__builtin_prefetch(&l->first[o->order[from + AHEAD].context]);
		reach_links(o, l, context, context);
	}
}

static void root_context(struct outline *o, const struct links *l, uint32_t context)
{
	size_t from = o->count;

	o->roots[o->root_count++] = (struct outline_root){.index = context};
	reach_context(o, context, GRAIN_NONE, GRAIN_NONE, false);
	reach_below(o, l, from);
}

static void read_contexts(struct outline *o)
{
	for (uint32_t i = 0; i < o->contexts; i++) {
		struct grain_context c;

		grain_graph__context(o->graph, i, &c);
		o->context[i] = (struct outline_context){.join = c.join,
							 .first_item = c.first_item,
							 .item_count = c.item_count,
							 .place = GRAIN_NONE,
							 .kind = (uint8_t)c.kind,
							 .undeferred = c.undeferred,
							 .incomplete = c.incomplete,
							 .discarded = c.discarded,
							 .is_grain = (c.kind == GRAIN_TASK && !c.runtime) ||
								     c.kind == GRAIN_CHUNK};
	}
}

static bool read_links(const struct outline *o, struct links *l)
{
	size_t count = 0, capacity = 0;

	l->first = malloc((o->contexts + 1) * sizeof(*l->first));
	l->nodes = calloc(o->contexts + 1, sizeof(*l->nodes));
	if (!l->first || !l->nodes)
		return false;
	for (size_t i = 0; i < o->contexts; i++) {
		const struct outline_context *c = &o->context[i];

		l->first[i] = (uint32_t)count;
		for (uint32_t k = c->first_item; k < c->first_item + c->item_count; k++) {
			struct grain_item item;

			grain_graph__item(o->graph, k, &item);
			if (item.kind == GRAIN_REGION || item.kind == GRAIN_CHUNK_ITEM ||
			    item.kind == GRAIN_FORK) {
				if (item.ref >= (item.kind == GRAIN_REGION ? o->regions : o->contexts)) {
					l->nodes[i] += item.kind == GRAIN_FORK;
					continue;
				}
				if (!array__reserve((void **)&l->link, &capacity, count, sizeof(*l->link)))
					return false;
				l->link[count++] = (struct link){.ref = item.ref, .kind = item.kind};
			}
			l->nodes[i] += item.kind != GRAIN_REGION && item.kind != GRAIN_CHUNK_ITEM;
		}
	}
	l->first[o->contexts] = (uint32_t)count;
	return true;
}

static void find_roots(struct outline *o, const struct links *l)
{
	struct grain_context c;
	struct grain_region r;

	for (uint32_t i = 0; i < o->contexts; i++) {
		if (o->context[i].kind == GRAIN_INITIAL && !o->seen[i])
			root_context(o, l, i);
	}
	for (uint32_t i = 0; i < o->regions; i++) {
		size_t from = o->count;

		grain_graph__region(o->graph, i, &r);
		if (r.parent != GRAIN_NONE || !reach_region(o, i, GRAIN_NONE))
			continue;
		o->roots[o->root_count++] = (struct outline_root){.is_region = true, .index = i};
		reach_below(o, l, from);
	}
	/* Contexts without a parent come first. So their children are found below them. */
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < o->contexts; i++) {
			if (o->seen[i])
				continue;
			grain_graph__context(o->graph, i, &c);
			if (c.kind != GRAIN_CHUNK && (pass || c.parent == GRAIN_NONE))
				root_context(o, l, i);
		}
	}
}

int outline__new(const struct grain_graph *graph, struct outline **out)
{
	struct outline *o = calloc(1, sizeof(*o));
	struct links links = {0};
	bool read = false;

	if (!o)
		return -ENOMEM;
	o->graph = graph;
	o->contexts = grain_graph__context_count(graph);
	o->joins = grain_graph__join_count(graph);
	o->regions = grain_graph__region_count(graph);
	o->order = calloc(o->contexts + 1, sizeof(*o->order));
	o->roots = calloc(o->contexts + o->regions + 1, sizeof(*o->roots));
	o->seen = calloc(o->contexts + o->regions + 1, 1);
	o->context = calloc(o->contexts + 1, sizeof(*o->context));
	if (o->context && o->order && o->roots && o->seen) {
		read_contexts(o);
		read = read_links(o, &links);
	}
	if (read)
		find_roots(o, &links);
	free(links.link);
	free(links.first);
	free(links.nodes);
	if (!read) {
		outline__free(o);
		return -ENOMEM;
	}
	*out = o;
	return 0;
}

void outline__free(struct outline *outline)
{
	if (!outline)
		return;
	free(outline->context);
	free(outline->order);
	free(outline->roots);
	free(outline->seen);
	free(outline);
}
