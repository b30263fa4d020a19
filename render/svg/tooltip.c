/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/svg/tooltip.h"

#include <math.h>
#include <stdio.h>

#define MICRO "\xc2\xb5s"

static const char *time_text(struct format_number *number, uint64_t ns)
{
	*number = format__time((double)ns, MICRO);
	return number->text;
}

static void add_id(const struct grain_graph *graph, uint32_t context, struct format_text *out)
{
	char id[160];
	size_t length;

	if (context == GRAIN_NONE) {
		format__add(out, "?");
		return;
	}
	length = grain_graph__context_id(graph, context, id, sizeof(id));
	format__add(out, id);
	if (length >= sizeof(id))
		format__add(out, "..");
}

#define NAME_MAX_COLUMNS 1000 /* longer names, as in C++, are shortened in the middle */

static void add_source(const struct grain_graph *graph, uint32_t definition, struct format_text *out)
{
	struct grain_definition d;
	char source[160], function[4 * NAME_MAX_COLUMNS + 1];

	if (definition >= grain_graph__definition_count(graph))
		return;
	grain_graph__definition(graph, definition, &d);
	format__printf(out, "\n%s ", format__clean(source, sizeof(source), d.source, 70));
	format__add(out, format__clean(function, sizeof(function), d.function, NAME_MAX_COLUMNS));
}

static void add_metric(struct format_text *out, const char *name, double value, bool flagged)
{
	if (!isnan(value))
		format__printf(out, "\n%s %s%s", name, format__ratio(value).text,
			       flagged ? " (problem)" : "");
}

static void add_iterations(const struct grain_graph *graph, uint32_t context, struct format_text *out)
{
	struct grain_iterations it;
	struct grain_loop loop = {.schedule = NULL};

	if (!grain_graph__iterations(graph, context, &it))
		return;
	if (it.loop != GRAIN_NONE)
		grain_graph__loop(graph, it.loop, &loop);
	if (it.hidden)
		format__add(out, "\nstatic share, bounds not observable");
	else if (it.is_unsigned)
		format__printf(out, "\niterations %llu to %llu", (unsigned long long)it.lower,
			       (unsigned long long)it.upper);
	else
		format__printf(out, "\n%s %lld to %lld", loop.sections ? "sections" : "iterations",
			       (long long)it.lower, (long long)it.upper);
	if (it.chunks > 1)
		format__printf(out, "\nand %s more chunks", format__count(it.chunks - 1).text);
	if (it.chunks > 1 && it.stride)
		format__printf(out, ", each %lld on", (long long)it.stride);
	if (loop.schedule && !loop.sections)
		format__printf(out, "\nschedule %s", loop.schedule);
	if (loop.schedule && !loop.sections && loop.chunk)
		format__printf(out, ", %lld", (long long)loop.chunk);
}

static void add_loop(const struct grain_graph *graph, uint32_t index, struct format_text *out)
{
	struct grain_loop loop;
	char id[160];

	if (index >= grain_graph__loop_count(graph))
		return;
	grain_graph__loop(graph, index, &loop);
	grain_graph__loop_id(graph, index, id, sizeof(id));
	format__printf(out, "\nof %s %s", loop.sections ? "sections" : "loop", id);
	add_source(graph, loop.definition, out);
}

static void add_metrics(const struct grain_context *c, struct format_text *out)
{
	static const struct {
		const char *name;
		enum grain_problem problem;
	} metrics[] = {
		{"parallel benefit", GRAIN_PROBLEM_PARALLEL_BENEFIT},
		{"load balance", GRAIN_PROBLEM_LOAD_BALANCE},
		{"instantaneous parallelism", GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM},
		{"work deviation", GRAIN_PROBLEM_WORK_DEVIATION},
		{"scatter", GRAIN_PROBLEM_SCATTER},
		{"memory hierarchy utilization", GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION},
		{"cache miss ratio", GRAIN_PROBLEM_CACHE_MISS_RATIO},
	};
	const double values[] = {c->parallel_benefit, c->load_balance, c->instantaneous_parallelism,
				 c->work_deviation,   c->scatter,      c->memory_hierarchy_utilization,
				 c->cache_miss_ratio};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		add_metric(out, metrics[i].name, values[i], c->problems & 1u << metrics[i].problem);
}

static void add_context(const struct grain_graph *graph, const struct scene_node *node,
			struct format_text *out)
{
	static const char *const kinds[] = {"initial task", "implicit task", "task", "chunk"};
	struct grain_context c;
	struct format_number n;

