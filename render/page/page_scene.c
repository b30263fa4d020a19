/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/page/page_scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "render/layout/layout.h"
#include "render/scene/tree.h"

#define UNITS_PER_POINT 8
/* Members that compute less than 1 / IDLE_SHARE of their region's time are drawn as idle (tree.c). */
#define IDLE_SHARE 50

enum {
	NODE_CRITICAL = 1,
	NODE_INCOMPLETE = 2,
	NODE_UNDEFERRED = 4,
	NODE_DISCARDED = 8,
	NODE_CAPPED = 16,
};

static int64_t units(double points)
{
	return (int64_t)llround(points * UNITS_PER_POINT);
}

static int lay_out(const struct grain_graph *graph, struct scene *scene)
{
	struct outline *outline = NULL;
	struct tree *tree = NULL;
	int error = outline__new(graph, &outline);

	if (error)
		return error;
	if (outline->full_nodes <= PAGE_SCENE_NODES) {
		error = layout__full(outline, scene);
	} else {
		error = tree__new(outline, PAGE_SCENE_NODES, GRAIN_PROBLEM_COUNT, &tree);
		if (!error)
			error = layout__reduced(tree, scene);
	}
	if (!error)
		error = layout__dependences(outline, scene);
	scene->stands_for = outline->full_nodes;
	scene__bounds(scene);
	tree__free(tree);
	outline__free(outline);
	return error;
}

/* ---- nodes and edges ------------------------------------------------------ */

static unsigned flags_of(const struct scene_node *n)
{
	return (n->critical ? NODE_CRITICAL : 0) | (n->incomplete ? NODE_INCOMPLETE : 0) |
	       (n->undeferred ? NODE_UNDEFERRED : 0) | (n->discarded ? NODE_DISCARDED : 0) |
	       (n->capped ? NODE_CAPPED : 0);
}

static int64_t or_none(uint32_t index)
{
	return index == GRAIN_NONE ? -1 : (int64_t)index;
}

/* Returns what a node refers to besides its context: a join, region or fragment. */
static int64_t ref_of(const int32_t *fragments, const struct scene_node *n)
{
	if (n->shape == SCENE_JOIN)
		return or_none(n->ref);
	if (n->shape == SCENE_FORK)
		return or_none(n->region);
	if (!fragments || n->ref == GRAIN_NONE || (n->shape != SCENE_FRAGMENT && n->shape != SCENE_CHUNK))
		return -1;
	return fragments[n->ref];
}

/* Fills the columns of nodes. `fragments`: per item its fragment; -1: none. NULL: nodes are not fragments. */
static void fill_nodes(struct page_columns *out, const struct scene *scene, const int32_t *fragments)
{
	struct page_column *shape = page_columns__add(out, "scene_shape"),
			   *x = page_columns__add(out, "scene_x"), *y = page_columns__add(out, "scene_y"),
			   *w = page_columns__add(out, "scene_w"), *h = page_columns__add(out, "scene_h"),
			   *context = page_columns__add(out, "scene_context"),
			   *ref = page_columns__add(out, "scene_ref"),
			   *grains = page_columns__add(out, "scene_grains"),
			   *time = page_columns__add(out, "scene_time");
	int64_t last_x = 0, last_y = 0, last_context = 0, last_ref = 0;

	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *n = &scene->nodes[i];
		int64_t to = ref_of(fragments, n);

		page_column__number(shape, n->shape | flags_of(n) << 3);
		page_column__signed(x, units(n->x) - last_x);
		page_column__signed(y, units(n->y) - last_y);
		page_column__number(w, (uint64_t)units(n->w));
		page_column__number(h, (uint64_t)units(n->h));
		page_column__signed(context, or_none(n->context) - last_context);
		page_column__signed(ref, to - last_ref);
		page_column__number(grains, n->grains);
		page_column__number(time, (n->time_ns + out->tick_ns / 2) >> out->tick_shift);
		last_x = units(n->x);
		last_y = units(n->y);
		last_context = or_none(n->context);
		last_ref = to;
	}
}

/*
 * Fills the columns of edges. Each point is relative to the point before it. The first point is relative to
 * the middle of the top of the node that the edge leaves.
 */
