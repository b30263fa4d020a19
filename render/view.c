/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/severity.h"

#define HEAT_STEPS 4
#define TIME_STEPS 5

static const struct view_colour colours[] = {
	{"d0", "#4C78C4", "#6C97E6"},	 {"d1", "#9A7BD0", "#B39AE6"},	  {"d2", "#D2A62B", "#E0BA52"},
	{"d3", "#58B0CF", "#74C5E2"},	 {"d4", "#B9719F", "#D393BC"},	  {"d5", "#2F4E86", "#A9C4F5"},
	{"d6", "#5E4496", "#D9CCF7"},	 {"d7", "#8A6A10", "#F3DFA4"},	  {"d8", "#2A7590", "#B5E2F1"},
	{"d9", "#7C3E66", "#EBC5DC"},	 {"other", "#B7BECA", "#4A5465"}, {"h0", "#BF1B2C", "#CC2B3E"},
	{"h1", "#F0742F", "#F57F3B"},	 {"h2", "#FDB44B", "#FFBA57"},	  {"h3", "#FFE08A", "#FFE69A"},
	{"q0", "#DCE6F5", "#24324A"},	 {"q1", "#AFC7EA", "#34507F"},	  {"q2", "#7BA1DB", "#4A74BC"},
	{"q3", "#4C78C4", "#7DA4EC"},	 {"q4", "#26437C", "#C3D7FA"},	  {"implicit", "#8A94A6", "#7A8598"},
	{"dim", "#E3E7ED", "#262D38"},	 {"fork", "#2E8B57", "#3FB37A"},  {"join", "#FF7F50", "#FF8F66"},
	{"chunk", "#7CC79B", "#5FB486"}, {"book", "#22B8B0", "#2CC7BF"},  {"group", "#F6F7F9", "#161B24"},
};

static const struct {
	enum render_view view;
	const char *name;
	enum grain_problem problem;
} views[] = {
	{RENDER_VIEW_PROBLEM, "problem", GRAIN_PROBLEM_COUNT},
	{RENDER_VIEW_PARALLEL_BENEFIT, "parallel_benefit", GRAIN_PROBLEM_PARALLEL_BENEFIT},
	{RENDER_VIEW_LOAD_BALANCE, "load_balance", GRAIN_PROBLEM_LOAD_BALANCE},
	{RENDER_VIEW_WORK_DEVIATION, "work_deviation", GRAIN_PROBLEM_WORK_DEVIATION},
	{RENDER_VIEW_INSTANTANEOUS_PARALLELISM, "instantaneous_parallelism",
	 GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM},
	{RENDER_VIEW_SCATTER, "scatter", GRAIN_PROBLEM_SCATTER},
	{RENDER_VIEW_MEMORY_HIERARCHY_UTILIZATION, "memory_hierarchy_utilization",
	 GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION},
	{RENDER_VIEW_CACHE_MISS_RATIO, "cache_miss_ratio", GRAIN_PROBLEM_CACHE_MISS_RATIO},
	{RENDER_VIEW_DEFINITION, "definition", GRAIN_PROBLEM_COUNT},
	{RENDER_VIEW_THREAD, "thread", GRAIN_PROBLEM_COUNT},
	{RENDER_VIEW_TIME, "time", GRAIN_PROBLEM_COUNT},
};

size_t view_colour__count(void)
{
	return sizeof(colours) / sizeof(*colours);
}

const struct view_colour *view_colour__get(size_t index)
{
	return &colours[index];
}

const char *view_colour__light(const char *name)
{
	for (size_t i = 0; i < view_colour__count(); i++)
		if (strcmp(colours[i].name, name) == 0)
			return colours[i].light;
	return "#B7BECA";
}

int render_view__parse(const char *name, enum render_view *out)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		if (strcmp(views[i].name, name) == 0) {
			*out = views[i].view;
			return 0;
		}
	}
	return -EINVAL;
}

const char *render_view__name(enum render_view view)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (views[i].view == view)
			return views[i].name;
	return "unknown";
}

static enum grain_problem problem_of(enum render_view view)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (views[i].view == view)
			return views[i].problem;
	return GRAIN_PROBLEM_COUNT;
}

static enum render_view view_of(enum grain_problem problem)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (problem < GRAIN_PROBLEM_COUNT && views[i].problem == problem)
			return views[i].view;
	return RENDER_VIEW_COUNT;
}

