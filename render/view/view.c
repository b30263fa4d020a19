/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/view/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/include/grain_numa.h"
#include "render/base/severity.h"

static const struct view_colour colours[VIEW_COLOURS] = {
	{"d0", "#4A6CC4", "#7290E5"},	 {"d1", "#9A8FD7", "#AB95D2"},	  {"d2", "#D2A62B", "#E0BA52"},
	{"d3", "#5EC4D1", "#69CBCE"},	 {"d4", "#C4778F", "#D98FA8"},	  {"d5", "#36315E", "#B2C9FE"},
	{"d6", "#483EC1", "#CEDDFF"},	 {"d7", "#8A6A10", "#F3DFA4"},	  {"d8", "#407086", "#B8FFFC"},
	{"d9", "#71364B", "#DFE5D7"},	 {"other", "#B7BECA", "#4A5465"}, {"h0", "#BF1B2C", "#CC2B3E"},
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
	{RENDER_VIEW_NODE, "node", GRAIN_PROBLEM_COUNT},
	{RENDER_VIEW_TIME, "time", GRAIN_PROBLEM_COUNT},
};

const struct view_colour *view_colour__get(size_t index)
{
	return &colours[index];
}

static double channel(const char *hex)
{
	char digits[3] = {hex[0], hex[1], '\0'};
	double c = (double)strtoul(digits, NULL, 16) / 255;

	return c <= .04045 ? c / 12.92 : pow((c + .055) / 1.055, 2.4);
}

double view_colour__luminance(const char *colour)
{
	return .2126 * channel(colour + 1) + .7152 * channel(colour + 3) + .0722 * channel(colour + 5);
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

/*
 * Returns the view of the problem with the most time at stake. If there is none, returns the first view that
 * has something to show.
 */
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

/* Refuses the view of NUMA nodes if there is only one node. Returns 0, or -ENODATA with *err. */
static int need_nodes(const struct grain_graph *graph, struct grain_error *err)
{
	struct grain_numa numa;

	grain_graph__numa(graph, &numa);
	if (numa.absent && err)
		snprintf(err->text, sizeof(err->text), "no view of NUMA nodes: %s; choose another view",
			 numa.absent);
	return numa.absent ? -ENODATA : 0;
}

int view__init(struct view *view, const struct grain_graph *graph, enum render_view wanted,
	       struct grain_error *err)
{
	size_t definitions = grain_graph__definition_count(graph);

	memset(view, 0, sizeof(*view));
	view->graph = graph;
	view->view = wanted == RENDER_VIEW_PROBLEM ? worst_view(graph) : wanted;
	view->problem = problem_of(view->view);
	if (view->view == RENDER_VIEW_NODE && need_nodes(graph, err) < 0)
		return -ENODATA;
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
		n->severity = (float)severity__of(&c, view->problem, view->summary.threshold);
		n->flagged = n->severity > 0;
	}
	qsort(view->tids, view->tid_count, sizeof(*view->tids), compare_tids);
}

bool view__dims(const struct view *view)
{
	return view->problem < GRAIN_PROBLEM_COUNT;
}

static uint8_t heat(double severity)
{
	int step = (int)(severity * VIEW_HEAT_STEPS);

	return (uint8_t)(VIEW_H0 + VIEW_HEAT_STEPS - 1 -
			 (step >= VIEW_HEAT_STEPS ? VIEW_HEAT_STEPS - 1 : step));
}

uint8_t view__ranked(size_t rank)
{
	return (uint8_t)(rank < VIEW_RANKS ? VIEW_D0 + rank : VIEW_OTHER);
}

static uint8_t of_definition(const struct view *view, uint32_t definition)
{
	return definition < grain_graph__definition_count(view->graph)
		       ? view__ranked(view->definition_rank[definition])
		       : VIEW_OTHER;
}

static uint8_t property(const struct view *view, const struct scene_node *node, const struct grain_context *c)
{
	double share;

	switch (view->view) {
	case RENDER_VIEW_THREAD:
		for (size_t i = 0; i < view->tid_count; i++)
			if (view->tids[i] == node->tid)
				return view__ranked(i);
		return VIEW_OTHER;
	case RENDER_VIEW_NODE:
		return view__ranked(grain_graph__node_of_cpu(view->graph, node->cpu));
	case RENDER_VIEW_TIME:
		share = log(fmax(1, (double)c->exec_ns) / view->shortest_ns) /
			log(view->longest_ns / view->shortest_ns);
		return (uint8_t)(VIEW_Q0 + (share <= 0	 ? 0
					    : share >= 1 ? VIEW_TIME_STEPS - 1
							 : (int)(share * VIEW_TIME_STEPS)));
	default:
		if (c->kind == GRAIN_CHUNK && c->definition >= grain_graph__definition_count(view->graph))
			return VIEW_CHUNK;
		return of_definition(view, c->definition);
	}
}

uint8_t view__colour(const struct view *view, const struct scene_node *node)
{
	struct grain_context c;

	switch (node->shape) {
	case SCENE_FORK:
		return view__dims(view) ? VIEW_DIM : VIEW_FORK;
	case SCENE_JOIN:
		return view__dims(view) ? VIEW_DIM : VIEW_JOIN;
	case SCENE_BOOKKEEPING:
		return view__dims(view) ? VIEW_DIM : VIEW_BOOK;
	case SCENE_IDLE:
		return VIEW_DIM;
	case SCENE_OPEN:
	case SCENE_SKIP:
		return VIEW_GROUP;
	case SCENE_GROUP:
	case SCENE_CLOSED:
		if (view__dims(view) && node->severity > 0)
			return heat(node->severity);
		return view->view == RENDER_VIEW_DEFINITION && node->shape == SCENE_CLOSED
			       ? of_definition(view, node->definition)
			       : VIEW_GROUP;
	default:
		break;
	}
	grain_graph__context(view->graph, node->context, &c);
	if (view__dims(view) && node->severity > 0)
		return heat(node->severity);
	if ((c.kind == GRAIN_INITIAL || c.kind == GRAIN_IMPLICIT) && view->view != RENDER_VIEW_THREAD &&
	    view->view != RENDER_VIEW_NODE)
		return VIEW_IMPLICIT;
	return view__dims(view) ? VIEW_DIM : property(view, node, &c);
}

void view__limit(const struct view *view, double share, char *out, size_t size)
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
	case RENDER_VIEW_NODE:
		format__add(out, "grains by NUMA node");
		return;
	case RENDER_VIEW_TIME:
		format__add(out, "grains by execution time");
		return;
	default:
		words(view->summary.name, name, sizeof(name));
		view__limit(view, 1, bound, sizeof(bound));
		format__printf(out, "%s %s \xc2\xb7 %s of %s grains (%s %%)", name, bound,
			       format__count(view->summary.grains).text, format__count(totals->grains).text,
			       format__percent(view->summary.percent).text);
	}
}
