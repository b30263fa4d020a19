/* SPDX-License-Identifier: BSD-2-Clause */
/* The interface of grain_groups.h: what a group is, and which of its members a filter keeps. */
#include "analysis/groups/groups.h"

#include <math.h>

size_t grain_groups__count(const struct grain_groups *groups)
{
	return groups->count;
}

uint32_t grain_groups__root(const struct grain_groups *groups)
{
	return groups->count - 1;
}

static void fill_problems(const struct grain_groups *groups, uint32_t group, struct grain_group *out)
{
	double *values[GRAIN_PROBLEM_COUNT] = {
		[GRAIN_PROBLEM_PARALLEL_BENEFIT] = &out->parallel_benefit,
		[GRAIN_PROBLEM_LOAD_BALANCE] = &out->load_balance,
		[GRAIN_PROBLEM_WORK_DEVIATION] = &out->work_deviation,
		[GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM] = &out->instantaneous_parallelism,
		[GRAIN_PROBLEM_SCATTER] = &out->scatter,
		[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION] = &out->memory_hierarchy_utilization,
		[GRAIN_PROBLEM_CACHE_MISS_RATIO] = &out->cache_miss_ratio,
	};
	struct grain_context c;
	int p;

	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		uint32_t worst = groups->worst[p] ? groups->worst[p][group] : GRAIN_NONE;

		*values[p] = NAN;
		out->worst[p] = worst;
		if (groups->flagged[p])
			out->problem_grains[p] = groups->flagged[p][group];
		if (out->problem_grains[p])
			out->problems |= 1u << p;
		if (worst == GRAIN_NONE)
			continue;
		grain_graph__context(groups->graph, worst, &c);
		*values[p] = grain_context__metric(&c, (enum grain_problem)p);
	}
}

void grain_groups__get(const struct grain_groups *groups, uint32_t group, struct grain_group *out)
{
	const struct grain_graph *g = groups->graph;
	const struct group_row *row = &groups->rows[group];

	*out = (struct grain_group){
		.kind = row->kind,
		.parent = row->parent,
		.context = row->context,
		.join = GRAIN_NONE,
		.region = row->kind == GRAIN_GROUP_REGION ? row->element : GRAIN_NONE,
		.loop = row->is_loop ? row->element : GRAIN_NONE,
		.definition = row->definition,
		.strength = row->strength,
		.grains = row->grains,
		.start_ns = row->first == GRAIN_NONE ? 0 : g->contexts[row->first].start_ns,
		.end_ns = row->last == GRAIN_NONE ? 0 : g->contexts[row->last].end_ns,
		.critical = row->critical,
		.exec_ns = row->exec_ns,
		.create_ns = row->create_ns,
	};
	groups__members(groups, group, &out->members);
	if (row->is_loop)
		out->join = g->loops[row->element].join;
	else if (row->kind == GRAIN_GROUP_SIBLINGS)
		out->join = row->element;
	fill_problems(groups, group, out);
}

static struct grain_member member_of(uint32_t member)
{
	return (struct grain_member){.is_group = member & GROUP_MEMBER, .index = member & ~GROUP_MEMBER};
}

struct grain_member grain_groups__member(const struct grain_groups *groups, uint32_t group, uint32_t index)
{
	return member_of(groups->members[groups->rows[group].first_member + index]);
}

uint32_t grain_groups__of_context(const struct grain_groups *groups, uint32_t context)
{
	return groups->of_context[context];
}

static bool has_problem(const struct grain_groups *groups, uint32_t member, enum grain_problem problem)
{
	if (member & GROUP_MEMBER)
		return groups->flagged[problem] && groups->flagged[problem][member & ~GROUP_MEMBER];
	return groups->graph->contexts[member].problems >> problem & 1;
}

static void skip(const struct grain_groups *groups, uint32_t member, struct grain_filtered *edge)
{
	edge->skipped++;
	if (member & GROUP_MEMBER) {
		edge->skipped_grains += groups->rows[member & ~GROUP_MEMBER].grains;
		edge->skipped_exec_ns += groups->rows[member & ~GROUP_MEMBER].exec_ns;
	} else {
		edge->skipped_grains += context__is_grain(&groups->graph->contexts[member]);
		edge->skipped_exec_ns += groups->graph->contexts[member].exec_ns;
	}
}

size_t grain_groups__filter(const struct grain_groups *groups, uint32_t group, enum grain_problem problem,
			    struct grain_filtered *out, size_t room)
{
	uint32_t n, i = 0;
	const uint32_t *members = groups__members(groups, group, &n);
	size_t count = 0;

	while (i < n) {
		struct grain_filtered entry = {.fast_forward = !has_problem(groups, members[i], problem)};

		if (entry.fast_forward) {
			entry.first_skipped = i;
			for (; i < n && !has_problem(groups, members[i], problem); i++)
				skip(groups, members[i], &entry);
		} else {
			entry.member = member_of(members[i++]);
		}
		if (count < room)
			out[count] = entry;
		count++;
	}
	return count;
}

size_t grain_groups__path(const struct grain_groups *groups, uint32_t group, uint32_t *out, size_t room)
{
	size_t length = 0, place;
	uint32_t at;

	for (at = group; at != GRAIN_NONE; at = groups->rows[at].parent)
		length++;
	for (at = group, place = length; place-- > 0; at = groups->rows[at].parent)
		if (place < room)
			out[place] = at;
	return length;
}
