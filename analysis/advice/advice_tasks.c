/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice on tasks that are too small (PPOPP16 section 4.3.3): where to stop creating them, and what that
 * saves. Only leaf tasks are looked at: inner tasks that hand out work are short by nature.
 */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"
#include "analysis/metrics/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/*
 * A task is worth creating when it runs this many times as long as it costs; the factors are tried in this
 * order.
 */
static const double worthwhile[] = {ADVICE_WORTHWHILE, 5, 2};
#define LEAST_WORTHWHILE 2

/* What the advice proposes. */
enum cure {
	CURE_DEPTH, /* no tasks below a depth */
	CURE_SIZE,  /* no task where there is little to do, at any depth */
	CURE_MERGE, /* several tasks merged into one */
	CURE_SERIAL /* no tasks at all */
};

/* All tasks of one definition at one depth. */
struct level {
	double inclusive_ns;
	uint64_t tasks;
};

struct small_tasks {
	uint32_t definition;
	uint32_t worst; /* the small task that costs most */
	uint64_t tasks; /* small tasks */
	bool *family;	/* per definition and, last, for none: its tasks and those of `definition` create each
			   other, as in a recursive function. A cutoff is for all of them. */
	uint64_t own;	/* tasks of the definition */
	uint64_t all, regions;	 /* tasks of the family, and regions that have some */
	double exec_ns, cost_ns; /* medians: some preempted tasks do not change them */
	struct level *levels;
	size_t depths;
	enum cure cure;
	size_t cutoff;
	uint64_t times; /* for CURE_MERGE: how many tasks to merge into one */
	uint64_t vanish;
	double saves_ns;
};

static bool is_task(const struct context *c)
{
	return c->kind == GRAIN_TASK && !(c->flags & (CONTEXT_SPLIT | CONTEXT_DISCARDED));
}

/* A leaf task that runs shorter than it costs. */
static bool is_small(const struct advisor *a, const struct context *c)
{
	return is_task(c) && c->flags & CONTEXT_LEAF && c->problems & 1u << GRAIN_PROBLEM_PARALLEL_BENEFIT &&
	       (double)c->exec_ns < advisor__task_cost(a, c);
}

static int measure_typical(struct advisor *a, struct small_tasks *small)
{
	struct grain_graph *g = a->graph;
	uint64_t *exec = NULL, *cost = NULL;
	double most = -1;
	size_t i, n = 0;
	int error = memory__array(&g->memory, small->tasks, sizeof *exec, (void **)&exec);

	if (error == 0)
		error = memory__array(&g->memory, small->tasks, sizeof *cost, (void **)&cost);
	for (i = 0; error == 0 && i < g->context_count && n < small->tasks; i++) {
		const struct context *c = &g->contexts[i];

		if (c->definition != small->definition || !is_small(a, c))
			continue;
		if (advisor__task_cost(a, c) > most) {
			most = advisor__task_cost(a, c);
			small->worst = (uint32_t)i;
		}
		exec[n] = c->exec_ns;
		cost[n++] = advisor__whole(advisor__task_cost(a, c));
	}
	if (error == 0 && n) {
		small->exec_ns = metrics__median(exec, n);
		small->cost_ns = metrics__median(cost, n);
	}
	memory__release(&g->memory, (void **)&exec, small->tasks, sizeof *exec);
	memory__release(&g->memory, (void **)&cost, small->tasks, sizeof *cost);
	return error;
}

static size_t slot(const struct grain_graph *g, uint32_t definition)
{
	return definition == GRAIN_NONE ? g->definition_count : definition;
}

static bool in_family(const struct grain_graph *g, const struct small_tasks *small, const struct context *c)
{
	return is_task(c) && small->family[slot(g, c->definition)];
}

