/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes for each group the sums, the worst values, and the definition with the most time. */
#include "analysis/graph/counters.h"
#include "analysis/groups/groups.h"
#include "analysis/base/large.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prefetch distance in members. */
#define AHEAD 12

static inline __attribute__((always_inline)) bool is_worse(enum grain_problem problem, double value,
							   double than)
{
	if (isnan(value) || isnan(than))
		return !isnan(value);
	if (problem == GRAIN_PROBLEM_PARALLEL_BENEFIT || problem == GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM ||
	    problem == GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION)
		return value < than;
	return value > than;
}

/*
 * The metric of a context, without filling in a whole grain_context. This and the next functions are inline
 * because `problem` is constant there.
 */
static inline __attribute__((always_inline)) double value_of(const struct grain_graph *g, uint32_t context,
							     enum grain_problem problem)
{
	const struct context *c = &g->contexts[context];

	switch (problem) {
	case GRAIN_PROBLEM_PARALLEL_BENEFIT:
		return context__benefit(c);
	case GRAIN_PROBLEM_LOAD_BALANCE:
		return c->load_balance;
	case GRAIN_PROBLEM_WORK_DEVIATION:
		return graph__deviation(g, context);
	case GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM:
		return context__parallelism(c);
	case GRAIN_PROBLEM_SCATTER:
		return context__scatter(g, c);
	case GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION:
		return context__memory_utilization(g, context);
	case GRAIN_PROBLEM_CACHE_MISS_RATIO:
		return context__miss_ratio(g, context);
	default:
		return NAN;
	}
}

/* A group while its members are added. It has values that would otherwise be looked up for each member. */
struct adding {
	struct grain_groups *groups;
	uint32_t group;
	uint64_t start_ns, end_ns;	   /* of the contexts `first` and `last` of the row */
	double worst[GRAIN_PROBLEM_COUNT]; /* worst values so far; valid if the bit in `found` is set */
	unsigned found;			   /* set of problems with a value: bits 1 << problem */
};

static struct adding begin_adding(struct grain_groups *g, uint32_t group)
{
	struct adding a;
	const struct group_row *row = &g->rows[group];

	a.groups = g;
	a.group = group;
	a.found = 0;
	if (row->first != GRAIN_NONE)
		a.start_ns = g->graph->contexts[row->first].start_ns;
	if (row->last != GRAIN_NONE)
		a.end_ns = g->graph->contexts[row->last].end_ns;
	return a;
}

static inline __attribute__((always_inline)) void take_worst(struct adding *a, enum grain_problem problem,
							     uint32_t grain)
{
	double value;

	if (grain == GRAIN_NONE)
		return;
	value = value_of(a->groups->graph, grain, problem);
	if (is_worse(problem, value, a->found >> problem & 1 ? a->worst[problem] : NAN)) {
		a->worst[problem] = value;
		a->found |= 1u << problem;
		a->groups->worst[problem][a->group] = grain;
	}
}

static void take_times(struct adding *a, uint32_t first, uint32_t last)
{
	const struct grain_graph *g = a->groups->graph;
	struct group_row *row = &a->groups->rows[a->group];

	if (first == GRAIN_NONE)
		return;
	if (row->first == GRAIN_NONE || g->contexts[first].start_ns < a->start_ns) {
		row->first = first;
		a->start_ns = g->contexts[first].start_ns;
	}
	if (row->last == GRAIN_NONE || g->contexts[last].end_ns > a->end_ns) {
		row->last = last;
		a->end_ns = g->contexts[last].end_ns;
	}
}

static void add_own(struct adding *a, uint32_t context)
{
	const struct context *c = &a->groups->graph->contexts[context];
	struct group_row *row = &a->groups->rows[a->group];

	row->exec_ns += c->exec_ns;
	row->create_ns += c->create_ns;
	row->critical |= c->flags & CONTEXT_CRITICAL;
	row->grains += context__is_grain(c);
	if (c->flags & CONTEXT_BEGUN)
		take_times(a, context, context);
}

