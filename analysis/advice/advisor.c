// SPDX-License-Identifier: BSD-2-Clause
/* What all kinds of advice need. */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
	[GRAIN_ADVICE_SMALL_TASKS] = "small_tasks",
	[GRAIN_ADVICE_SMALL_CHUNKS] = "small_chunks",
	[GRAIN_ADVICE_LITTLE_PARALLELISM] = "little_parallelism",
	[GRAIN_ADVICE_FEW_GRAINS] = "few_grains",
	[GRAIN_ADVICE_CREATION] = "creation_bottleneck",
	[GRAIN_ADVICE_IMBALANCE] = "imbalance",
	[GRAIN_ADVICE_INFLATION] = "work_inflation",
	[GRAIN_ADVICE_STALLS] = "memory_stalls",
	[GRAIN_ADVICE_LOCKS] = "lock_waiting",
	[GRAIN_ADVICE_FIRST_TOUCH] = "first_touch",
	[GRAIN_ADVICE_SERIAL_CODE] = "serial_code",
	[GRAIN_ADVICE_SMALL_REGIONS] = "small_regions",
	[GRAIN_ADVICE_OVERSUBSCRIBED] = "oversubscription",
	[GRAIN_ADVICE_OTHER_PROGRAMS] = "other_programs",
};

const char *grain_advice__kind_name(enum grain_advice_kind kind)
{
	return (size_t)kind < sizeof kind_names / sizeof *kind_names ? kind_names[kind] : "unknown";
}

uint32_t advisor__threads(const struct grain_graph *g, const struct context *c)
{
	uint32_t threads = c->region == GRAIN_NONE ? 1 : g->regions[c->region].threads;

	return threads ? threads : 1;
}

int stakes__new(struct grain_graph *g, struct stake **out)
{
	size_t i;
	int error = memory__array(&g->memory, g->definition_count + 1, sizeof **out, (void **)out);

	for (i = 0; error == 0 && i <= g->definition_count; i++)
		(*out)[i].definition = i == g->definition_count ? GRAIN_NONE : (uint32_t)i;
	return error;
}

void stakes__free(struct grain_graph *g, struct stake **stakes)
{
	memory__release(&g->memory, (void **)stakes, g->definition_count + 1, sizeof **stakes);
}

struct stake *stakes__of(const struct grain_graph *g, struct stake *stakes, uint32_t definition)
{
	return &stakes[definition == GRAIN_NONE ? g->definition_count : definition];
}

static int by_stake(const void *x, const void *y)
{
	const struct stake *a = x, *b = y;

	if (a->saves_ns != b->saves_ns)
		return a->saves_ns > b->saves_ns ? -1 : 1;
	return (a->definition > b->definition) - (a->definition < b->definition);
}

size_t stakes__sort(const struct advisor *a, struct stake *stakes)
{
	size_t n = a->graph->definition_count + 1, worth = 0;

	qsort(stakes, n, sizeof *stakes, by_stake);
	while (worth < n && worth < ADVICE_CANDIDATES && stakes[worth].grains &&
	       stakes[worth].saves_ns >= a->worth_ns)
		worth++;
	return worth;
}

int advisor__add(struct advisor *a, enum grain_advice_kind kind, enum grain_problem problem,
		 uint32_t definition, double saves_ns, struct advice **out)
{
	struct grain_graph *g = a->graph;
	int error = memory__grow(&g->memory, (void **)&g->advice, &a->capacity, g->advice_count,
				 sizeof *g->advice);

	if (error < 0)
		return error;
	*out = &g->advice[g->advice_count++];
	memset(*out, 0, sizeof **out);
	(*out)->public = (struct grain_advice){
		.kind = kind,
		.problem = problem,
		.definition = definition,
		.saves_ns = saves_ns < (double)g->totals.wall_ns ? (uint64_t)saves_ns : g->totals.wall_ns,
		.evidence = {.worst = GRAIN_NONE,
			     .cutoff_depth = GRAIN_NONE,
			     .median_exec_ns = NAN,
			     .median_cost_ns = NAN,
			     .idle_percent = NAN,
			     .deviation = NAN,
			     .off_cpu_percent = NAN,
			     .scattered_percent = NAN,
			     .stalled_percent = NAN,
			     .elsewhere_percent = NAN},
	};
	return 0;
}

double advisor__shorter(const struct advisor *a, double work_ns, double critical_ns)
{
	const struct grain_totals *t = &a->graph->totals;
	double threads = a->graph->info.threads;
	double before = (double)t->work_ns / threads + (double)t->span_ns * (1 - 1 / threads);
	double less = work_ns / threads + critical_ns * (1 - 1 / threads);
	double saves = before > 0 ? (double)t->wall_ns * less / before : 0;

	return saves < work_ns ? saves : work_ns;
}

double advisor__critical_share(const struct advisor *a, uint32_t context)
{
	uint64_t exec = a->graph->contexts[context].exec_ns;

	return exec ? (double)a->critical[context] / (double)exec : 0;
}

double advisor__task_cost(const struct advisor *a, const struct context *c)
{
	double waiting = c->cost_ns - (double)c->create_ns;

	return (double)c->create_ns + (isnan(waiting) ? 0 : waiting * a->sync_share);
}

void advice__off_cpu(const struct grain_graph *graph, const struct off_cpu *what, char *text, size_t size)
{
	const struct grain_neighbour *most = graph->neighbour_count ? &graph->neighbours[0] : NULL;
	char off[32], taker[64] = "";
	uint64_t taken_ns = 0;

	advice__time(what->off_ns, off);
	if (2 * what->ready_ns < what->off_ns) {
		snprintf(text, size,
			 "%s for %s%s, waiting for input or output, for another process, or asleep: do less "
			 "of "
			 "that in it, or have more grains that can run meanwhile",
			 what->blocked, off, what->of_what);
		return;
	}
	for (size_t i = 0; i < graph->neighbour_count; i++)
		taken_ns += graph->neighbours[i].taken_ns;
	if (most && 2 * most->taken_ns <= taken_ns)
		most = NULL;
	if (most && !most->own)
		snprintf(taker, sizeof taker, ", mostly taken by %s", most->command);
	snprintf(text, size, "%s: %s for %s%s%s; use no more threads than free cores%s",
		 most && most->own ? "its own threads took each other's cores"
				   : "this is not the program's fault",
		 what->off, off, what->of_what, taker,
		 most && most->own ? "" : ", and measure while nothing else runs");
}