/* Finds the definitions of tasks that create tasks of `small`, and are created by them. */
static int find_family(struct grain_graph *g, struct small_tasks *small)
{
	bool *below = NULL;
	size_t i, n = g->definition_count + 1;
	int error = memory__array(&g->memory, n, sizeof *below, (void **)&below);

	if (error == 0)
		error = memory__array(&g->memory, n, sizeof *small->family, (void **)&small->family);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		const struct context *parent = c->parent == GRAIN_NONE ? NULL : &g->contexts[c->parent];

		if (!parent || !is_task(c) || !is_task(parent))
			continue;
		if (parent->definition == small->definition)
			below[slot(g, c->definition)] = true;
		if (c->definition == small->definition)
			small->family[slot(g, parent->definition)] = true;
	}
	for (i = 0; error == 0 && i < n; i++)
		small->family[i] = (small->family[i] && below[i]) || i == slot(g, small->definition);
	memory__release(&g->memory, (void **)&below, n, sizeof *below);
	return error;
}

static int measure_levels(struct grain_graph *g, struct small_tasks *small)
{
	bool *seen = NULL;
	size_t i;
	int error;

	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (!in_family(g, small, c))
			continue;
		small->all++;
		small->own += c->definition == small->definition;
		if (c->depth >= small->depths)
			small->depths = (size_t)c->depth + 1;
	}
	error = memory__array(&g->memory, small->depths, sizeof *small->levels, (void **)&small->levels);
	if (error == 0)
		error = memory__array(&g->memory, g->region_count + 1, sizeof *seen, (void **)&seen);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (!in_family(g, small, c))
			continue;
		seen[c->region == GRAIN_NONE ? g->region_count : c->region] = true;
		if (isnan(c->cost_ns))
			continue;
		small->levels[c->depth].tasks++;
		small->levels[c->depth].inclusive_ns += (double)g->inclusive_ns[i];
	}
	for (i = 0; error == 0 && i <= g->region_count; i++)
		small->regions += seen[i];
	memory__release(&g->memory, (void **)&seen, g->region_count + 1, sizeof *seen);
	return error;
}

static bool worth_creating(const struct level *level, double cost_ns)
{
	return level->tasks && level->inclusive_ns >= cost_ns * (double)level->tasks;
}

/*
 * Finds the depth for the cutoff: the deepest one at which tasks are still worth creating. The last depth
 * does not count. Returns false if there is none.
 */
static bool find_cutoff(const struct grain_graph *g, struct small_tasks *small)
{
	const struct level *levels = small->levels;
	uint64_t enough = (uint64_t)ADVICE_GRAINS_PER_THREAD * g->info.threads;
	size_t k, d;

	for (k = 0; k < sizeof worthwhile / sizeof *worthwhile; k++) {
		for (d = small->depths - 1; d-- > 0;)
			if (worth_creating(&levels[d], worthwhile[k] * small->cost_ns))
				break;
		if (d < small->depths && levels[d].tasks >= enough) {
			small->cutoff = d;
			return true;
		}
	}
	/* No depth has enough tasks. Take the deepest one at which tasks are worth their cost. */
	for (d = small->depths - 1; d-- > 0;) {
		if (worth_creating(&levels[d], LEAST_WORTHWHILE * small->cost_ns)) {
			small->cutoff = d;
			return true;
		}
	}
	return false;
}

static void choose_cure(const struct grain_graph *g, struct small_tasks *small)
{
	uint64_t room = small->all / ((uint64_t)ADVICE_GRAINS_PER_THREAD * g->info.threads * small->regions);
	size_t d, used = 0;

	for (d = 0; d < small->depths; d++)
		used += small->levels[d].tasks > 0;
	small->cure = CURE_SERIAL;
	if (used > 1) {
		if (worth_creating(&small->levels[small->depths - 1], ADVICE_WORTHWHILE * small->cost_ns))
			small->cure = CURE_SIZE;
		else if (find_cutoff(g, small))
			small->cure = CURE_DEPTH;
		return;
	}
	small->times = advisor__whole(
		fmin((double)room, ceil(ADVICE_WORTHWHILE * small->cost_ns / fmax(small->exec_ns, 1))));
	if (small->times > 1)
		small->cure = CURE_MERGE;
}

