/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks that are too small (PPOPP16 section 4.3.3): where to stop creating
 * them, and what that saves. Only leaves are looked at: inner tasks that hand
 * out work are short by nature.
 */
#include "analysis/advice.h"
#include "analysis/advice_text.h"
#include "analysis/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A task is worth creating from this many times its cost on; tried in this order. */
static const double worthwhile[] = {ADVICE_WORTHWHILE, 5, 2};
#define LEAST_WORTHWHILE 2

/* What to do about small tasks. */
enum cure {
	CURE_DEPTH, /* none below a depth */
	CURE_SIZE,  /* none where there is little to do, at whatever depth */
	CURE_MERGE, /* several in one */
	CURE_SERIAL /* none */
};

/* All tasks of one definition at one depth. */
struct level {
	double inclusive_ns;
	uint64_t tasks;
};

struct small_tasks {
	uint32_t definition;
	uint32_t worst;		 /* the one that costs most */
	uint64_t tasks;		 /* small ones */
	uint64_t all, regions;	 /* tasks of the definition, and regions that have some */
	double exec_ns, cost_ns; /* medians, which a few that were preempted do not move */
	struct level *levels;
	size_t depths;
	enum cure cure;
	size_t cutoff;
	uint64_t times; /* as much to do, for CURE_MERGE */
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

static int measure_levels(struct grain_graph *g, struct small_tasks *small)
{
	bool *seen = NULL;
	size_t i;
	int error;

	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (!is_task(c) || c->definition != small->definition)
			continue;
		small->all++;
		if (c->depth >= small->depths)
			small->depths = (size_t)c->depth + 1;
	}
	error = memory__array(&g->memory, small->depths, sizeof *small->levels, (void **)&small->levels);
	if (error == 0)
		error = memory__array(&g->memory, g->region_count + 1, sizeof *seen, (void **)&seen);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (!is_task(c) || c->definition != small->definition)
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

/* The deepest depth, but the last, at which creating tasks still pays; false when there is none. */
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
	/* Not enough tasks anywhere: the most that there are. */
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

/* Which part of the task goes. */
static double vanishing(const struct advisor *a, const struct small_tasks *small, const struct context *c)
{
	if (c->definition != small->definition || !is_task(c))
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
	double cost_ns;	  /* of all tasks that go */
	double serial_ns; /* the most that one context spends to create some of them */
};

/*
 * The cost of the tasks that go, divided by the threads; or all of it, where
 * one context creates them and the others idle for lack of more.
 */
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
			region->cost_ns += part * advisor__task_cost(a, c);
			serial_ns += part * (double)c->create_ns;
			vanish += part;
		}
		if (region && serial_ns > region->serial_ns)
			region->serial_ns = serial_ns;
	}
	for (i = 0; error == 0 && i <= g->region_count; i++) {
		double threads = i < g->region_count && g->regions[i].threads ? g->regions[i].threads : 1;
		double idle_ns = i < g->region_count ? (double)g->regions[i].idle_ns : 0;
		double saves = regions[i].cost_ns / threads;

		if (regions[i].serial_ns > saves)
			saves = fmin(regions[i].serial_ns, (regions[i].cost_ns + idle_ns) / threads);
		small->saves_ns += saves;
	}
	small->vanish = (uint64_t)(vanish + 0.5);
	memory__release(&g->memory, (void **)&regions, g->region_count + 1, sizeof *regions);
	return error;
}

static void say(const struct grain_graph *g, const struct small_tasks *small, struct advice *out)
{
	struct grain_evidence *evidence = &out->public.evidence;
	char tasks[32], all[32], exec[32], cost[32];

	evidence->grains = small->tasks;
	evidence->of = small->all;
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
		 advice__count(small->tasks, tasks), advice__count(small->all, all),
		 advice__place(g, small->definition), advice__time(small->exec_ns, exec),
		 advice__time(small->cost_ns, cost));
	switch (small->cure) {
	case CURE_DEPTH:
		snprintf(out->text, sizeof out->text,
			 "create fewer, larger tasks: below depth %zu call the function directly (an if or "
			 "final clause, or a test before the directive); %s of the %s tasks go",
			 small->cutoff, advice__count(small->vanish, tasks), all);
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

static int advise(struct advisor *a, const struct stake *stake)
{
	struct grain_graph *g = a->graph;
	struct small_tasks small = {.definition = stake->definition, .tasks = stake->grains};
	struct advice *advice;
	int error = measure_typical(a, &small);

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
	}
	memory__release(&g->memory, (void **)&small.levels, small.depths, sizeof *small.levels);
	return error;
}

int advisor__small_tasks(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	struct stake *stakes = NULL;
	size_t i, n;
	int error = stakes__new(g, &stakes);

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
		error = advise(a, &stakes[i]);
	stakes__free(g, &stakes);
	return error;
}