static void fill_edges(struct page_columns *out, const struct scene *scene)
{
	struct page_column *kind = page_columns__add(out, "scene_edge"),
			   *from = page_columns__add(out, "scene_from"),
			   *to = page_columns__add(out, "scene_to"),
			   *x = page_columns__add(out, "scene_point_x"),
			   *y = page_columns__add(out, "scene_point_y");
	int64_t last_from = 0, last_to = 0;

	for (size_t i = 0; i < scene->edge_count; i++) {
		const struct scene_edge *e = &scene->edges[i];
		int64_t last_x = units(scene->nodes[e->from].x), last_y = units(scene->nodes[e->from].y);

		page_column__number(kind, e->kind | (unsigned)e->critical << 3 | (unsigned)e->curved << 4 |
						  (uint64_t)e->points << 5);
		page_column__signed(from, (int64_t)e->from - last_from);
		page_column__signed(to, (int64_t)e->to - last_to);
		for (uint32_t p = 0; p < e->points; p++) {
			const struct scene_point *point = &scene->points[e->first_point + p];

			page_column__signed(x, units(point->x) - last_x);
			page_column__signed(y, units(point->y) - last_y);
			last_x = units(point->x);
			last_y = units(point->y);
		}
		last_from = e->from;
		last_to = e->to;
	}
}

/* ---- which node shows a context ------------------------------------------- */

/* A group or idle members below a fork. It is in the list of the context that has the fork. */
struct held {
	uint32_t node, region, join, next;
};

struct owners {
	const struct grain_graph *graph;
	const struct scene *scene;
	size_t contexts;
	const uint32_t *parents;
	uint32_t *node; /* per context; GRAIN_NONE: none, or not known yet */
	uint8_t *known;
	uint32_t *stack;
	struct held *held;
	uint32_t *first_held; /* per context */
	size_t held_count;
};

static bool holds(const struct scene_node *n)
{
	return n->shape == SCENE_GROUP || n->shape == SCENE_IDLE;
}

static void find_held(struct owners *o)
{
	const struct scene *s = o->scene;

	for (size_t i = s->edge_count; i-- > 0;) {
		const struct scene_edge *e = &s->edges[i];
		const struct scene_node *fork = &s->nodes[e->from], *n = &s->nodes[e->to];
		struct grain_context c;

		if (e->kind != SCENE_CREATION || fork->shape != SCENE_FORK || !holds(n) ||
		    fork->context >= o->contexts || n->context >= o->contexts)
			continue;
		grain_graph__context(o->graph, n->context, &c);
		o->held[o->held_count] = (struct held){.node = e->to,
						       .region = fork->region,
						       .join = c.join,
						       .next = o->first_held[fork->context]};
		o->first_held[fork->context] = (uint32_t)o->held_count++;
	}
}

static bool is_idle(const struct owners *o, const struct grain_context *c)
{
	struct grain_region region;

	if (c->kind != GRAIN_IMPLICIT || c->region == GRAIN_NONE)
		return false;
	grain_graph__region(o->graph, c->region, &region);
	return c->exec_ns < (region.end_ns - region.start_ns) / IDLE_SHARE;
}

/*
 * Returns the group into which the context was folded: the group of its region's members, or that of the
 * siblings at its nearest join.
 */
static uint32_t find_group(const struct owners *o, const struct grain_context *c, uint32_t parent)
{
	uint32_t best = GRAIN_NONE, region = c->kind == GRAIN_IMPLICIT ? c->region : GRAIN_NONE;
	uint64_t nearest = UINT64_MAX;

	for (uint32_t i = o->first_held[parent]; i != GRAIN_NONE; i = o->held[i].next) {
		const struct held *h = &o->held[i];
		uint64_t apart = h->join > c->join ? h->join - c->join : c->join - h->join;

		if (h->region != region)
			apart += (uint64_t)1 << 40;
		if (o->scene->nodes[h->node].shape == SCENE_IDLE && !is_idle(o, c))
			apart += (uint64_t)1 << 41;
		if (apart < nearest) {
			nearest = apart;
			best = h->node;
		}
	}
	return best;
}

static uint32_t resolve(const struct owners *o, uint32_t context)
{
	uint32_t parent = o->parents[context];
	const struct scene_node *above;
	struct grain_context c;

	if (parent == GRAIN_NONE || o->node[parent] == GRAIN_NONE)
		return GRAIN_NONE;
	above = &o->scene->nodes[o->node[parent]];
	if (holds(above))
		return o->node[parent];
	grain_graph__context(o->graph, context, &c);
	if (c.kind == GRAIN_CHUNK || above->context >= o->contexts)
		return o->node[parent];
	return find_group(o, &c, above->context);
}

/* Resolves parents first, at any depth. Contexts that wait for their parents are on a stack. */
static void resolve_all(struct owners *o)
{
	for (size_t i = 0; i < o->contexts; i++) {
		uint32_t at = (uint32_t)i;
		size_t depth = 0;

		for (; at != GRAIN_NONE && !o->known[at]; at = o->parents[at]) {
			o->known[at] = 1;
			o->stack[depth++] = at;
		}
		while (depth-- > 0)
			o->node[o->stack[depth]] = resolve(o, o->stack[depth]);
	}
}