/* The part of the task that the cure removes, 0..1. */
static double vanishing(const struct advisor *a, const struct small_tasks *small, const struct context *c)
{
	if (!in_family(a->graph, small, c) ||
	    (small->cure != CURE_DEPTH && c->definition != small->definition))
		return 0;
	switch (small->cure) {
	case CURE_DEPTH:
		return c->depth > small->cutoff;
	case CURE_SIZE:
		return is_small(a, c);
	case CURE_MERGE:
		return 1 - 1 / (double)small->times;
	default:
		return 1;
	}
}

struct region_cost {
	double vanish;	  /* tasks that are removed */
	double cost_ns;	  /* their cost */
	double serial_ns; /* the longest that one context spends on creating them */
};

/* If most tasks of a region are removed, its threads no longer wait for their creation either. */
#define MOST_TASKS 0.5

/*
 * What it saves in one region. By the account it is what the region's tasks cost beside their work, in
 * proportion to the removed ones. Without an account it is the cost of the removed tasks, divided by the
 * threads, or the whole cost if one context creates the tasks while the others are idle for lack of tasks.
 */
static double region_saving(const struct advisor *a, const struct region *r, const struct region_cost *cost)
{
	const struct grain_account_part *part = r ? advisor__part(a, r->definition) : NULL;
	double threads = r && r->threads ? r->threads : 1, idle_ns = r ? (double)r->idle_ns : 0;
	double saves = cost->cost_ns / threads, share, lost;

	if (part && part->capacity_ns && !part->cause_ns[GRAIN_CAUSE_UNKNOWN] && !a->nested && r->tasks) {
		share = fmin(cost->vanish / (double)r->tasks, 1);
		lost = (double)part->cause_ns[GRAIN_CAUSE_MANAGEMENT] +
		       (double)part->cause_ns[GRAIN_CAUSE_LACK_OF_WORK];
		if (share >= MOST_TASKS)
			lost += (double)part->cause_ns[GRAIN_CAUSE_IMBALANCE];
		return share * lost / threads * region__core_ns(r) / (double)part->capacity_ns;
	}
	if (cost->serial_ns > saves)
		saves = fmin(cost->serial_ns, (cost->cost_ns + idle_ns) / threads);
	return saves;
}

static int predict_saving(struct advisor *a, struct small_tasks *small)
{
	struct grain_graph *g = a->graph;
	struct region_cost *regions = NULL;
	double vanish = 0;
	size_t i, k;
	int error = memory__array(&g->memory, g->region_count + 1, sizeof *regions, (void **)&regions);

	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *parent = &g->contexts[i];
		struct region_cost *region = NULL;
		double serial_ns = 0;

		if (parent->flags & CONTEXT_LEAF)
			continue;
		for (k = parent->first_item; k < (size_t)parent->first_item + parent->item_count; k++) {
			const struct context *c;
			double part;

			if (g->items[k].kind != GRAIN_FORK)
				continue;
			c = &g->contexts[g->items[k].ref];
			part = vanishing(a, small, c);
			if (part <= 0)
				continue;
			region = &regions[c->region == GRAIN_NONE ? g->region_count : c->region];
			region->vanish += part;
			region->cost_ns += part * advisor__task_cost(a, c);
			serial_ns += part * (double)c->create_ns;
			vanish += part;
		}
		if (region && serial_ns > region->serial_ns)
			region->serial_ns = serial_ns;
	}
	for (i = 0; error == 0 && i <= g->region_count; i++)
		if (regions[i].vanish > 0)
			small->saves_ns +=
				region_saving(a, i < g->region_count ? &g->regions[i] : NULL, &regions[i]);
	small->saves_ns = floor(small->saves_ns + 0.5);
	small->vanish = (uint64_t)(vanish + 0.5);
	memory__release(&g->memory, (void **)&regions, g->region_count + 1, sizeof *regions);
	return error;
}

