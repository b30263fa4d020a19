/* SPDX-License-Identifier: BSD-2-Clause */
/* What the legend of a picture must explain: the view's colours, and the marks that occur. */
#include <math.h>
#include <stdio.h>

#include "analysis/include/grain_numa.h"
#include "render/view/view.h"

static struct view_legend_entry *add(struct view_legend_entry *entries, size_t *count, enum view_mark mark,
				     uint8_t colour)
{
	struct view_legend_entry *e;

	if (*count >= VIEW_LEGEND_MAX)
		return &entries[VIEW_LEGEND_MAX - 1];
	e = &entries[(*count)++];
	e->mark = mark;
	e->colour = colour;
	e->label[0] = '\0';
	return e;
}

static void add_definitions(const struct view *view, struct view_legend_entry *entries, size_t *count)
{
	size_t profiles = grain_graph__profile_count(view->graph);
	char source[64], function[40];

	for (size_t i = 0; i < profiles && i < VIEW_RANKS; i++) {
		struct grain_profile profile;
		struct grain_definition d = {.source = "unknown source", .function = ""};

		grain_graph__profile(view->graph, i, &profile);
		if (profile.definition < grain_graph__definition_count(view->graph))
			grain_graph__definition(view->graph, profile.definition, &d);
		struct view_legend_entry *e = add(entries, count, VIEW_MARK_BOX, view__ranked(i));

		snprintf(e->label, sizeof(e->label), "%s %s",
			 format__clean(source, sizeof(source), d.source, 32),
			 format__clean(function, sizeof(function), d.function, 24));
	}
	if (profiles > VIEW_RANKS)
		snprintf(add(entries, count, VIEW_MARK_BOX, VIEW_OTHER)->label, 96, "%zu others",
			 profiles - VIEW_RANKS);
}

static void add_heat(const struct view *view, struct view_legend_entry *entries, size_t *count)
{
	static const double shares[VIEW_HEAT_STEPS] = {.25, .5, .75, 1};
	char bound[48];

	for (int i = 0; i < VIEW_HEAT_STEPS; i++) {
		view__limit(view, shares[i], bound, sizeof(bound));
		snprintf(add(entries, count, VIEW_MARK_BOX, (uint8_t)(VIEW_H0 + i))->label, 96, "%s", bound);
	}
	snprintf(add(entries, count, VIEW_MARK_BOX, VIEW_DIM)->label, 96, "no problem");
}

static void add_nodes(const struct view *view, struct view_legend_entry *entries, size_t *count)
{
	struct grain_numa numa;
	struct grain_node node;

	grain_graph__numa(view->graph, &numa);
	for (size_t i = 0; i < numa.nodes && i < VIEW_RANKS; i++) {
		grain_graph__node(view->graph, i, &node);
		snprintf(add(entries, count, VIEW_MARK_BOX, view__ranked(i))->label, 96, "NUMA node %u",
			 node.node);
	}
	if (numa.nodes > VIEW_RANKS)
		snprintf(add(entries, count, VIEW_MARK_BOX, VIEW_OTHER)->label, 96, "other nodes");
}

static void add_property(const struct view *view, struct view_legend_entry *entries, size_t *count)
{
	if (view->view == RENDER_VIEW_THREAD) {
		for (size_t i = 0; i < view->tid_count; i++)
			snprintf(add(entries, count, VIEW_MARK_BOX, view__ranked(i))->label, 96, "thread %u",
				 view->tids[i]);
		if (view->more_tids)
			snprintf(add(entries, count, VIEW_MARK_BOX, VIEW_OTHER)->label, 96, "other threads");
	} else if (view->view == RENDER_VIEW_NODE) {
		add_nodes(view, entries, count);
	} else if (view->view == RENDER_VIEW_TIME) {
		for (int i = 0; i < VIEW_TIME_STEPS; i++) {
			double upper = view->shortest_ns *
				       pow(view->longest_ns / view->shortest_ns, (i + 1.0) / VIEW_TIME_STEPS);

			snprintf(add(entries, count, VIEW_MARK_BOX, (uint8_t)(VIEW_Q0 + i))->label, 96,
				 "up to %s", format__time(upper, "\xc2\xb5s").text);
		}
	} else {
		add_definitions(view, entries, count);
	}
}

/* What occurs in the scene and needs an explanation in the legend. */
struct present {
	bool undeferred, incomplete, discarded, group, idle, ancestor, dependence, capped, implicit, chunk;
	bool hidden, loop, sections, closed, open, skip;
};

