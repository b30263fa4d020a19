/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advice on first touch: one thread was the first to touch the memory. So the memory lies on one NUMA node,
 * while teams on other nodes use it.
 */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"
#include "analysis/graph/counters.h"
#include "analysis/machine/numa.h"

#include <math.h>
#include <string.h>

#define NAMED 3

/* Finds the node with the most memory that other nodes use. Returns the number of those bytes. */
static uint64_t worst_node(const struct numa *n, size_t *node)
{
	uint64_t most = 0;

	for (size_t k = 0; k < n->node_count; k++) {
		uint64_t bytes = 0;

		for (size_t i = 0; i < n->area_count; i++)
			if (n->areas[i].misplaced && n->areas[i].node == k)
				bytes += n->areas[i].resident_bytes[GRAIN_LOOK_LAST];
		if (bytes <= most)
			continue;
		most = bytes;
		*node = k;
	}
	return most;
}

/*
 * An access from node `from` to `node` takes longer than an access to local memory. Returns the extra part of
 * its time.
 */
static double slower(const struct numa *n, size_t from, size_t node)
{
	uint32_t own = n->distance[from * n->node_count + from];
	uint32_t far = n->distance[from * n->node_count + node];

	return own == GRAIN_NONE || far == GRAIN_NONE || far <= own ? 0 : 1 - (double)own / far;
}

struct far {
	double elsewhere_ns, team_ns; /* exec time of teams: on the other nodes; on all nodes */
	double work_ns, critical_ns;  /* time that is saved if all of that memory is near */
	uint32_t definition;	      /* the definition with the most time on other nodes */
	uint32_t nodes;		      /* nodes on which teams ran */
};

/* An upper bound of the share of its time that the grain waits for memory. 1 if stalls were not counted. */
static double waiting(const struct grain_graph *g, uint32_t context)
{
	double utilization = context__memory_utilization(g, context);

	return isnan(utilization) ? 1 : 1 / (1 + utilization);
}

static void add_up(const struct advisor *a, size_t node, uint64_t *by_node, struct stake *stakes,
		   struct far *far)
{
	const struct grain_graph *g = a->graph;
	const struct numa *n = g->numa;

	for (size_t i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];
		double work_ns = 0;

		if (c->kind == GRAIN_INITIAL)
			continue;
		memset(by_node, 0, n->node_count * sizeof *by_node);
		numa__add_context(g, c, by_node);
		for (size_t k = 0; k < n->node_count; k++) {
			far->team_ns += (double)by_node[k];
			if (k == node)
				continue;
			far->elsewhere_ns += (double)by_node[k];
			stakes__of(g, stakes, c->definition)->saves_ns += (double)by_node[k];
			work_ns += (double)by_node[k] * slower(n, k, node);
		}
		if (work_ns <= 0)
			continue;
		work_ns *= waiting(g, (uint32_t)i);
		far->work_ns += work_ns;
		far->critical_ns += work_ns * advisor__critical_share(a, (uint32_t)i);
	}
	far->definition = GRAIN_NONE;
	for (size_t i = 0, most = g->definition_count; i < g->definition_count; i++) {
		if (stakes[i].saves_ns <= 0 ||
		    (most < g->definition_count && stakes[i].saves_ns <= stakes[most].saves_ns))
			continue;
		most = i;
		far->definition = (uint32_t)i;
	}
	for (size_t k = 0; k < n->node_count; k++)
		far->nodes += n->nodes[k].team_ns > 0;
}

static const char *size_text(uint64_t bytes, char text[32])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double size = (double)bytes / 1024;
	size_t unit = 0;

	while (unit < 3 && size >= 1023.95) {
		size /= 1024;
		unit++;
	}
	snprintf(text, 32, size < 99.95 && size != floor(size) ? "%.1f %s" : "%.0f %s", size, units[unit]);
	return text;
}

