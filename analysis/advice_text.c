/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/advice_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A task is worth creating from this many times its cost on; tried in this order. */
static const double worthwhile[] = {10, 5, 2};
/* Tasks per thread that still balance. */
#define TASKS_PER_THREAD 4

const char *advice__count(uint64_t count, char text[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, count), i, used = 0;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

const char *advice__time(double ns, char text[32])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;
	uint64_t tenths;

	while (unit < 3 && ns >= 999.5) {
		ns /= 1000;
		unit++;
	}
	tenths = (uint64_t)(ns * 10 + 0.5);
	if (tenths < 1000 && unit > 0)
		snprintf(text, 32, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[unit]);
	else
		snprintf(text, 32, "%" PRIu64 " %s", (uint64_t)(ns + 0.5), units[unit]);
	return text;
}

static const char *source(const struct grain_graph *g, uint32_t definition)
{
	return definition == GRAIN_NONE ? "an unknown place" : g->definitions[definition].source;
}

/* All tasks of one definition at one depth. */
struct level_cost {
	double inclusive_ns;
	uint64_t tasks;
};

static bool worth_creating(const struct level_cost *level, double cost_ns)
{
	return level->tasks && level->inclusive_ns >= cost_ns * (double)level->tasks;
}

/* The deepest depth, but the last, at which creating tasks still pays; false when there is none. */
static bool find_cutoff(const struct level_cost *levels, size_t depths, double cost_ns, uint32_t threads,
			size_t *out)
{
	size_t k, d;

	for (k = 0; k < sizeof worthwhile / sizeof *worthwhile; k++) {
		for (d = depths - 1; d-- > 0;)
			if (worth_creating(&levels[d], worthwhile[k] * cost_ns))
				break;
		if (d < depths && levels[d].tasks >= (uint64_t)TASKS_PER_THREAD * threads) {
			*out = d;
			return true;
		}
	}
	/* Not enough tasks anywhere: the most that there are. */
	for (d = depths - 1; d-- > 0;) {
		if (worth_creating(&levels[d], worthwhile[2] * cost_ns)) {
			*out = d;
			return true;
		}
	}
	return false;
}

static int measure_levels(struct grain_graph *g, const struct small_tasks *small, const uint64_t *inclusive,
			  struct level_cost **levels, size_t *depths, uint64_t *instances)
{
	size_t i;
	int error;

	*depths = 0;
	*instances = 0;
	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (c->kind != GRAIN_TASK || c->definition != small->definition)
			continue;
		++*instances;
		if (c->depth >= *depths)
			*depths = (size_t)c->depth + 1;
	}
	error = memory__array(&g->memory, *depths, sizeof **levels, (void **)levels);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (c->kind != GRAIN_TASK || c->definition != small->definition || isnan(c->cost_ns))
			continue;
		(*levels)[c->depth].tasks++;
		(*levels)[c->depth].inclusive_ns += (double)inclusive[i];
	}
	return error;
}

int advice__small_tasks(struct grain_graph *g, const struct small_tasks *small, const uint64_t *inclusive,
			struct advice *out)
{
	const char *where = source(g, small->definition);
	struct level_cost *levels = NULL;
	uint64_t instances;
	size_t depths, cutoff = 0, d, used = 0;
	char tasks[32], all[32], exec[32], cost[32];
	int error = measure_levels(g, small, inclusive, &levels, &depths, &instances);

	if (error < 0)
		return error;
	snprintf(out->finding, sizeof out->finding,
		 "%s of %s tasks created at %s typically run %s, less than the %s it costs to create and "
		 "join one",
		 advice__count(small->tasks, tasks), advice__count(instances, all), where,
		 advice__time(small->exec_ns, exec), advice__time(small->cost_ns, cost));
	for (d = 0; d < depths; d++)
		used += levels[d].tasks > 0;
	if (used > 1 && find_cutoff(levels, depths, small->cost_ns, g->info.threads, &cutoff))
		snprintf(out->text, sizeof out->text,
			 "create fewer, larger tasks: below depth %zu call the function directly (an if or "
			 "final clause, or a test before the directive)",
			 cutoff);
	else if (used == 1 && small->exec_ns >= 1)
		snprintf(out->text, sizeof out->text,
			 "create fewer, larger tasks: give each about %.0f times as much to do (a loop "
			 "inside the task, or taskloop with grainsize)",
			 ceil(worthwhile[0] * small->cost_ns / small->exec_ns));
	else
		snprintf(out->text, sizeof out->text,
			 "create fewer, larger tasks: do more in each, or do the work without a task");
	memory__release(&g->memory, (void **)&levels, depths, sizeof *levels);
	return 0;
}

/* The definition whose tasks make most of the critical path; GRAIN_NONE when that is not in tasks. */
static uint32_t most_critical(const struct grain_graph *g)
{
	uint64_t most = g->totals.span_ns / 4;
	uint32_t definition = GRAIN_NONE;
	size_t i;

	for (i = 0; i < g->profile_count; i++) {
		if (g->profiles[i].critical_path_ns > most) {
			most = g->profiles[i].critical_path_ns;
			definition = g->profiles[i].definition;
		}
	}
	return definition;
}

void advice__idle_threads(const struct grain_graph *g, const struct idle_threads *idle, struct advice *out)
{
	uint32_t critical = most_critical(g);
	char idle_text[32], core_text[32];

	snprintf(out->finding, sizeof out->finding,
		 "its %" PRIu32 " threads have nothing to run for %.0f %% of their time (%s of %s)",
		 idle->threads, 100 * idle->idle_ns / idle->core_ns, advice__time(idle->idle_ns, idle_text),
		 advice__time(idle->core_ns, core_text));
	if (critical != GRAIN_NONE)
		snprintf(out->text, sizeof out->text,
			 "make more work available at a time: the critical path runs mostly through the "
			 "tasks of %s; split them, or create them earlier",
			 source(g, critical));
	else
		snprintf(out->text, sizeof out->text,
			 "make more work available at a time: the critical path runs mostly outside of "
			 "tasks, in the code that creates them; turn more of it into tasks");
}

void advice__imbalance(const struct grain_graph *g, const struct imbalance *im, struct advice *out)
{
	const char *where = source(g, out->public.definition);
	char members[32], longest[32], mean[32];

	snprintf(out->finding, sizeof out->finding,
		 "of %s siblings from %s the longest takes %s, their mean is %s; the others wait for it",
		 advice__count(im->members, members), where, advice__time(im->longest_ns, longest),
		 advice__time(im->mean_ns, mean));
	snprintf(out->text, sizeof out->text,
		 "divide the work at %s more evenly: split the longest pieces, or create them first", where);
}
