/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice on grains that take longer than they should: longer than in a baseline (work deviation, PPOPP16
 * section 3.2), or because their cores stall for memory. What else is known of these grains decides what the
 * advice proposes.
 */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"
#include "analysis/graph/counters.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cause explains an excess when it makes up at least this share of it, or of the grains. */
#define CAUSE_SHARE 0.5
/*
 * The grains of a definition are inflated when their sum is this many times that of the baseline; smaller
 * differences are usual between runs.
 */
#define INFLATED 1.1

/* The grains of one definition. */
struct slow {
	uint64_t known;	  /* grains whose metric is known */
	uint64_t flagged; /* the metric is beyond the threshold */
	uint64_t scattered, far,
		missing; /* grains with the problem scatter, memory hierarchy utilization or cache misses */
	double exec_ns, excess_ns, critical_ns;
	double off_ns, ready_ns, lock_ns;
	double worst_ns;
	uint32_t worst;
	uint64_t nodes; /* set of NUMA nodes: bit number modulo 64 */
};

/* Makes the table from CPU to NUMA node. Nodes from 64 on count as unknown. */
static int find_nodes(struct grain_graph *g, uint8_t **out)
{
	const struct event_stream *s = g->stream;
	size_t i;
	int error = memory__array(&g->memory, UINT16_MAX + 1, 1, (void **)out);

	if (error < 0)
		return error;
	memset(*out, UINT8_MAX, UINT16_MAX + 1);
	for (i = 0; i < s->cpu_count; i++)
		if (s->cpus[i].cpu <= UINT16_MAX)
			(*out)[s->cpus[i].cpu] = (uint8_t)(s->cpus[i].node % 64);
	return 0;
}

/* Adds a grain to its definition. `excess_ns`: how much too long the grain takes. */
static void add(const struct advisor *a, struct slow *slow, uint32_t context, double excess_ns,
		enum grain_problem problem, const uint8_t *nodes)
{
	const struct grain_graph *g = a->graph;
	const struct context *c = &g->contexts[context];

	slow->known++;
	slow->flagged += c->problems >> problem & 1;
	slow->scattered += c->problems >> GRAIN_PROBLEM_SCATTER & 1;
	slow->far += c->problems >> GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION & 1;
	slow->missing += c->problems >> GRAIN_PROBLEM_CACHE_MISS_RATIO & 1;
	slow->exec_ns += (double)c->exec_ns;
	slow->excess_ns += excess_ns;
	slow->critical_ns += excess_ns * advisor__critical_share(a, context);
	slow->off_ns += (double)context__off(g, c);
	slow->ready_ns += (double)context__ready(g, c);
	slow->lock_ns += (double)context__lock(g, c);
	if (excess_ns > slow->worst_ns) {
		slow->worst_ns = excess_ns;
		slow->worst = context;
	}
	if (c->item_count && nodes[g->places[g->items[c->first_item].place].cpu] < 64)
		slow->nodes |= UINT64_C(1) << nodes[g->places[g->items[c->first_item].place].cpu];
}

static uint32_t count_nodes(const struct slow *slow)
{
	return (uint32_t)__builtin_popcountll(slow->nodes);
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : NAN;
}

static void fill(const struct grain_graph *g, const struct slow *slow, struct grain_evidence *evidence)
{
	evidence->grains = slow->flagged;
	evidence->of = slow->known;
	evidence->worst = slow->worst;
	evidence->threads = g->info.threads;
	evidence->nodes = count_nodes(slow);
	if (g->scheduler_seen)
		evidence->off_cpu_percent = percent(slow->off_ns, slow->exec_ns);
	if (g->problems[GRAIN_PROBLEM_SCATTER].available)
		evidence->scattered_percent = percent((double)slow->scattered, (double)slow->known);
}

/* Proposes where to place grains and their data, as far as this is known. */
static void say_placement(const struct grain_graph *g, const struct slow *slow, const char *where,
			  struct advice *out)
{
	bool access = (double)(slow->far > slow->missing ? slow->far : slow->missing) >=
		      CAUSE_SHARE * (double)slow->known;
	bool scattered = (double)slow->scattered >= CAUSE_SHARE * (double)slow->known;
	uint32_t nodes = count_nodes(slow);

	if (nodes > 1)
		snprintf(out->text, sizeof out->text,
			 "keep data near the threads that use it: let the threads that compute at %s also "
			 "initialize its data (first touch), or spread it over the nodes (numactl "
			 "--interleave), "
			 "and bind threads (OMP_PROC_BIND=close)%s",
			 where,
			 access ? "; then walk through memory in the order in which it lies (loop order, "
				  "blocking)"
				: "");
	else if (access)
		snprintf(out->text, sizeof out->text,
			 "improve how %s goes through memory: in the order in which data lies (loop order), "
			 "in "
			 "blocks that fit the cache, without threads writing to the same cache lines",
			 where);
	else if (scattered)
		snprintf(
			out->text, sizeof out->text,
			"keep siblings of %s on cores that share a cache: bind threads (OMP_PROC_BIND=close, "
			"affinity clause), create larger tasks near their data",
			where);
	else
		snprintf(out->text, sizeof out->text,
			 "look at what the threads share while they run %s: memory bandwidth, cache lines "
			 "that "
			 "several write (false sharing), the clock frequency%s",
			 where,
			 g->problems[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION].available
				 ? ""
				 : "; counters of cycles and stalls would tell");
}