/* By time at stake; when nothing is, the first view that has something to show. */
static enum render_view worst_view(const struct grain_graph *graph)
{
	struct grain_problem_summary s;

	for (size_t i = 0; i < grain_graph__advice_count(graph); i++) {
		struct grain_advice advice;

		grain_graph__advice(graph, i, &advice);
		if (view_of(advice.problem) == RENDER_VIEW_COUNT)
			continue;
		grain_graph__problem(graph, advice.problem, &s);
		if (s.available)
			return view_of(advice.problem);
	}
	for (int p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		grain_graph__problem(graph, (enum grain_problem)p, &s);
		if (s.available && s.grains && view_of((enum grain_problem)p) != RENDER_VIEW_COUNT)
			return view_of((enum grain_problem)p);
	}
	return RENDER_VIEW_DEFINITION;
}

/* "parallel_benefit" as words. */
static void words(const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s", name);
	for (; *out; out++)
		if (*out == '_')
			*out = ' ';
}

int view__init(struct view *view, const struct grain_graph *graph, enum render_view wanted,
	       struct grain_error *err)
{
	size_t definitions = grain_graph__definition_count(graph);

	memset(view, 0, sizeof(*view));
	view->graph = graph;
	view->view = wanted == RENDER_VIEW_PROBLEM ? worst_view(graph) : wanted;
	view->problem = problem_of(view->view);
	if (view->problem < GRAIN_PROBLEM_COUNT) {
		grain_graph__problem(graph, view->problem, &view->summary);
		if (!view->summary.available) {
			char name[64];

			words(view->summary.name, name, sizeof(name));
			if (err)
				snprintf(err->text, sizeof(err->text),
					 "no view of %s: %s; choose another view", name,
					 view->summary.why && *view->summary.why
						 ? view->summary.why
						 : "it could not be measured");
			return -ENODATA;
		}
	}
	view->definition_rank = malloc((definitions + 1) * sizeof(*view->definition_rank));
	if (!view->definition_rank)
		return -ENOMEM;
	for (size_t i = 0; i < definitions; i++)
		view->definition_rank[i] = GRAIN_NONE;
	view->shortest_ns = INFINITY;
	for (size_t i = 0; i < grain_graph__profile_count(graph); i++) {
		struct grain_profile profile;

		grain_graph__profile(graph, i, &profile);
		if (profile.definition < definitions)
			view->definition_rank[profile.definition] = (uint32_t)i;
		view->shortest_ns = fmin(view->shortest_ns, (double)profile.exec.min);
		view->longest_ns = fmax(view->longest_ns, (double)profile.exec.max);
	}
	view->shortest_ns = fmax(1, fmin(view->shortest_ns, view->longest_ns));
	view->longest_ns = fmax(view->longest_ns, view->shortest_ns * 2);
	return 0;
}

void view__free(struct view *view)
{
	free(view->definition_rank);
	view->definition_rank = NULL;
}

static int compare_tids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void note_tid(struct view *view, uint32_t tid)
{
	for (size_t i = 0; i < view->tid_count; i++)
		if (view->tids[i] == tid)
			return;
	if (view->tid_count == VIEW_RANKS)
		view->more_tids = true;
	else
		view->tids[view->tid_count++] = tid;
}

void view__look_at(struct view *view, struct scene *scene)
{
	for (size_t i = 0; i < scene->node_count; i++) {
		struct scene_node *n = &scene->nodes[i];
		struct grain_context c;

		if ((n->shape != SCENE_FRAGMENT && n->shape != SCENE_CHUNK && n->shape != SCENE_BOX) ||
		    n->context == GRAIN_NONE)
			continue;
		note_tid(view, n->tid);
		if (n->shape == SCENE_BOX)
			continue;
		grain_graph__context(view->graph, n->context, &c);
		n->severity = severity__of(&c, view->problem, view->summary.threshold);
		n->flagged = n->severity > 0;
	}
	qsort(view->tids, view->tid_count, sizeof(*view->tids), compare_tids);
}

bool view__dims(const struct view *view)
{
	return view->problem < GRAIN_PROBLEM_COUNT;
}

static const char *heat(double severity)
{
	static const char *const steps[HEAT_STEPS] = {"h3", "h2", "h1", "h0"};
	int step = (int)(severity * HEAT_STEPS);

	return steps[step >= HEAT_STEPS ? HEAT_STEPS - 1 : step];
}