	grain_graph__context(graph, node->context, &c);
	format__printf(out, "%s ", c.kind <= GRAIN_CHUNK ? kinds[c.kind] : "context");
	add_id(graph, node->context, out);
	add_source(graph, c.definition, out);
	add_iterations(graph, node->context, out);
	if (node->shape == SCENE_FRAGMENT || node->shape == SCENE_CHUNK)
		format__printf(out, "\nthis fragment %s", time_text(&n, node->time_ns));
	format__printf(out, "\nexecution %s", time_text(&n, c.exec_ns));
	if (c.kind == GRAIN_TASK)
		format__printf(out, "\ncreation %s", time_text(&n, c.create_ns));
	if (c.kind == GRAIN_CHUNK)
		format__printf(out, "\nbook-keeping %s", time_text(&n, c.bookkeeping_ns));
	if (c.lock_ns)
		format__printf(out, "\nwaiting for locks %s", time_text(&n, c.lock_ns));
	if (c.wait_ns)
		format__printf(out, "\nwaiting %s", time_text(&n, c.wait_ns));
	format__printf(out, "\nthread %u, cpu %u", node->tid, node->cpu);
	if (c.kind == GRAIN_TASK)
		format__printf(out, ", depth %u", c.depth);
	add_metrics(&c, out);
	if (c.undeferred)
		format__add(out, "\nundeferred: ran inside its creation");
	if (c.discarded)
		format__add(out, "\ndiscarded: cancelled before it began");
	if (c.runtime)
		format__add(out, "\nmade by the runtime to split a taskloop");
	if (c.detached && c.fulfilled_ns > c.end_ns)
		format__printf(out, "\ndetached: its event came %s after its end",
			       time_text(&n, c.fulfilled_ns - c.end_ns));
	else if (c.detached)
		format__add(out, c.fulfilled_ns ? "\ndetached" : "\ndetached: its event was not seen");
	if (c.incomplete)
		format__add(out, "\nincomplete: not all of it was seen");
	if (node->capped)
		format__add(out, "\ndrawn shorter than its time");
	if (node->critical)
		format__add(out, "\non the critical path");
}

static void add_join(const struct grain_graph *graph, const struct scene_node *node, struct format_text *out)
{
	static const char *const kinds[] = {"taskwait", "end of taskgroup", "barrier", "end of region",
					    "end of loop"};
	struct grain_join j;
	struct format_number n;
	char id[160];

	if (node->ref == GRAIN_NONE) {
		format__add(out, "join\nincomplete: not seen");
		return;
	}
	grain_graph__join(graph, node->ref, &j);
	grain_graph__join_id(graph, node->ref, id, sizeof(id));
	format__printf(out, "%s %s\njoins %s\nfrom the first to wait to the last to go on %s",
		       j.kind <= GRAIN_JOIN_LOOP ? kinds[j.kind] : "join", id, format__count(j.joined).text,
		       time_text(&n, j.end_ns - j.start_ns));
	if (node->critical)
		format__add(out, "\non the critical path");
}

static void add_fork(const struct grain_graph *graph, const struct scene_node *node, struct format_text *out)
{
	struct format_number n;

	if (node->region != GRAIN_NONE) {
		struct grain_region r;
		char id[160];

		grain_graph__region(graph, node->region, &r);
		grain_graph__region_id(graph, node->region, id, sizeof(id));
		format__printf(out, "%s %s", r.teams ? "teams" : "parallel region", id);
		add_source(graph, r.definition, out);
		format__printf(out, "\n%u threads, %s tasks, %s", r.threads, format__count(r.tasks).text,
			       time_text(&n, r.end_ns - r.start_ns));
		if (!isnan(r.load_balance))
			format__printf(out, "\nload balance %s", format__ratio(r.load_balance).text);
		if (r.incomplete)
			format__add(out, "\nincomplete: not all of it was seen");
		return;
	}
	format__printf(out, "creates %s by ", format__count(node->grains).text);
	add_id(graph, node->context, out);
	if (node->time_ns)
		format__printf(out, "\ncreation %s", time_text(&n, node->time_ns));
	if (node->undeferred)
		format__add(out, "\nundeferred: the child ran inside");
}

void tooltip__frame_label(const struct grain_graph *graph, const struct scene *scene,
			  const struct scene_node *node, struct format_text *out)
{
	struct grain_definition d = {.source = ""};
	struct grain_group g;
	char name[160];

	grain_groups__get(scene->groups, node->group, &g);
	if (g.definition < grain_graph__definition_count(graph))
		grain_graph__definition(graph, g.definition, &d);
	switch (g.kind) {
	case GRAIN_GROUP_FAMILY:
		format__add(out, "family of ");
		add_id(graph, g.context, out);
		return;
	case GRAIN_GROUP_REGION:
		grain_graph__region_id(graph, g.region, name, sizeof(name));
		format__printf(out, "region %s", name);
		break;
	case GRAIN_GROUP_SIBLINGS:
		if (g.loop != GRAIN_NONE)
			format__printf(out, "%s chunk%s of a loop", format__count(g.members).text,
				       g.members == 1 ? "" : "s");
		else if (g.members == 1)
			format__add(out, "lone child");
		else
			format__printf(out, "%s siblings", format__count(g.members).text);
		break;
	case GRAIN_GROUP_PROGRAM:
		format__add(out, "program");
		return;
	}
	if (*d.source)
		format__printf(out, " \xc2\xb7 %s", format__clean(name, sizeof(name), d.source, 70));
}