static void say_inflation(const struct grain_graph *g, const struct slow *slow, struct advice *out)
{
	const char *where = advice__place(g, out->public.definition);
	double base_ns = slow->exec_ns - slow->excess_ns;
	const struct off_cpu what = {
		.off_ns = slow->off_ns,
		.ready_ns = slow->ready_ns,
		.off = "its threads were off their cores",
		.blocked = "its grains were blocked",
		.of_what = " of that time",
	};
	char known[32], flagged[32], exec[32], base[32], locked[32];

	fill(g, slow, &out->public.evidence);
	out->public.evidence.deviation = slow->exec_ns / base_ns;
	snprintf(
		out->finding, sizeof out->finding,
		"the %s grains of %s run %.1f times as long as in the baseline: %s altogether instead of %s; "
		"%s are beyond the threshold of %.4g",
		advice__count(slow->known, known), where, slow->exec_ns / base_ns,
		advice__time(slow->exec_ns, exec), advice__time(base_ns, base),
		advice__count(slow->flagged, flagged), g->problems[GRAIN_PROBLEM_WORK_DEVIATION].threshold);
	if (slow->off_ns >= CAUSE_SHARE * slow->excess_ns)
		advice__off_cpu(g, &what, out->text, sizeof out->text);
	else if (slow->lock_ns >= CAUSE_SHARE * slow->excess_ns)
		snprintf(out->text, sizeof out->text,
			 "the grains of %s wait for locks for %s of that time: shorten what they do under a "
			 "lock, "
			 "or use several",
			 where, advice__time(slow->lock_ns, locked));
	else
		say_placement(g, slow, where, out);
}

static void say_stalls(const struct grain_graph *g, const struct slow *slow, struct advice *out)
{
	const char *where = advice__place(g, out->public.definition);
	char known[32], flagged[32], excess[32], exec[32];

	fill(g, slow, &out->public.evidence);
	out->public.evidence.stalled_percent = percent(slow->excess_ns, slow->exec_ns);
	snprintf(
		out->finding, sizeof out->finding,
		"%s of the %s grains of %s compute for less than %.4g times as long as they wait for memory; "
		"waiting beyond that takes %s of their %s",
		advice__count(slow->flagged, flagged), advice__count(slow->known, known), where,
		g->problems[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION].threshold,
		advice__time(slow->excess_ns, excess), advice__time(slow->exec_ns, exec));
	say_placement(g, slow, where, out);
}

/* Exec time of the grain minus exec time of the same grain in the baseline. NAN: not known. */
static double inflation(const struct grain_graph *g, uint32_t context)
{
	return (double)g->contexts[context].exec_ns * (1 - 1 / g->deviation[context]);
}

/* Stalled time above the threshold. At utilization u, cycles stall for 1 / (1 + u) of the time. */
static double stalls(const struct grain_graph *g, uint32_t context)
{
	double threshold = g->problems[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION].threshold;
	double utilization = context__memory_utilization(g, context);

	if (isnan(utilization))
		return NAN;
	return fmax(0, (double)g->contexts[context].exec_ns * (1 / (1 + utilization) - 1 / (1 + threshold)));
}

/* Adds the advice of one of the two kinds. The kinds differ in how they measure the excess of a grain. */
static int advise(struct advisor *a, enum grain_advice_kind kind, enum grain_problem problem,
		  double (*excess)(const struct grain_graph *, uint32_t),
		  void (*say)(const struct grain_graph *, const struct slow *, struct advice *))
{
	struct grain_graph *g = a->graph;
	struct slow *slow = NULL;
	uint8_t *nodes = NULL;
	size_t i;
	int error = memory__array(&g->memory, g->definition_count + 1, sizeof *slow, (void **)&slow);

	if (error == 0)
		error = find_nodes(g, &nodes);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		double excess_ns = context__is_complete_grain(c) ? excess(g, (uint32_t)i) : NAN;

		if (isfinite(excess_ns))
			add(a, &slow[c->definition == GRAIN_NONE ? g->definition_count : c->definition],
			    (uint32_t)i, excess_ns, problem, nodes);
	}
	for (i = 0; error == 0 && i <= g->definition_count; i++) {
		double saves = advisor__shorter(a, slow[i].excess_ns, fmax(0, slow[i].critical_ns));
		struct advice *advice;

		if (slow[i].excess_ns <= 0 || saves < a->worth_ns ||
		    (kind == GRAIN_ADVICE_INFLATION &&
		     slow[i].exec_ns < INFLATED * (slow[i].exec_ns - slow[i].excess_ns)))
			continue;
		error = advisor__add(a, kind, problem, i == g->definition_count ? GRAIN_NONE : (uint32_t)i,
				     saves, &advice);
		if (error == 0)
			say(g, &slow[i], advice);
	}
	memory__release(&g->memory, (void **)&nodes, UINT16_MAX + 1, 1);
	memory__release(&g->memory, (void **)&slow, g->definition_count + 1, sizeof *slow);
	return error;
}

int advisor__inflation(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	int error = 0;

	if (g->deviation)
		error = advise(a, GRAIN_ADVICE_INFLATION, GRAIN_PROBLEM_WORK_DEVIATION, inflation,
			       say_inflation);
	if (error == 0 && g->problems[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION].available)
		error = advise(a, GRAIN_ADVICE_STALLS, GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION, stalls,
			       say_stalls);
	return error;
}