/* "grid (64 MiB)", "an allocation of 64 MiB" */
static void name_area(const struct grain_area *area, char *text, size_t size)
{
	char bytes[32];

	size_text(area->bytes, bytes);
	if (area->name[0])
		snprintf(text, size, "%.80s (%s)", area->name, bytes);
	else if (area->module[0])
		snprintf(text, size, "data of %.80s (%s)", area->module, bytes);
	else if (!strcmp(area->kind, "heap"))
		snprintf(text, size, "the heap (%s)", bytes);
	else
		snprintf(text, size, "%s of %s",
			 !strcmp(area->kind, "allocation") ? "an allocation" : "a mapping", bytes);
}

/*
 * Writes the names of the areas on that node, the largest first, as in the trace. `first` gets the name of
 * the largest area.
 */
static size_t name_areas(const struct numa *n, size_t node, char *text, size_t size, char *first,
			 size_t first_size)
{
	size_t count = 0, used = 0, all = 0;

	for (size_t i = 0; i < n->area_count; i++)
		all += n->areas[i].misplaced && n->areas[i].node == node;
	for (size_t i = 0; i < n->area_count && used < size; i++) {
		const struct grain_area *area = &n->areas[i];
		char name[160];

		if (!area->misplaced || area->node != node || count == NAMED)
			continue;
		name_area(area, name, sizeof name);
		if (!count)
			snprintf(first, first_size, "%.80s", area->name[0] ? area->name : "it");
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 !count		    ? ""
					 : count + 1 == all ? " and "
							    : ", ",
					 name);
		count++;
	}
	if (all > count && used < size)
		snprintf(text + used, size - used, " and %zu more", all - count);
	return all;
}

static void say(const struct grain_graph *g, const struct far *far, size_t node, uint64_t bytes,
		struct advice *out)
{
	const struct numa *n = g->numa;
	const char *where = advice__place(g, far->definition);
	struct grain_evidence *evidence = &out->public.evidence;
	char names[320], first[96] = "it";
	size_t count = name_areas(n, node, names, sizeof names, first, sizeof first);

	evidence->nodes = far->nodes;
	evidence->threads = g->info.threads;
	evidence->memory_bytes = bytes;
	evidence->elsewhere_percent = 100 * far->elsewhere_ns / far->team_ns;
	snprintf(out->finding, sizeof out->finding,
		 "%s %s on NUMA node %u, where %s first touched, but %.0f %% of the teams' time is on other "
		 "nodes",
		 names, count == 1 ? "lies" : "lie", n->nodes[node].node, count == 1 ? "it was" : "they were",
		 evidence->elsewhere_percent);
	snprintf(out->text, sizeof out->text,
		 "initialize %s in parallel, as %s uses %s (first touch), or spread memory (numactl "
		 "--interleave=all); bind threads (OMP_PROC_BIND=close)%s",
		 count == 1 ? first : "them", where, count == 1 ? "it" : "them",
		 g->problems[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION].available
			 ? ""
			 : ". What it saves is a bound: counters of cycles and stalls would tell more");
}

int advisor__first_touch(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	const struct numa *n = g->numa;
	struct far far = {0};
	struct stake *stakes = NULL;
	struct advice *advice;
	uint64_t *by_node = NULL, all = 0, bytes;
	size_t node = 0;
	double saves;
	int error;

	bytes = worst_node(n, &node);
	if (!bytes)
		return 0;
	for (size_t k = 0; k < n->node_count; k++)
		all += n->nodes[k].resident_bytes[GRAIN_LOOK_LAST];
	error = memory__array(&g->memory, n->node_count, sizeof *by_node, (void **)&by_node);
	if (error == 0)
		error = stakes__new(g, &stakes);
	if (error == 0) {
		add_up(a, node, by_node, stakes, &far);
		saves = advisor__shorter(a, far.work_ns * (double)bytes / (double)all,
					 far.critical_ns * (double)bytes / (double)all);
		error = saves < a->worth_ns ? 0
					    : advisor__add(a, GRAIN_ADVICE_FIRST_TOUCH, GRAIN_PROBLEM_COUNT,
							   far.definition, saves, &advice);
		if (error == 0 && saves >= a->worth_ns)
			say(g, &far, node, bytes, advice);
	}
	stakes__free(g, &stakes);
	memory__release(&g->memory, (void **)&by_node, n->node_count, sizeof *by_node);
	return error;
}
