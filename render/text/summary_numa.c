/* SPDX-License-Identifier: BSD-2-Clause */
/* NUMA nodes in the text summary: which grains ran on each of them, and which memory was there. */
#include "analysis/include/grain_numa.h"
#include "render/text/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define AREAS_SHOWN 8
#define ACCESSES_SHOWN 10
#define DISTANCES_SHOWN 16
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void absent(const struct summary *s, const char *what, const char *why)
{
	char line[400], clean[300];

	snprintf(line, sizeof(line), "absent: %s (%s)", what, format__clean(clean, sizeof(clean), why, 280));
	summary__paragraph(s, "", line);
}

static void add_node(struct columns *table, const struct grain_graph *g, size_t index, size_t nodes,
		     uint64_t team_ns)
{
	struct grain_node node;
	char text[256];
	size_t used = 0;

	grain_graph__node(g, index, &node);
	snprintf(text, sizeof(text), "%" PRIu32, node.node);
	columns__add(table, text);
	summary__add_count(table, node.cpus);
	columns__add(table, node.memory_bytes ? format__bytes(node.memory_bytes).text : "-");
	summary__add_time(table, (double)node.team_ns);
	columns__add_share(table, team_ns ? (double)node.team_ns / (double)team_ns : 0);
	columns__add(table, format__bytes(node.resident_bytes[GRAIN_LOOK_FIRST]).text);
	columns__add(table, format__bytes(node.resident_bytes[GRAIN_LOOK_LAST]).text);
	text[0] = '\0';
	for (size_t to = 0; to < nodes && to < DISTANCES_SHOWN; to++) {
		uint32_t distance = grain_graph__node_distance(g, index, to);

		used += (size_t)(distance == GRAIN_NONE
					 ? snprintf(text + used, sizeof(text) - used, "%s-", to ? " " : "")
					 : snprintf(text + used, sizeof(text) - used, "%s%" PRIu32,
						    to ? " " : "", distance));
	}
	columns__add(table, text);
}

static void show_nodes(struct summary *s, const struct grain_numa *numa)
{
	static const struct columns_column columns[] = {
		{.title = "NODE"},
		{.title = "CPUs", .optional = 3},
		{.title = "memory", .optional = 4},
		{.title = "teams' time"},
		{.title = "of it", .bar = true, .optional = 1},
		{.title = "its pages first", .optional = 2},
		{.title = "last"},
		{.title = "distances", .left = true, .cuttable = true, .optional = 5},
	};
	struct columns table;
	uint64_t team_ns = 0;

	for (size_t i = 0; i < numa->nodes; i++) {
		struct grain_node node;

		grain_graph__node(s->graph, i, &node);
		team_ns += node.team_ns;
	}
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < numa->nodes; i++)
		add_node(&table, s->graph, i, numa->nodes, team_ns);
	summary__print(s, &table);
}

static void add_area(struct columns *table, const struct grain_graph *g, size_t index, bool sampled)
{
	double remote;
	struct grain_area area;
	struct grain_node node;
	char text[200];

	grain_graph__area(g, index, &area);
	snprintf(text, sizeof(text), "%.120s", area.name[0] ? area.name : area.module[0] ? area.module : "-");
	columns__add(table, text);
	columns__add(table, area.kind);
	columns__add(table, format__bytes(area.bytes).text);
	columns__add(table,
		     format__bytes(area.resident_bytes[GRAIN_LOOK_LAST] + area.hidden_bytes[GRAIN_LOOK_LAST])
			     .text);
	if (isnan(area.on_node)) {
		columns__add(table, "-");
	} else {
		grain_graph__node(g, area.node, &node);
		snprintf(text, sizeof(text), "%s %% on %" PRIu32, format__percent(100 * area.on_node).text,
			 node.node);
		columns__add(table, text);
	}
	columns__add(table, isnan(area.far) ? "-" : format__percent(100 * area.far).text);
	remote = grain_access_counts__remote(&area.accesses);
	if (sampled)
		columns__add(table, isnan(remote) ? "-" : format__percent(100 * remote).text);
	columns__add(table, area.misplaced ? "misplaced" : "");
}

static void say_hidden(struct summary *s, uint64_t bytes)
{
	char line[300];

	if (!bytes)
		return;
	snprintf(
		line, sizeof(line),
		"on which node %s of them lie this kernel did not tell: NUMA balancing waited for their next "
		"use",
		format__bytes(bytes).text);
	summary__paragraph(s, "  ", line);
}