static const char *ranked(size_t rank)
{
	static const char *const names[VIEW_RANKS] = {"d0", "d1", "d2", "d3", "d4",
						      "d5", "d6", "d7", "d8", "d9"};

	return rank < VIEW_RANKS ? names[rank] : "other";
}

static const char *property(const struct view *view, const struct scene_node *node,
			    const struct grain_context *c)
{
	static const char *const times[TIME_STEPS] = {"q0", "q1", "q2", "q3", "q4"};
	double share;

	switch (view->view) {
	case RENDER_VIEW_THREAD:
		for (size_t i = 0; i < view->tid_count; i++)
			if (view->tids[i] == node->tid)
				return ranked(i);
		return "other";
	case RENDER_VIEW_TIME:
		share = log(fmax(1, (double)c->exec_ns) / view->shortest_ns) /
			log(view->longest_ns / view->shortest_ns);
		return times[share <= 0 ? 0 : share >= 1 ? TIME_STEPS - 1 : (int)(share * TIME_STEPS)];
	default:
		if (c->kind == GRAIN_CHUNK && c->definition >= grain_graph__definition_count(view->graph))
			return "chunk";
		return c->definition < grain_graph__definition_count(view->graph)
			       ? ranked(view->definition_rank[c->definition])
			       : "other";
	}
}

const char *view__colour(const struct view *view, const struct scene_node *node)
{
	struct grain_context c;

	switch (node->shape) {
	case SCENE_FORK:
		return view__dims(view) ? "dim" : "fork";
	case SCENE_JOIN:
		return view__dims(view) ? "dim" : "join";
	case SCENE_BOOKKEEPING:
		return view__dims(view) ? "dim" : "book";
	case SCENE_IDLE:
		return "dim";
	case SCENE_GROUP:
		return view__dims(view) && node->severity > 0 ? heat(node->severity) : "group";
	default:
		break;
	}
	grain_graph__context(view->graph, node->context, &c);
	if (view__dims(view) && node->severity > 0)
		return heat(node->severity);
	if ((c.kind == GRAIN_INITIAL || c.kind == GRAIN_IMPLICIT) && view->view != RENDER_VIEW_THREAD)
		return "implicit";
	return view__dims(view) ? "dim" : property(view, node, &c);
}

/* "below 1", "above 2"; with `share`, of a step of the heat scale. */
static void limit(const struct view *view, double share, char *out, size_t size)
{
	bool low = severity__is_low_bad(view->problem);
	double value = low ? view->summary.threshold * share : view->summary.threshold / share;

	snprintf(out, size, "%s %.3g", low ? "below" : "above", value);
}

void view__headline(const struct view *view, struct format_text *out)
{
	const struct grain_totals *totals = grain_graph__totals(view->graph);
	char name[64], bound[48];

	switch (view->view) {
	case RENDER_VIEW_DEFINITION:
		format__add(out, "grains by source line");
		return;
	case RENDER_VIEW_THREAD:
		format__add(out, "grains by thread");
		return;
	case RENDER_VIEW_TIME:
		format__add(out, "grains by execution time");
		return;
	default:
		words(view->summary.name, name, sizeof(name));
		limit(view, 1, bound, sizeof(bound));
		format__printf(out, "%s %s \xc2\xb7 %s of %s grains (%s %%)", name, bound,
			       format__count(view->summary.grains).text, format__count(totals->grains).text,
			       format__percent(view->summary.percent).text);
	}
}

/* ---- legend ----------------------------------------------------------- */

static struct view_legend_entry *add(struct view_legend_entry *entries, size_t *count, enum view_mark mark,
				     const char *colour)
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
		struct view_legend_entry *e = add(entries, count, VIEW_MARK_BOX, ranked(i));

		snprintf(e->label, sizeof(e->label), "%s %s",
			 format__clean(source, sizeof(source), d.source, 32),
			 format__clean(function, sizeof(function), d.function, 24));
	}
	if (profiles > VIEW_RANKS)
		snprintf(add(entries, count, VIEW_MARK_BOX, "other")->label, 96, "%zu others",
			 profiles - VIEW_RANKS);
}

