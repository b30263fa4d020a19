/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice on instantaneous parallelism: threads have nothing to run, because there are few, large grains, or
 * because the program is serial for a while.
 */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"
#include "analysis/metrics/metrics.h"

#include <inttypes.h>

/*
 * Grains are large if they run this many times as long as they cost. Then half of such a grain is still worth
 * its cost.
 */
#define LARGE (2 * ADVICE_WORTHWHILE)

/* The regions of one definition. */
struct idle_regions {
	uint32_t definition, threads;
	uint64_t regions, grains, tasks;
	double idle_ns, core_ns;
	double exec_ns, cost_ns; /* medians of the grains */
	uint32_t longest;	 /* grain */
	double serial_ns;	 /* critical path in members of the teams, outside of grains */
	double grain_ns;	 /* time in grains */
	uint32_t critical;	 /* the definition with most of the critical path in grains */
	bool chunks;		 /* the grains are chunks of loops, not tasks */
	bool nested;
};

/* Finds the outermost region around each region. Idle time is measured there: it has all the threads. */
static void find_outermost(const struct grain_graph *g, uint32_t *outermost)
{
	size_t i;

	for (i = 0; i < g->region_count; i++) {
		const struct region *r = &g->regions[i];
		uint32_t around =
			r->begun && r->parent != GRAIN_NONE ? g->contexts[r->parent].region : GRAIN_NONE;

		outermost[i] = around < i ? outermost[around] : (uint32_t)i;
	}
}

/*
 * Thread time of the region in which there is nothing to run. The account of its definition knows it better:
 * tasks that wait for others cannot be begun, and threads that come late or have no CPU are no lack of work.
 * With regions in regions, it has the time inside of those apart.
 */
static double idle_ns(const struct advisor *a, size_t region)
{
	const struct region *r = &a->graph->regions[region];
	const struct grain_account_part *part = advisor__part(a, r->definition);

	if (!part || !part->capacity_ns || a->nested || part->cause_ns[GRAIN_CAUSE_UNKNOWN])
		return (double)r->idle_ns;
	return ((double)part->cause_ns[GRAIN_CAUSE_IMBALANCE] +
		(double)part->cause_ns[GRAIN_CAUSE_LACK_OF_WORK]) *
	       region__core_ns(r) / (double)part->capacity_ns;
}

static bool lies_in(const struct grain_graph *g, const struct context *c, const uint32_t *outermost,
		    uint32_t definition)
{
	return c->region != GRAIN_NONE && g->regions[outermost[c->region]].definition == definition;
}

/* Whether the grain does work itself: it is complete and has no children. */
static bool is_worker(const struct context *c)
{
	return context__is_complete_grain(c) && c->flags & CONTEXT_LEAF;
}

/* Sums up what the contexts of the regions did. `critical` has one element for each definition. */
static void survey(const struct advisor *a, const uint32_t *outermost, struct idle_regions *idle,
		   uint64_t *critical)
{
	const struct grain_graph *g = a->graph;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		uint64_t *sum;

		if (!lies_in(g, c, outermost, idle->definition))
			continue;
		if (!context__is_grain(c)) {
			idle->serial_ns += (double)a->critical[i];
			continue;
		}
		idle->tasks += c->kind == GRAIN_TASK;
		idle->nested |= c->kind == GRAIN_TASK && c->depth > 1;
		idle->grain_ns += (double)a->critical[i];
		sum = &critical[c->definition == GRAIN_NONE ? g->definition_count : c->definition];
		*sum += a->critical[i];
		if (*sum > most) {
			most = *sum;
			idle->critical = c->definition;
			idle->chunks = c->kind == GRAIN_CHUNK;
		}
		if (!is_worker(c))
			continue;
		idle->grains++;
		if (idle->longest == GRAIN_NONE || c->exec_ns > g->contexts[idle->longest].exec_ns)
			idle->longest = (uint32_t)i;
	}
}

