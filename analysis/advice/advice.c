/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds all advice and sorts it by the wall-clock time at stake: an upper bound of what following the advice
 * saves. Each kind of advice has a file of its own.
 */
#include "analysis/advice/advice.h"
#include "analysis/advice/advisor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Advice that saves less than this share of the wall time is left out. */
#define WORTH_SHARE 0.02
/* If the program itself loses less than this part of its threads' time, there is nothing to advise about it.
 */
#define LEAST_LOSS 0.05

/*
 * The part of all waiting that tasks cause. Waiting for lack of work does not count: with fewer tasks,
 * threads would not have more to run.
 */
static double find_sync_share(const struct grain_graph *g, double waits)
{
	double idle = 0;
	size_t i;

	for (i = 0; i < g->region_count; i++)
		idle += (double)g->regions[i].idle_ns;
	return waits > idle ? (waits - idle) / waits : 0;
}

static void find_parts(struct advisor *a)
{
	if (grain_graph__account(a->graph)->why)
		return;
	for (size_t i = 0; i < grain_graph__account_part_count(a->graph); i++) {
		const struct grain_account_part *part = grain_graph__account_part(a->graph, i);

		if (!part->serial && part->definition != GRAIN_NONE)
			a->parts[part->definition] = part;
	}
}

static int find_times(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	double waits = 0;
	size_t i;
	int error = memory__array(&g->memory, g->context_count, sizeof *a->critical, (void **)&a->critical);

	if (error == 0)
		error = memory__array(&g->memory, g->definition_count + 1, sizeof *a->uneven,
				      (void **)&a->uneven);
	if (error == 0)
		error = memory__array(&g->memory, g->region_count, sizeof *a->explained,
				      (void **)&a->explained);
	if (error == 0)
		error = memory__array(&g->memory, g->region_count, sizeof *a->uneven_ns,
				      (void **)&a->uneven_ns);
	if (error == 0)
		error = memory__array(&g->memory, g->definition_count, sizeof *a->parts, (void **)&a->parts);
	if (error < 0)
		return error;
	find_parts(a);
	for (i = 0; i < g->region_count; i++)
		a->nested |= region__is_team(&g->regions[i]) && g->regions[i].begun &&
			     g->regions[i].parent != GRAIN_NONE &&
			     g->contexts[g->regions[i].parent].region != GRAIN_NONE;
	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		uint32_t k;

		waits += (double)c->wait_ns;
		if (!(c->flags & CONTEXT_CRITICAL))
			continue;
		for (k = c->first_item; k < c->first_item + c->item_count; k++)
			if (g->items[k].kind == GRAIN_FRAGMENT && g->items[k].flags & ITEM_CRITICAL)
				a->critical[i] += g->items[k].own_ns;
	}
	a->sync_share = find_sync_share(g, waits);
	return 0;
}

static bool is_vague(const struct advice *advice)
{
	return advice->public.kind == GRAIN_ADVICE_LITTLE_PARALLELISM;
}

static int by_saving(const void *x, const void *y)
{
	const struct advice *a = x, *b = y;

	if (a->public.saves_ns != b->public.saves_ns)
		return a->public.saves_ns > b->public.saves_ns ? -1 : 1;
	/* What names a cause comes before what only says that threads had nothing to run. */
	if (is_vague(a) != is_vague(b))
		return is_vague(a) ? 1 : -1;
	if (a->public.problem != b->public.problem)
		return a->public.problem < b->public.problem ? -1 : 1;
	if (a->public.kind != b->public.kind)
		return a->public.kind < b->public.kind ? -1 : 1;
	return (a->public.definition > b->public.definition) - (a->public.definition < b->public.definition);
}

/* Whether the program does next to nothing but work, as far as other programs and measuring let it. */
static bool is_efficient(const struct grain_graph *g)
{
	static const enum grain_cause own[] = {
		GRAIN_CAUSE_SERIAL,    GRAIN_CAUSE_FORK_JOIN,	 GRAIN_CAUSE_MANAGEMENT,
		GRAIN_CAUSE_IMBALANCE, GRAIN_CAUSE_LACK_OF_WORK, GRAIN_CAUSE_LOCKS,
		GRAIN_CAUSE_BLOCKED,   GRAIN_CAUSE_UNKNOWN,
	};
	const struct grain_account *account = grain_graph__account(g);
	double lost = 0;

	if (account->why || account->threads < 2)
		return false;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		lost += (double)account->all.cause_ns[own[i]];
	return lost < LEAST_LOSS * (double)account->all.capacity_ns;
}

/* Advice on time that threads lose. The other kinds say why work takes longer than it could. */
static bool is_about_losses(enum grain_advice_kind kind)
{
	return kind != GRAIN_ADVICE_INFLATION && kind != GRAIN_ADVICE_STALLS &&
	       kind != GRAIN_ADVICE_FIRST_TOUCH && kind != GRAIN_ADVICE_OVERSUBSCRIBED &&
	       kind != GRAIN_ADVICE_OTHER_PROGRAMS;
}

static void drop_trifles(struct grain_graph *g)
{
	size_t kept = 0;

	if (!is_efficient(g))
		return;
	for (size_t i = 0; i < g->advice_count; i++)
		if (!is_about_losses(g->advice[i].public.kind))
			g->advice[kept++] = g->advice[i];
	g->advice_count = kept;
}

int graph__advise(struct grain_graph *graph)
{
	static int (*const kinds[])(struct advisor *) = {
		advisor__small_regions, advisor__small_tasks, advisor__small_chunks, advisor__creation,
		advisor__balance,	advisor__parallelism, advisor__inflation,    advisor__locks,
		advisor__first_touch,	advisor__losses,
	};
	struct advisor a = {.graph = graph, .worth_ns = WORTH_SHARE * (double)graph->totals.wall_ns};
	size_t i;
	int error;

	if (graph->totals.wall_ns == 0)
		return 0;
	error = find_times(&a);
	for (i = 0; error == 0 && i < sizeof kinds / sizeof *kinds; i++)
		error = kinds[i](&a);
	memory__release(&graph->memory, (void **)&a.critical, graph->context_count, sizeof *a.critical);
	memory__release(&graph->memory, (void **)&a.explained, graph->region_count, sizeof *a.explained);
	memory__release(&graph->memory, (void **)&a.uneven_ns, graph->region_count, sizeof *a.uneven_ns);
	memory__release(&graph->memory, (void **)&a.parts, graph->definition_count, sizeof *a.parts);
	memory__release(&graph->memory, (void **)&a.uneven, graph->definition_count + 1, sizeof *a.uneven);
	drop_trifles(graph);
	if (error < 0 || !graph->advice_count)
		return error;
	qsort(graph->advice, graph->advice_count, sizeof *graph->advice, by_saving);
	for (i = 0; i < graph->advice_count; i++) {
		graph->advice[i].public.finding = graph->advice[i].finding;
		graph->advice[i].public.text = graph->advice[i].text;
	}
	return 0;
}