static void say(const struct grain_graph *g, const struct small_tasks *small, struct advice *out)
{
	struct grain_evidence *evidence = &out->public.evidence;
	char tasks[32], all[32], exec[32], cost[32];

	evidence->grains = small->tasks;
	evidence->of = small->own;
	evidence->worst = small->worst;
	evidence->median_exec_ns = small->exec_ns;
	evidence->median_cost_ns = small->cost_ns;
	evidence->vanish = small->vanish;
	if (small->cure == CURE_MERGE)
		evidence->times = small->times;
	if (small->cure == CURE_DEPTH)
		evidence->cutoff_depth = (uint32_t)small->cutoff;
	snprintf(out->finding, sizeof out->finding,
		 "%s of %s tasks created at %s typically run %s, less than the %s it costs to create and "
		 "join one",
		 advice__count(small->tasks, tasks), advice__count(small->own, all),
		 advice__place(g, small->definition), advice__time(small->exec_ns, exec),
		 advice__time(small->cost_ns, cost));
	switch (small->cure) {
	case CURE_DEPTH:
		snprintf(out->text, sizeof out->text,
			 "create fewer, larger tasks: below depth %zu call the function directly (an if or "
			 "final clause, or a test before the directive); %s of the %s tasks go",
			 small->cutoff, advice__count(small->vanish, tasks), advice__count(small->all, all));
		break;
	case CURE_SIZE:
		snprintf(out->text, sizeof out->text,
			 "create a task only where there is enough to do, about %s of it (an if clause or a "
			 "test on the size of the work before the directive): small and large ones are at "
			 "every depth",
			 advice__time(ADVICE_WORTHWHILE * small->cost_ns, cost));
		break;
	case CURE_MERGE:
		snprintf(out->text, sizeof out->text,
			 "create fewer, larger tasks: give each about %" PRIu64
			 " times as much to do (a loop "
			 "inside the task, or taskloop with grainsize)",
			 small->times);
		break;
	default:
		snprintf(out->text, sizeof out->text,
			 "create fewer, larger tasks: do more in each, or do the work without a task");
	}
}

/* `done`, per definition and, last, for none: advice on another one of its family is for it, too. */
static int advise(struct advisor *a, const struct stake *stake, bool *done)
{
	struct grain_graph *g = a->graph;
	struct small_tasks small = {.definition = stake->definition, .tasks = stake->grains};
	struct advice *advice;
	size_t i;
	int error;

	if (done[slot(g, small.definition)])
		return 0;
	error = find_family(g, &small);
	if (error == 0)
		error = measure_typical(a, &small);
	if (error == 0)
		error = measure_levels(g, &small);
	if (error == 0) {
		choose_cure(g, &small);
		error = predict_saving(a, &small);
	}
	if (error == 0 && small.saves_ns >= a->worth_ns) {
		error = advisor__add(a, GRAIN_ADVICE_SMALL_TASKS, GRAIN_PROBLEM_PARALLEL_BENEFIT,
				     small.definition, small.saves_ns, &advice);
		if (error == 0)
			say(g, &small, advice);
		for (i = 0; error == 0 && small.cure == CURE_DEPTH && i <= g->definition_count; i++)
			done[i] |= small.family[i];
	}
	memory__release(&g->memory, (void **)&small.family, g->definition_count + 1, sizeof *small.family);
	memory__release(&g->memory, (void **)&small.levels, small.depths, sizeof *small.levels);
	return error;
}

int advisor__small_tasks(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	struct stake *stakes = NULL;
	bool *done = NULL;
	size_t i, n;
	int error = stakes__new(g, &stakes);

	if (error == 0)
		error = memory__array(&g->memory, g->definition_count + 1, sizeof *done, (void **)&done);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		struct stake *stake;

		if (!is_small(a, c))
			continue;
		stake = stakes__of(g, stakes, c->definition);
		stake->grains++;
		stake->saves_ns += advisor__task_cost(a, c) / advisor__threads(g, c);
	}
	n = error == 0 ? stakes__sort(a, stakes) : 0;
	for (i = 0; error == 0 && i < n; i++)
		error = advise(a, &stakes[i], done);
	memory__release(&g->memory, (void **)&done, g->definition_count + 1, sizeof *done);
	stakes__free(g, &stakes);
	return error;
}
