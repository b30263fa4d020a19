/* SPDX-License-Identifier: BSD-2-Clause */
/* Every group as one line of JSON, from the root down. */
#include "analysis/groups/groups.h"
#include "analysis/export/json_keys.h"

struct lines {
	const struct grain_groups *groups;
	struct json_out *out;
	uint32_t *classes;
	char *id; /* buffer; an identifier ends at the buffer's end. It grows to the longest identifier */
	size_t id_size;
};

static const char *const kinds[] = {"siblings", "family", "region", "program"};

static void write_id(struct lines *l, enum id_kind kind, uint32_t index)
{
	const struct grain_graph *g = l->groups->graph;
	size_t length;
	char *larger;

	if (index == GRAIN_NONE) {
		json_out__null(l->out);
		return;
	}
	length = graph__id_before(g, kind, index, l->id + l->id_size, l->id_size);
	if (length > l->id_size) {
		larger = realloc(l->id, length * 2);
		if (!larger) {
			l->out->error = l->out->error ? l->out->error : -ENOMEM;
			json_out__null(l->out);
			return;
		}
		l->id = larger;
		l->id_size = length * 2;
		graph__id_before(g, kind, index, l->id + l->id_size, l->id_size);
	}
	json_out__plain(l->out, l->id + l->id_size - length, length);
}

static void key_element(struct lines *l, const char *key, enum id_kind kind, uint32_t index)
{
	json_out__key(l->out, key);
	write_id(l, kind, index);
}

static void key_number(struct json_out *o, const char *key, uint32_t number)
{
	json_out__key(o, key);
	if (number == GRAIN_NONE)
		json_out__null(o);
	else
		json_out__uint(o, number);
}

/* Writes the members: contexts by identifier, groups by number. */
static void write_members(struct lines *l, uint32_t group)
{
	uint32_t n, k;
	const uint32_t *members = groups__members(l->groups, group, &n);

	json_out__key(l->out, "members");
	json_out__open(l->out, '[');
	for (k = 0; k < n; k++) {
		if (members[k] & GROUP_MEMBER)
			json_out__uint(l->out, members[k] & ~GROUP_MEMBER);
		else
			write_id(l, ID_CONTEXT, members[k]);
	}
	json_out__close(l->out, ']');
}

static void write_sums(struct lines *l, uint32_t group, const struct grain_group *g)
{
	struct json_out *o = l->out;
	bool begun = l->groups->rows[group].first != GRAIN_NONE;

	json_out__key(o, "strength");
	json_out__open(o, '[');
	json_out__uint(o, g->members);
	json_out__uint(o, g->strength);
	json_out__close(o, ']');
	key_uint(o, "grains", g->grains);
	json_out__key(o, "start_ns");
	begun ? json_out__uint(o, g->start_ns) : json_out__null(o);
	json_out__key(o, "end_ns");
	begun ? json_out__uint(o, g->end_ns) : json_out__null(o);
	key_uint(o, "exec_ns", g->exec_ns);
	key_uint(o, "create_ns", g->create_ns);
	json_out__key(o, "critical");
	json_out__bool(o, g->critical);
}

static void write_metrics(struct lines *l, const struct grain_group *g)
{
	const struct grain_problem_summary *problems = l->groups->graph->problems;
	const double values[GRAIN_PROBLEM_COUNT] = {
		[GRAIN_PROBLEM_PARALLEL_BENEFIT] = g->parallel_benefit,
		[GRAIN_PROBLEM_LOAD_BALANCE] = g->load_balance,
		[GRAIN_PROBLEM_WORK_DEVIATION] = g->work_deviation,
		[GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM] = g->instantaneous_parallelism,
		[GRAIN_PROBLEM_SCATTER] = g->scatter,
		[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION] = g->memory_hierarchy_utilization,
		[GRAIN_PROBLEM_CACHE_MISS_RATIO] = g->cache_miss_ratio,
	};
	struct json_out *o = l->out;
	int p;

	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++)
		key_double(o, problems[p].name, values[p]);
	json_out__key(o, "worst");
	json_out__open(o, '{');
	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++)
		if (problems[p].available)
			key_element(l, problems[p].name, ID_CONTEXT, g->worst[p]);
	json_out__close(o, '}');
	json_out__key(o, "problems");
	json_out__open(o, '{');
	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++)
		if (problems[p].available)
			key_uint(o, problems[p].name, g->problem_grains[p]);
	json_out__close(o, '}');
}

static void write_line(struct lines *l, uint32_t group)
{
	struct json_out *o = l->out;
	struct grain_group g;

	grain_groups__get(l->groups, group, &g);
	json_out__open(o, '{');
	key_uint(o, "group", group);
	key_number(o, "parent", g.parent);
	key_string(o, "kind", kinds[g.kind]);
	key_element(l, "context", ID_CONTEXT, g.context);
	key_element(l, "join", ID_JOIN, g.join);
	key_element(l, "region", ID_REGION, g.region);
	key_element(l, "loop", ID_LOOP, g.loop);
	key_source(o, l->groups->graph, g.definition);
	key_number(o, "definition", g.definition);
	write_sums(l, group, &g);
	write_metrics(l, &g);
	key_uint(o, "class", l->classes[group]);
	write_members(l, group);
	json_out__close(o, '}');
	json_out__line(o);
}

int grain_groups__write_json(const struct grain_groups *groups, FILE *out)
{
	struct lines l = {.groups = groups, .id_size = 256};
	uint32_t i;
	int error = -ENOMEM, ended;

	l.id = malloc(l.id_size);
	l.classes = malloc(groups->count * sizeof *l.classes);
	l.out = json_out__new(out);
	if (l.id && l.classes && l.out)
		error = grain_groups__classes(groups, l.classes);
	for (i = groups->count; i-- > 0 && error == 0 && !l.out->error;)
		write_line(&l, i);
	ended = json_out__finish(l.out);
	free(l.id);
	free(l.classes);
	return error < 0 ? error : ended;
}