static void add_context(struct adding *a, uint32_t context)
{
	struct grain_groups *g = a->groups;
	const struct context *c = &g->graph->contexts[context];
	int p;

	add_own(a, context);
	if (!context__is_complete_grain(c))
		return;
#pragma GCC unroll 8
	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		if (!g->worst[p])
			continue;
		take_worst(a, (enum grain_problem)p, context);
		g->flagged[p][a->group] += c->problems >> p & 1;
	}
}

static void add_group(struct adding *a, uint32_t member)
{
	struct grain_groups *g = a->groups;
	struct group_row *row = &g->rows[a->group];
	const struct group_row *from = &g->rows[member];
	int p;

	row->exec_ns += from->exec_ns;
	row->create_ns += from->create_ns;
	row->critical |= from->critical;
	row->grains += from->grains;
	row->strength += from->strength;
	take_times(a, from->first, from->last);
#pragma GCC unroll 8
	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		if (!g->worst[p])
			continue;
		take_worst(a, (enum grain_problem)p, g->worst[p][member]);
		g->flagged[p][a->group] += g->flagged[p][member];
	}
}

/* Prefetches the data of a member. */
static void fetch(const struct grain_groups *g, uint32_t member)
{
	if (member & GROUP_MEMBER) {
		__builtin_prefetch(&g->rows[member & ~GROUP_MEMBER]);
	} else {
		__builtin_prefetch(&g->graph->contexts[member].flags);
		__builtin_prefetch(&g->graph->contexts[member].exec_ns);
		__builtin_prefetch(&g->graph->contexts[member].load_balance);
	}
}

static void add_all(struct grain_groups *g)
{
	const uint32_t *end = g->members + g->member_count;
	uint32_t i, k, n;

	for (i = 0; g->graph->totals.runtime_tasks && i < g->graph->context_count; i++)
		if (g->graph->contexts[i].flags & CONTEXT_SPLIT) {
			struct adding a = begin_adding(g, g->of_context[i]);

			add_own(&a, i);
		}
	for (i = 0; i < g->count; i++) {
		const uint32_t *members = groups__members(g, i, &n);
		struct adding a = begin_adding(g, i);

		g->rows[i].strength += n;
		for (k = 0; k < n; k++) {
			if (&members[k] + AHEAD < end)
				fetch(g, members[k + AHEAD]);
			if (members[k] & GROUP_MEMBER)
				add_group(&a, members[k] & ~GROUP_MEMBER);
			else
				add_context(&a, members[k]);
		}
	}
}

/* ---- the definition with the most time -------------------------------- */

/*
 * Time and definition of each context in one list. Those of a group are adjacent: `size` of them from `begin`
 * on.
 */
struct share {
	uint64_t exec_ns;
	uint32_t definition;
};

struct census {
	struct grain_groups *groups;
	struct share *shares;
	uint32_t *begin, *size, *heavy; /* per group; heavy: the member group with the most contexts */
	uint64_t *time;			/* per definition */
	uint32_t best;
};

static void measure(struct census *s)
{
	struct grain_groups *g = s->groups;
	uint32_t i, k, n;

	for (i = 0; i < g->count; i++)
		s->heavy[i] = GRAIN_NONE;
	for (i = 0; i < g->graph->context_count; i++)
		s->size[g->of_context[i]]++;
	for (i = 0; i < g->count; i++) {
		const uint32_t *members = groups__members(g, i, &n);

		for (k = 0; k < n; k++) {
			uint32_t member = members[k] & ~GROUP_MEMBER;

			if (!(members[k] & GROUP_MEMBER))
				continue;
			s->size[i] += s->size[member];
			if (s->heavy[i] == GRAIN_NONE || s->size[member] > s->size[s->heavy[i]])
				s->heavy[i] = member;
		}
	}
}

/* Gives groups their places, from the root down. A group's contexts that are in no member group come last. */
static void place(struct census *s)
{
	struct grain_groups *g = s->groups;
	uint32_t i, k, n, at;

	for (i = g->count; i-- > 0;) {
		const uint32_t *members = groups__members(g, i, &n);

		at = s->begin[i];
		for (k = 0; k < n; k++) {
			if (!(members[k] & GROUP_MEMBER))
				continue;
			s->begin[members[k] & ~GROUP_MEMBER] = at;
			at += s->size[members[k] & ~GROUP_MEMBER];
		}
	}
	/* Each group is filled from its end. */
	for (i = 0; i < g->count; i++)
		s->begin[i] += s->size[i];
	for (i = 0; i < g->graph->context_count; i++) {
		const struct context *c = &g->graph->contexts[i];

		s->shares[--s->begin[g->of_context[i]]] = (struct share){c->exec_ns, c->definition};
	}
	for (i = 0; i < g->count; i++) {
		const uint32_t *members = groups__members(g, i, &n);

		for (k = 0; k < n; k++)
			if (members[k] & GROUP_MEMBER)
				s->begin[i] -= s->size[members[k] & ~GROUP_MEMBER];
	}
}