static int measure_grains(struct grain_graph *g, const uint32_t *outermost, struct idle_regions *idle)
{
	uint64_t *exec = NULL, *cost = NULL;
	size_t i, n = 0;
	int error = memory__array(&g->memory, idle->grains, sizeof *exec, (void **)&exec);

	if (error == 0)
		error = memory__array(&g->memory, idle->grains, sizeof *cost, (void **)&cost);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (!is_worker(c) || !lies_in(g, c, outermost, idle->definition))
			continue;
		exec[n] = c->exec_ns;
		cost[n++] = c->kind == GRAIN_CHUNK ? context__bookkeeping(g, c) : c->create_ns;
	}
	if (error == 0 && n) {
		idle->exec_ns = metrics__median(exec, n);
		idle->cost_ns = metrics__median(cost, n);
	}
	memory__release(&g->memory, (void **)&exec, idle->grains, sizeof *exec);
	memory__release(&g->memory, (void **)&cost, idle->grains, sizeof *cost);
	return error;
}

/* There are fewer grains than load balance needs, and half of a grain is still worth its cost. */
static bool are_few(const struct idle_regions *idle)
{
	return idle->grains && idle->grain_ns > idle->serial_ns &&
	       idle->grains < (uint64_t)ADVICE_GRAINS_PER_THREAD * idle->threads * idle->regions &&
	       idle->exec_ns >= LARGE * idle->cost_ns;
}

static void say_few(const struct grain_graph *g, const struct idle_regions *idle, struct advice *out)
{
	const struct context *longest = &g->contexts[idle->longest];
	const char *where = advice__place(g, longest->definition);
	char grains[32], exec[32], cost[32], share[32], all[32];

	snprintf(out->finding, sizeof out->finding,
		 "its %" PRIu32
		 " threads have nothing to run for %.0f %% of their time (%s of %s): there are "
		 "only %s grains in %s, which typically run %s",
		 idle->threads, 100 * idle->idle_ns / idle->core_ns, advice__time(idle->idle_ns, share),
		 advice__time(idle->core_ns, all), advice__count(idle->grains, grains),
		 idle->regions == 1 ? "it" : "all of its executions", advice__time(idle->exec_ns, exec));
	advice__time(idle->cost_ns, cost);
	if (longest->kind == GRAIN_CHUNK && chunk__by_member(&g->chunks[longest->number]))
		snprintf(
			out->text, sizeof out->text,
			"hand out the loop at %s in smaller pieces: schedule(dynamic) with a chunk size that "
			"gives each thread several",
			where);
	else if (longest->kind == GRAIN_CHUNK)
		snprintf(out->text, sizeof out->text,
			 "make more pieces of the loop at %s: a smaller chunk size, or more iterations to "
			 "share "
			 "(collapse); getting one takes %s",
			 where, cost);
	else if (idle->nested)
		snprintf(out->text, sizeof out->text,
			 "create more tasks: go on creating them to a greater depth at %s (a later cutoff); "
			 "creating one takes %s",
			 where, cost);
	else
		snprintf(out->text, sizeof out->text,
			 "create more tasks: divide what one of %s does into several; creating one takes %s",
			 where, cost);
}

static void say_idle(const struct grain_graph *g, const struct idle_regions *idle, struct advice *out)
{
	char share[32], all[32];

	snprintf(out->finding, sizeof out->finding,
		 "its %" PRIu32 " threads have nothing to run for %.0f %% of their time (%s of %s)",
		 idle->threads, 100 * idle->idle_ns / idle->core_ns, advice__time(idle->idle_ns, share),
		 advice__time(idle->core_ns, all));
	if (!idle->grains)
		snprintf(
			out->text, sizeof out->text,
			"give its threads equal shares: it has neither tasks nor loops that could be divided "
			"in another way");
	else if (idle->grain_ns > idle->serial_ns)
		snprintf(out->text, sizeof out->text,
			 "make more work available at a time: the critical path runs mostly through the "
			 "%s of %s; split them, or %s",
			 idle->chunks ? "chunks" : "tasks", advice__place(g, idle->critical),
			 idle->chunks ? "start with the longest" : "create them earlier");
	else
		snprintf(out->text, sizeof out->text,
			 "make more work available at a time: the critical path runs mostly outside of "
			 "%s; turn more of it into %s",
			 idle->tasks ? "tasks, in the code that creates them"
				     : "loops, in the code around them",
			 idle->tasks ? "tasks" : "loops");
}