static void look_at_chunk(const struct view *view, const struct scene_node *n, struct present *p)
{
	struct grain_iterations it;
	struct grain_loop loop;

	p->chunk = true;
	if (!grain_graph__iterations(view->graph, n->context, &it) || it.loop == GRAIN_NONE)
		return;
	grain_graph__loop(view->graph, it.loop, &loop);
	p->hidden |= it.hidden;
	p->loop |= !loop.sections && !it.hidden;
	p->sections |= loop.sections;
}

static struct present look(const struct view *view, const struct scene *scene)
{
	struct present p = {0};

	for (size_t i = 0; i < scene->node_count; i++) {
		const struct scene_node *n = &scene->nodes[i];

		p.undeferred |= n->undeferred && n->shape == SCENE_FORK;
		p.incomplete |= n->incomplete;
		p.discarded |= n->discarded;
		p.group |= n->shape == SCENE_GROUP;
		p.closed |= n->shape == SCENE_CLOSED;
		p.open |= n->shape == SCENE_OPEN;
		p.skip |= n->shape == SCENE_SKIP;
		p.idle |= n->shape == SCENE_IDLE;
		p.capped |= n->capped;
		if (n->shape == SCENE_CHUNK)
			look_at_chunk(view, n, &p);
		p.implicit |= view__colour(view, n) == VIEW_IMPLICIT;
	}
	for (size_t i = 0; i < scene->edge_count; i++) {
		p.ancestor |= scene->edges[i].kind == SCENE_ANCESTOR;
		p.dependence |= scene->edges[i].kind == SCENE_DEPENDENCE;
	}
	return p;
}

size_t view__legend(const struct view *view, const struct scene *scene,
		    struct view_legend_entry entries[VIEW_LEGEND_MAX])
{
	const struct present p = look(view, scene);
	uint8_t fork = view__dims(view) ? VIEW_DIM : VIEW_FORK,
		join = view__dims(view) ? VIEW_DIM : VIEW_JOIN;
	size_t n = 0;

	if (view__dims(view))
		add_heat(view, entries, &n);
	else
		add_property(view, entries, &n);
	if (p.implicit)
		snprintf(add(entries, &n, VIEW_MARK_BOX, VIEW_IMPLICIT)->label, 96, "implicit task");
	if (p.chunk) {
		snprintf(add(entries, &n, VIEW_MARK_WIDE, VIEW_CHUNK)->label, 96, "%s%s%s%s%s",
			 p.loop || !(p.hidden || p.sections) ? "loop chunk" : "",
			 p.loop && (p.hidden || p.sections) ? ", " : "",
			 p.hidden ? "static share, bounds not observable" : "",
			 p.hidden && p.sections ? ", " : "", p.sections ? "section" : "");
		snprintf(add(entries, &n, VIEW_MARK_BOX, VIEW_BOOK)->label, 96, "book-keeping");
	}
	if (p.group)
		snprintf(add(entries, &n, VIEW_MARK_GROUP, VIEW_GROUP)->label, 96, "folded: grains, time");
	if (p.closed)
		snprintf(add(entries, &n, VIEW_MARK_GROUP, VIEW_GROUP)->label, 96, "group: members%s",
			 view__dims(view) ? ", grains; time, share with the problem" : ", grains; time");
	if (p.open) {
		snprintf(add(entries, &n, VIEW_MARK_OPEN, VIEW_GROUP)->label, 96, "open family");
		snprintf(add(entries, &n, VIEW_MARK_OPEN_SIBLINGS, VIEW_GROUP)->label, 96, "open siblings");
	}
	if (p.skip)
		snprintf(add(entries, &n, VIEW_MARK_SKIP, VIEW_GROUP)->label, 96,
			 "\xc2\xbb n grains without the problem");
	snprintf(add(entries, &n, VIEW_MARK_CIRCLE, fork)->label, 96,
		 scene->reduced ? "fork (n children)" : "fork");
	if (p.undeferred)
		snprintf(add(entries, &n, VIEW_MARK_RING, fork)->label, 96, "undeferred");
	snprintf(add(entries, &n, VIEW_MARK_CIRCLE, join)->label, 96, "join");
	snprintf(add(entries, &n, VIEW_MARK_CRITICAL, 0)->label, 96, "critical path");
	if (p.ancestor)
		snprintf(add(entries, &n, VIEW_MARK_ANCESTOR, 0)->label, 96, "joined by an ancestor");
	if (p.dependence)
		snprintf(add(entries, &n, VIEW_MARK_DEPENDENCE, 0)->label, 96, "dependence");
	if (p.discarded)
		snprintf(add(entries, &n, VIEW_MARK_DISCARDED, 0)->label, 96,
			 "empty, dotted outline: discarded");
	if (p.incomplete)
		snprintf(add(entries, &n, VIEW_MARK_INCOMPLETE, 0)->label, 96, "dashed outline: incomplete");
	return n;
}
