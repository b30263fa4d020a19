/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/machine/topology.h"

#include <stdlib.h>

#define UNKNOWN UINT32_MAX

static bool has_several_nodes(const struct machine *m)
{
	for (size_t i = 1; i < m->cpu_count; i++)
		if (m->cpus[i].node != m->cpus[0].node)
			return true;
	return false;
}

static int make_places(struct grain_graph *g, struct topology *t, const struct machine *m, bool numa)
{
	uint32_t most = 0;
	int error;

	for (size_t i = 0; i < m->cpu_count; i++)
		if (m->cpus[i].cpu <= UINT16_MAX && m->cpus[i].cpu > most)
			most = m->cpus[i].cpu;
	error = memory__array(&g->memory, (size_t)most + 1, sizeof *t->place, (void **)&t->place);
	if (error < 0)
		return error;
	t->cpus = (size_t)most + 1;
	for (size_t i = 0; i < t->cpus; i++)
		t->place[i] = GRAIN_NONE;
	for (size_t i = 0; i < m->cpu_count; i++)
		if (m->cpus[i].cpu <= most)
			t->place[m->cpus[i].cpu] = numa ? m->cpus[i].node : m->cpus[i].core;
	return 0;
}

static double cores_per_socket(const struct machine *m)
{
	uint32_t sockets = m->sockets ? m->sockets : 1;
	uint32_t cores = m->cores ? m->cores : (uint32_t)m->cpu_count;

	return cores > sockets ? cores / sockets : 1;
}

static int by_socket(const void *a, const void *b)
{
	const struct event_cpu *x = a, *y = b;

	if (x->socket != y->socket)
		return x->socket < y->socket ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/*
 * Sorts the CPUs. Returns the largest distance between two nodes of one socket; the distance of a node to
 * itself counts, too.
 */
static uint32_t largest_in_socket(struct event_cpu *cpus, size_t count, const struct topology *t)
{
	uint32_t largest = 0;
	size_t kept = 0, first = 0;

	qsort(cpus, count, sizeof *cpus, by_socket);
	for (size_t i = 0; i < count; i++)
		if (!kept || by_socket(&cpus[kept - 1], &cpus[i]))
			cpus[kept++] = cpus[i];
	for (size_t i = 0; i < kept; i++) {
		if (cpus[i].socket != cpus[first].socket)
			first = i;
		for (size_t k = first; k <= i; k++) {
			uint32_t there = t->distance[(size_t)cpus[i].node * t->nodes + cpus[k].node];
			uint32_t back = t->distance[(size_t)cpus[k].node * t->nodes + cpus[i].node];

			largest = there > largest ? there : largest;
			largest = back > largest ? back : largest;
		}
	}
	return largest;
}

static bool is_whole(const struct topology *t, const struct event_cpu *cpus, size_t count, const bool *seen)
{
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < t->nodes; k++)
			if (seen[k] && t->distance[(size_t)cpus[i].node * t->nodes + k] == UNKNOWN)
				return false;
	return true;
}

/* Returns 0 with t->distance set, or without it if scatter was reported as absent. */
static int make_distances(struct grain_graph *g, struct topology *t, const struct machine *m)
{
	struct event_cpu *cpus = NULL;
	bool *seen = NULL;
	uint32_t most = 0;
	size_t cells;
	int error;

	for (size_t i = 0; i < m->cpu_count; i++)
		most = m->cpus[i].node > most ? m->cpus[i].node : most;
	if (!m->distance_count || most >= EVENT_NODES_MAX) {
		graph__absent(g, GRAIN_PROBLEM_SCATTER, "distances between NUMA nodes are not known");
		return 0;
	}
	t->nodes = most + 1;
	cells = (size_t)t->nodes * t->nodes;
	error = memory__array(&g->memory, cells, sizeof *t->distance, (void **)&t->distance);
	if (error == 0)
		error = memory__array(&g->memory, m->cpu_count, sizeof *cpus, (void **)&cpus);
	if (error == 0)
		error = memory__array(&g->memory, t->nodes, sizeof *seen, (void **)&seen);
	if (error == 0) {
		for (size_t i = 0; i < cells; i++)
			t->distance[i] = UNKNOWN;
		for (size_t i = 0; i < m->distance_count; i++) {
			const struct event_distance *d = &m->distances[i];

			if (d->from < t->nodes && d->to < t->nodes)
				t->distance[(size_t)d->from * t->nodes + d->to] = d->distance;
		}
		for (size_t i = 0; i < m->cpu_count; i++) {
			cpus[i] = m->cpus[i];
			seen[cpus[i].node] = true;
		}
		if (is_whole(t, cpus, m->cpu_count, seen)) {
			t->threshold = largest_in_socket(cpus, m->cpu_count, t);
		} else {
			memory__release(&g->memory, (void **)&t->distance, cells, sizeof *t->distance);
			graph__absent(g, GRAIN_PROBLEM_SCATTER,
				      "the distances between NUMA nodes are not all known");
		}
	}
	memory__release(&g->memory, (void **)&seen, t->nodes, sizeof *seen);
	memory__release(&g->memory, (void **)&cpus, m->cpu_count, sizeof *cpus);
	return error;
}

static int build(struct grain_graph *g, const struct machine *m, struct topology **out)
{
	bool numa = has_several_nodes(m);
	struct topology *t = NULL;
	int error;

	if (!m->cpu_count) {
		graph__absent(g, GRAIN_PROBLEM_SCATTER, "the capture does not describe the machine's cores");
		return 0;
	}
	error = memory__array(&g->memory, 1, sizeof *t, (void **)&t);
	if (error < 0)
		return error;
	t->threshold = cores_per_socket(m);
	error = make_places(g, t, m, numa);
	if (error == 0 && numa)
		error = make_distances(g, t, m);
	if (error == 0 && (!numa || t->distance)) {
		*out = t;
		return 0;
	}
	memory__release(&g->memory, (void **)&t->place, t->cpus, sizeof *t->place);
	memory__release(&g->memory, (void **)&t->distance, (size_t)t->nodes * t->nodes, sizeof *t->distance);
	memory__release(&g->memory, (void **)&t, 1, sizeof *t);
	return error;
}

int graph__read_topology(struct grain_graph *graph, struct grain_error *err)
{
	const struct event_stream *s = graph->stream;
	struct machine m = {
		.cpus = s->cpus,
		.cpu_count = s->cpu_count,
		.distances = s->distances,
		.distance_count = s->distance_count,
		.cores = graph->info.cores,
		.sockets = graph->info.sockets,
	};
	int error;

	if (!graph->settings.topology)
		return build(graph, &m, &graph->topology);
	error = machine__read_xml(graph->settings.topology, graph->settings.topology_xml, &m, err);
	if (error < 0)
		return error;
	error = build(graph, &m, &graph->topology);
	free(m.cpus);
	free(m.distances);
	return error;
}

void topology__free(struct topology *topology)
{
	if (!topology)
		return;
	free(topology->place);
	free(topology->distance);
	free(topology);
}