static int advise(struct advisor *a, const struct stake *stake, const uint32_t *outermost)
{
	struct grain_graph *g = a->graph;
	struct idle_regions idle = {.definition = stake->definition,
				    .regions = stake->grains,
				    .critical = GRAIN_NONE,
				    .longest = GRAIN_NONE};
	struct grain_evidence *evidence;
	struct advice *out;
	uint64_t *critical = NULL;
	bool few = false;
	size_t i;
	int error = memory__array(&g->memory, g->definition_count + 1, sizeof *critical, (void **)&critical);

	if (error < 0)
		return error;
	for (i = 0; i < g->region_count; i++) {
		const struct region *r = &g->regions[i];

		if (r->definition != idle.definition || !region__is_team(r) || a->explained[i] ||
		    outermost[i] != i)
			continue;
		idle.idle_ns += idle_ns(a, i) - a->uneven_ns[i];
		idle.core_ns += region__core_ns(r);
		if (r->threads > idle.threads)
			idle.threads = r->threads;
	}
	survey(a, outermost, &idle, critical);
	memory__release(&g->memory, (void **)&critical, g->definition_count + 1, sizeof *critical);
	error = measure_grains(g, outermost, &idle);
	if (error == 0) {
		few = are_few(&idle);
		error = advisor__add(a, few ? GRAIN_ADVICE_FEW_GRAINS : GRAIN_ADVICE_LITTLE_PARALLELISM,
				     GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM, idle.definition,
				     stake->saves_ns, &out);
	}
	if (error < 0)
		return error;
	evidence = &out->public.evidence;
	evidence->grains = idle.grains;
	evidence->of = idle.grains;
	evidence->worst = idle.longest;
	evidence->threads = idle.threads;
	evidence->idle_percent = 100 * idle.idle_ns / idle.core_ns;
	if (idle.grains) {
		evidence->median_exec_ns = idle.exec_ns;
		evidence->median_cost_ns = idle.cost_ns;
	}
	if (few)
		say_few(g, &idle, out);
	else
		say_idle(g, &idle, out);
	return 0;
}

int advisor__parallelism(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	struct stake *stakes = NULL;
	uint32_t *outermost = NULL;
	size_t i, n;
	int error;

	/* If begins are computed from durations, idle times are not known. */
	if (g->info.times_derived)
		return 0;
	error = memory__array(&g->memory, g->region_count, sizeof *outermost, (void **)&outermost);
	if (error == 0)
		error = stakes__new(g, &stakes);
	if (error == 0)
		find_outermost(g, outermost);
	for (i = 0; error == 0 && i < g->region_count; i++) {
		const struct region *r = &g->regions[i];
		struct stake *stake = stakes__of(g, stakes, r->definition);

		if (!region__is_team(r) || a->explained[i] || outermost[i] != i)
			continue;
		stake->grains++;
		stake->saves_ns += (idle_ns(a, i) - a->uneven_ns[i]) / r->threads;
	}
	n = error == 0 ? stakes__sort(a, stakes) : 0;
	for (i = 0; error == 0 && i < n; i++)
		error = advise(a, &stakes[i], outermost);
	stakes__free(g, &stakes);
	memory__release(&g->memory, (void **)&outermost, g->region_count, sizeof *outermost);
	return error;
}