static void add_heat(const struct view *view, struct view_legend_entry *entries, size_t *count)
{
	static const double shares[HEAT_STEPS] = {.25, .5, .75, 1};
	static const char *const names[HEAT_STEPS] = {"h0", "h1", "h2", "h3"};
	char bound[48];

	for (int i = 0; i < HEAT_STEPS; i++) {
		limit(view, shares[i], bound, sizeof(bound));
		snprintf(add(entries, count, VIEW_MARK_BOX, names[i])->label, 96, "%s", bound);
	}
	snprintf(add(entries, count, VIEW_MARK_BOX, "dim")->label, 96, "no problem");
}

static void add_property(const struct view *view, struct view_legend_entry *entries, size_t *count)
{
	if (view->view == RENDER_VIEW_THREAD) {
		for (size_t i = 0; i < view->tid_count; i++)
			snprintf(add(entries, count, VIEW_MARK_BOX, ranked(i))->label, 96, "thread %u",
				 view->tids[i]);
		if (view->more_tids)
			snprintf(add(entries, count, VIEW_MARK_BOX, "other")->label, 96, "other threads");
	} else if (view->view == RENDER_VIEW_TIME) {
		static const char *const names[TIME_STEPS] = {"q0", "q1", "q2", "q3", "q4"};

		for (int i = 0; i < TIME_STEPS; i++) {
			double upper = view->shortest_ns *
				       pow(view->longest_ns / view->shortest_ns, (i + 1.0) / TIME_STEPS);

			snprintf(add(entries, count, VIEW_MARK_BOX, names[i])->label, 96, "up to %s",
				 format__time(upper, "\xc2\xb5s").text);
		}
	} else {
		add_definitions(view, entries, count);
	}
}

/* What of the scene needs explaining. */
struct present {
	bool undeferred, incomplete, discarded, group, idle, ancestor, dependence, capped, implicit, chunk;
	bool hidden, loop, sections;
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
		p.idle |= n->shape == SCENE_IDLE;
		p.capped |= n->capped;
		if (n->shape == SCENE_CHUNK)
			look_at_chunk(view, n, &p);
		p.implicit |= strcmp(view__colour(view, n), "implicit") == 0;
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
	const char *fork = view__dims(view) ? "dim" : "fork", *join = view__dims(view) ? "dim" : "join";
	size_t n = 0;

	if (view__dims(view))
		add_heat(view, entries, &n);
	else
		add_property(view, entries, &n);
	if (p.implicit)
		snprintf(add(entries, &n, VIEW_MARK_BOX, "implicit")->label, 96, "implicit task");
	if (p.chunk) {
		snprintf(add(entries, &n, VIEW_MARK_WIDE, "chunk")->label, 96, "%s%s%s%s%s",
			 p.loop || !(p.hidden || p.sections) ? "loop chunk" : "",
			 p.loop && (p.hidden || p.sections) ? ", " : "",
			 p.hidden ? "static share, bounds not observable" : "",
			 p.hidden && p.sections ? ", " : "", p.sections ? "section" : "");
		snprintf(add(entries, &n, VIEW_MARK_BOX, "book")->label, 96, "book-keeping");
	}
	if (p.group)
		snprintf(add(entries, &n, VIEW_MARK_GROUP, "group")->label, 96, "folded: grains, time");
	snprintf(add(entries, &n, VIEW_MARK_CIRCLE, fork)->label, 96,
		 scene->reduced ? "fork (n children)" : "fork");
	if (p.undeferred)
		snprintf(add(entries, &n, VIEW_MARK_RING, fork)->label, 96, "undeferred");
	snprintf(add(entries, &n, VIEW_MARK_CIRCLE, join)->label, 96, "join");
	snprintf(add(entries, &n, VIEW_MARK_LINE, "critical")->label, 96, "critical path");
	if (p.ancestor)
		snprintf(add(entries, &n, VIEW_MARK_DASHED, "join")->label, 96, "joined by an ancestor");
	if (p.dependence)
		snprintf(add(entries, &n, VIEW_MARK_DASHED, "depend")->label, 96, "dependence");
	if (p.discarded)
		snprintf(add(entries, &n, VIEW_MARK_DASHED, "incomplete")->label, 96,
			 "empty, dotted outline: discarded");
	if (p.incomplete)
		snprintf(add(entries, &n, VIEW_MARK_DASHED, "incomplete")->label, 96,
			 "dashed outline: incomplete");
	return n;
}