static void fill_owners(struct page_columns *out, const struct owners *o)
{
	struct page_column *column = page_columns__add(out, "scene_node_of");
	int64_t last = 0;

	for (uint32_t i = 0; i < o->contexts; i++) {
		uint32_t parent = o->parents[i], inherited;
		int64_t change;

		inherited = parent == GRAIN_NONE ? GRAIN_NONE : o->node[parent];
		if (inherited == o->node[i] && (parent == GRAIN_NONE || parent < i)) {
			page_column__number(column, 0);
			continue;
		}
		change = or_none(o->node[i]) - last;
		last = or_none(o->node[i]);
		page_column__number(column, 1 + ((uint64_t)change << 1 ^ (uint64_t)(change >> 63)));
	}
}

static int find_owners(struct page_columns *out, const struct grain_graph *graph, const struct scene *scene)
{
	struct owners o = {.graph = graph,
			   .scene = scene,
			   .contexts = out->contexts,
			   .parents = out->parents};
	size_t n = o.contexts + 1;
	int error = -ENOMEM;

	o.node = malloc(n * sizeof(*o.node));
	o.first_held = malloc(n * sizeof(*o.first_held));
	o.stack = malloc(n * sizeof(*o.stack));
	o.known = calloc(n, 1);
	o.held = malloc((scene->edge_count + 1) * sizeof(*o.held));
	if (!o.node || !o.first_held || !o.stack || !o.known || !o.held)
		goto out;
	for (size_t i = 0; i < n; i++)
		o.node[i] = o.first_held[i] = GRAIN_NONE;
	for (size_t i = scene->node_count; i-- > 0;) {
		const struct scene_node *node = &scene->nodes[i];

		if (node->shape == SCENE_BOOKKEEPING || node->shape == SCENE_FORK ||
		    node->shape == SCENE_JOIN || node->context >= o.contexts)
			continue;
		o.node[node->context] = (uint32_t)i;
		o.known[node->context] = 1;
	}
	find_held(&o);
	resolve_all(&o);
	fill_owners(out, &o);
	error = 0;
out:
	free(o.node);
	free(o.first_held);
	free(o.stack);
	free(o.known);
	free(o.held);
	return error;
}

/* Makes the table from item to fragment. The graph is small enough for it. */
static int32_t *index_fragments(const struct page_columns *columns, const struct scene *scene)
{
	size_t items = 0;
	int32_t *fragments;

	for (size_t i = 0; i < columns->fragments; i++)
		items = columns->items[i] >= items ? columns->items[i] + (size_t)1 : items;
	for (size_t i = 0; i < scene->node_count; i++)
		if (scene->nodes[i].shape <= SCENE_CHUNK && scene->nodes[i].ref != GRAIN_NONE &&
		    scene->nodes[i].ref >= items)
			items = scene->nodes[i].ref + (size_t)1;
	fragments = malloc((items + 1) * sizeof(*fragments));
	for (size_t i = 0; fragments && i < items; i++)
		fragments[i] = -1;
	for (size_t i = 0; fragments && i < columns->fragments; i++)
		fragments[columns->items[i]] = (int32_t)i;
	return fragments;
}

int page_scene__fill(struct page_columns *columns, const struct grain_graph *graph, json_t **about)
{
	struct scene scene = {0};
	int32_t *fragments = NULL;
	int error = lay_out(graph, &scene);

	*about = NULL;
	if (!error && !scene.reduced) {
		fragments = index_fragments(columns, &scene);
		error = fragments ? 0 : -ENOMEM;
	}
	if (!error) {
		fill_nodes(columns, &scene, fragments);
		fill_edges(columns, &scene);
		error = find_owners(columns, graph, &scene);
	}
	if (!error)
		error = page_columns__check(columns);
	if (!error) {
		*about = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:b,s:b,s:I}", "nodes",
				   (json_int_t)scene.node_count, "edges", (json_int_t)scene.edge_count,
				   "points", (json_int_t)scene.point_count, "left",
				   (json_int_t)units(scene.left), "right", (json_int_t)units(scene.right),
				   "top", (json_int_t)units(scene.top), "bottom",
				   (json_int_t)units(scene.bottom), "px_per_ns", scene.px_per_ns, "reduced",
				   scene.reduced, "folded", scene.folded, "stands_for",
				   (json_int_t)scene.stands_for);
		error = *about ? 0 : -ENOMEM;
	}
	free(fragments);
	scene__free(&scene);
	return error;
}