static void add_group(const struct grain_graph *graph, const struct scene *scene,
		      const struct scene_node *node, struct format_text *out)
{
	struct grain_group g;
	struct format_number n;

	grain_groups__get(scene->groups, node->group, &g);
	tooltip__frame_label(graph, scene, node, out);
	if (g.kind == GRAIN_GROUP_FAMILY)
		add_source(graph, g.definition, out);
	format__printf(out, "\n%s members, %s grains\nexecution %s", format__count(g.members).text,
		       format__count(g.grains).text, time_text(&n, g.exec_ns));
	if (g.create_ns)
		format__printf(out, "\ncreation %s", time_text(&n, g.create_ns));
	add_metric(out, "smallest parallel benefit", g.parallel_benefit,
		   g.problems & 1u << GRAIN_PROBLEM_PARALLEL_BENEFIT);
	add_metric(out, "largest load balance", g.load_balance,
		   g.problems & 1u << GRAIN_PROBLEM_LOAD_BALANCE);
	add_metric(out, "smallest instantaneous parallelism", g.instantaneous_parallelism,
		   g.problems & 1u << GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM);
	add_metric(out, "largest work deviation", g.work_deviation,
		   g.problems & 1u << GRAIN_PROBLEM_WORK_DEVIATION);
	add_metric(out, "largest scatter", g.scatter, g.problems & 1u << GRAIN_PROBLEM_SCATTER);
	add_metric(out, "smallest memory hierarchy utilization", g.memory_hierarchy_utilization,
		   g.problems & 1u << GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION);
	add_metric(out, "largest cache miss ratio", g.cache_miss_ratio,
		   g.problems & 1u << GRAIN_PROBLEM_CACHE_MISS_RATIO);
	if (node->flagged)
		format__printf(out, "\nwith the problem %s", format__count(node->flagged).text);
	if (g.critical)
		format__add(out, "\non the critical path");
}

void tooltip__node(const struct grain_graph *graph, const struct scene *scene, const struct scene_node *node,
		   struct format_text *out)
{
	struct format_number n;

	switch (node->shape) {
	case SCENE_FORK:
		add_fork(graph, node, out);
		break;
	case SCENE_JOIN:
		add_join(graph, node, out);
		break;
	case SCENE_BOOKKEEPING:
		format__printf(out, "book-keeping %s", time_text(&n, node->time_ns));
		if (node->ref != GRAIN_NONE) {
			struct grain_item item;

			grain_graph__item(graph, node->ref, &item);
			add_loop(graph, item.ref, out);
		}
		break;
	case SCENE_IDLE:
		format__printf(out, "%s idle team members\nexecution %s", format__count(node->grains).text,
			       time_text(&n, node->time_ns));
		break;
	case SCENE_GROUP:
		format__printf(out, "folded: %s grains\nexecution %s", format__count(node->grains).text,
			       time_text(&n, node->time_ns));
		if (node->flagged)
			format__printf(out, "\nwith the problem %s", format__count(node->flagged).text);
		if (node->context != GRAIN_NONE) {
			format__add(out, "\nfirst ");
			add_id(graph, node->context, out);
		}
		if (node->incomplete)
			format__add(out, "\nwith incomplete grains");
		if (node->critical)
			format__add(out, "\non the critical path");
		break;
	case SCENE_CLOSED:
	case SCENE_OPEN:
		add_group(graph, scene, node, out);
		break;
	case SCENE_SKIP:
		format__printf(out, "without the problem: %s members, %s grains\nexecution %s",
			       format__count(node->members).text, format__count(node->grains).text,
			       time_text(&n, node->time_ns));
		break;
	default:
		add_context(graph, node, out);
	}
}

void tooltip__group_label(const struct scene_node *node, char first[TOOLTIP_LABEL],
			  char second[TOOLTIP_LABEL])
{
	struct format_number time = format__time((double)node->time_ns, MICRO);

	*second = '\0';
	if (node->shape == SCENE_SKIP) {
		snprintf(first, TOOLTIP_LABEL, "\xc2\xbb %s",
			 format__count_short(node->grains ? node->grains : node->members).text);
		return;
	}
	if (node->shape == SCENE_GROUP) {
		snprintf(first, TOOLTIP_LABEL, "%s", format__count_short(node->grains).text);
		snprintf(second, TOOLTIP_LABEL, "%s", time.text);
		return;
	}
	snprintf(first, TOOLTIP_LABEL, "%s \xc2\xb7 %s", format__count_short(node->members).text,
		 format__count_short(node->grains).text);
	if (node->flagged && node->grains)
		snprintf(second, TOOLTIP_LABEL, "%s \xc2\xb7 %s %%", time.text,
			 format__percent(100.0 * (double)node->flagged / (double)node->grains).text);
	else
		snprintf(second, TOOLTIP_LABEL, "%s", time.text);
}