static void count(struct census *s, uint32_t from, uint32_t to)
{
	uint32_t i, d;

	for (i = from; i < to; i++) {
		d = s->shares[i].definition;
		if (d == GRAIN_NONE)
			continue;
		s->time[d] += s->shares[i].exec_ns;
		if (s->best == GRAIN_NONE || s->time[d] > s->time[s->best] ||
		    (s->time[d] == s->time[s->best] && d < s->best))
			s->best = d;
	}
}

/*
 * Counts from a group without member groups up to `top`. Each step goes from a group to the group around it,
 * as long as it is the member with the most contexts. All other members have at most half of a group's
 * contexts, so no context is counted more than log n times.
 */
static void count_path(struct census *s, uint32_t top)
{
	struct grain_groups *g = s->groups;
	uint32_t group = top, below, i, end;

	while (s->heavy[group] != GRAIN_NONE)
		group = s->heavy[group];
	s->best = GRAIN_NONE;
	for (below = GRAIN_NONE;; below = group, group = g->rows[group].parent) {
		end = s->begin[group] + s->size[group];
		if (below == GRAIN_NONE) {
			count(s, s->begin[group], end);
		} else {
			count(s, s->begin[group], s->begin[below]);
			count(s, s->begin[below] + s->size[below], end);
		}
		g->rows[group].definition = s->best;
		if (group == top)
			break;
	}
	for (i = s->begin[top]; i < s->begin[top] + s->size[top]; i++)
		if (s->shares[i].definition != GRAIN_NONE)
			s->time[s->shares[i].definition] = 0;
}

static int find_definitions(struct grain_groups *g)
{
	struct census s = {.groups = g};
	size_t n = g->count + (size_t)1;
	uint32_t i;
	int error = -ENOMEM;

	s.shares = malloc((g->graph->context_count + 1) * sizeof *s.shares);
	s.begin = calloc(n, sizeof *s.begin);
	s.size = calloc(n, sizeof *s.size);
	s.heavy = malloc(n * sizeof *s.heavy);
	s.time = calloc(g->graph->definition_count + 1, sizeof *s.time);
	large__advise(s.shares, (g->graph->context_count + 1) * sizeof *s.shares);
	large__advise(s.begin, n * sizeof *s.begin);
	large__advise(s.size, n * sizeof *s.size);
	large__advise(s.heavy, n * sizeof *s.heavy);
	if (s.shares && s.begin && s.size && s.heavy && s.time) {
		measure(&s);
		place(&s);
		for (i = 0; i < g->count; i++)
			if (g->rows[i].parent == GRAIN_NONE || s.heavy[g->rows[i].parent] != i)
				count_path(&s, i);
		error = 0;
	}
	free(s.shares);
	free(s.begin);
	free(s.size);
	free(s.heavy);
	free(s.time);
	return error;
}

static int add_columns(struct grain_groups *g)
{
	size_t n = g->count + (size_t)1;
	int p;

	for (p = 0; p < GRAIN_PROBLEM_COUNT; p++) {
		if (!g->graph->problems[p].available)
			continue;
		g->worst[p] = malloc(n * sizeof *g->worst[p]);
		g->flagged[p] = calloc(n, sizeof *g->flagged[p]);
		if (!g->worst[p] || !g->flagged[p])
			return -ENOMEM;
		memset(g->worst[p], 0xff, n * sizeof *g->worst[p]);
	}
	return 0;
}

int groups__sum_up(struct grain_groups *groups)
{
	/* The step that needs the most temporary memory comes first. */
	int error = find_definitions(groups);

	if (error == 0)
		error = add_columns(groups);
	if (error == 0)
		add_all(groups);
	return error;
}