static void show_areas(struct summary *s, const struct grain_numa *numa, bool sampled)
{
	static const struct columns_column columns[] = {
		{.title = "MEMORY", .left = true, .cuttable = true},
		{.title = "kind", .left = true, .optional = 1},
		{.title = "size"},
		{.title = "in memory", .optional = 2},
		{.title = "most"},
		{.title = "% far"},
		{.title = "", .left = true},
	};
	struct columns_column shown[COUNT_OF(columns) + 1];
	struct columns table;
	size_t last = COUNT_OF(columns) - 1;

	if (!numa->areas)
		return;
	memcpy(shown, columns, sizeof(columns));
	if (sampled) {
		shown[last++] = (struct columns_column){.title = "% remote"};
		shown[last] = columns[COUNT_OF(columns) - 1];
	}
	summary__table(s, &table, shown, last + 1);
	for (size_t i = 0; i < numa->areas && i < AREAS_SHOWN; i++)
		add_area(&table, s->graph, i, sampled);
	summary__print(s, &table);
	summary__more(s, numa->areas, AREAS_SHOWN, "areas");
	say_hidden(s, numa->hidden_bytes[GRAIN_LOOK_LAST]);
}

/* Writes how much access is remote: from samples, else from the locations of pages. */
static void say_remote(struct summary *s, const struct grain_numa *numa, const struct grain_accesses *sampled)
{
	uint64_t known = sampled->teams.local + sampled->teams.remote;
	char line[500], clean[300];

	if (sampled->event) {
		snprintf(line, sizeof(line),
			 "addresses are sampled (%s): %s %% of the teams' accesses are remote, of %s "
			 "samples; of %s "
			 "the page's node is not known, %s were lost",
			 format__clean(clean, sizeof(clean), sampled->event, 60),
			 isnan(sampled->remote) ? "-" : format__percent(100 * sampled->remote).text,
			 format__count(known).text, format__count(sampled->all.unknown).text,
			 format__count(sampled->lost).text);
		summary__paragraph(s, "  ", line);
	}
	if (!isnan(sampled->remote) || isnan(numa->remote_least))
		return;
	snprintf(line, sizeof(line),
		 "remote are at least %s %% of the teams' accesses if pages are used alike, %s %% if every "
		 "thread "
		 "uses all of them; judged by where pages are: %s",
		 format__percent(100 * numa->remote_least).text,
		 format__percent(100 * numa->remote_alike).text,
		 sampled->event ? "no address was sampled in a team"
				: format__clean(clean, sizeof(clean), sampled->why, 200));
	summary__paragraph(s, "  ", line);
}

static bool add_accesses(struct columns *table, const char *name, const struct grain_access_counts *counts)
{
	double remote = grain_access_counts__remote(counts);

	if (!counts->local && !counts->remote && !counts->unknown)
		return false;
	columns__add(table, name);
	summary__add_count(table, counts->local + counts->remote + counts->unknown);
	summary__add_count(table, counts->unknown);
	columns__add(table, isnan(remote) ? "-" : format__percent(100 * remote).text);
	return true;
}

/* Shows the accesses of each definition, then those of grains with a problem. */
static void show_accesses(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "SAMPLED ACCESSES OF", .left = true, .cuttable = true},
		{.title = "samples"},
		{.title = "unknown", .optional = 1},
		{.title = "% remote"},
	};
	struct grain_access_counts counts;
	struct columns table;
	size_t rows = 0;

	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < grain_graph__profile_count(s->graph) && rows < ACCESSES_SHOWN; i++) {
		struct grain_profile profile;

		grain_graph__profile(s->graph, i, &profile);
		grain_graph__accesses_of_profile(s->graph, i, &counts);
		rows += add_accesses(&table,
				     profile.definition == GRAIN_NONE
					     ? "unknown"
					     : summary__definition(s, profile.definition).source,
				     &counts);
	}
	for (int k = 0; k < GRAIN_PROBLEM_COUNT; k++) {
		struct grain_problem_summary problem;

		grain_graph__problem(s->graph, (enum grain_problem)k, &problem);
		grain_graph__accesses_of_problem(s->graph, (enum grain_problem)k, &counts);
		if (problem.available)
			rows += add_accesses(&table, problem.name, &counts);
	}
	if (rows)
		summary__print(s, &table);
	else
		columns__free(&table);
}

void summary__numa(struct summary *s)
{
	struct grain_accesses sampled;
	struct grain_numa numa;
	char line[400];

	grain_graph__numa(s->graph, &numa);
	grain_graph__accesses(s->graph, &sampled);
	if (numa.absent) {
		absent(s, "memory by NUMA node", numa.absent);
		return;
	}
	snprintf(line, sizeof(line), "NUMA: %zu nodes; %s grain%s ran on several", numa.nodes,
		 format__count(numa.moved).text, numa.moved == 1 ? "" : "s");
	summary__heading(s, line);
	say_remote(s, &numa, &sampled);
	if (numa.allowed_cpus[0]) {
		char cpus[100], nodes[100];

		snprintf(line, sizeof(line), "it could use CPUs %s and nodes %s",
			 format__clean(cpus, sizeof(cpus), numa.allowed_cpus, 60),
			 format__clean(nodes, sizeof(nodes), numa.allowed_nodes, 60));
		summary__paragraph(s, "  ", line);
	}
	show_nodes(s, &numa);
	if (numa.pages_absent)
		absent(s, "where its memory lay", numa.pages_absent);
	else
		show_areas(s, &numa, sampled.event);
	if (sampled.event)
		show_accesses(s);
}
