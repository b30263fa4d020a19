/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scatter (PPOPP16 section 3.2): the median distance over all pairs of siblings. The code does not look at
 * each pair. On machines with several NUMA nodes it counts siblings by node, because nodes are few.
 */
#include "analysis/metrics/metrics.h"
#include "analysis/machine/topology.h"

#include <math.h>
#include <stdlib.h>

struct weight {
	uint64_t pairs; /* number of ordered pairs */
	uint32_t distance;
};

struct scatter {
	const struct grain_graph *graph;
	const struct topology *topology;
	uint64_t *cores; /* cores of the group's members */
	size_t room;
	/* Used instead of `cores` if there is a matrix of distances between NUMA nodes: */
	uint64_t *counts;	/* members by node */
	uint32_t *nodes;	/* nodes that have members */
	uint32_t node_count;	/* length of `nodes` */
	struct weight *weights; /* by pair of nodes */
	size_t members;
	bool known; /* the places of all members so far are known */
};

static size_t cells(const struct topology *t)
{
	return (size_t)t->nodes * t->nodes;
}

int scatter__new(struct grain_graph *graph, size_t largest, struct scatter **out)
{
	const struct topology *t = graph->topology;
	struct scatter *s = NULL;
	int error;

	*out = NULL;
	if (!t)
		return 0;
	error = memory__array(&graph->memory, 1, sizeof *s, (void **)&s);
	if (error < 0)
		return error;
	s->graph = graph;
	s->topology = t;
	s->room = largest;
	if (t->distance) {
		error = memory__array(&graph->memory, t->nodes, sizeof *s->counts, (void **)&s->counts);
		if (error == 0)
			error = memory__array(&graph->memory, t->nodes, sizeof *s->nodes, (void **)&s->nodes);
		if (error == 0)
			error = memory__array(&graph->memory, cells(t), sizeof *s->weights,
					      (void **)&s->weights);
	} else {
		error = memory__array(&graph->memory, largest, sizeof *s->cores, (void **)&s->cores);
	}
	if (error < 0)
		scatter__free(graph, s);
	else
		*out = s;
	return error;
}

void scatter__free(struct grain_graph *graph, struct scatter *s)
{
	if (!s)
		return;
	memory__release(&graph->memory, (void **)&s->cores, s->room, sizeof *s->cores);
	memory__release(&graph->memory, (void **)&s->counts, s->topology->nodes, sizeof *s->counts);
	memory__release(&graph->memory, (void **)&s->nodes, s->topology->nodes, sizeof *s->nodes);
	memory__release(&graph->memory, (void **)&s->weights, cells(s->topology), sizeof *s->weights);
	memory__release(&graph->memory, (void **)&s, 1, sizeof *s);
}

void scatter__start(struct scatter *s)
{
	while (s->node_count)
		s->counts[s->nodes[--s->node_count]] = 0;
	s->members = 0;
	s->known = true;
}

void scatter__add(struct scatter *s, const struct context *c)
{
	uint32_t place = GRAIN_NONE;

	if (!(c->flags & CONTEXT_INCOMPLETE) && c->item_count) {
		uint16_t cpu = s->graph->places[s->graph->items[c->first_item].place].cpu;

		if (cpu < s->topology->cpus)
			place = s->topology->place[cpu];
	}
	if (place == GRAIN_NONE) {
		s->known = false;
		return;
	}
	if (!s->topology->distance) {
		s->cores[s->members++] = place;
		return;
	}
	s->members++;
	if (s->counts[place]++ == 0)
		s->nodes[s->node_count++] = place;
}

static int by_distance(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return (x->distance > y->distance) - (x->distance < y->distance);
}

/* Returns the distance of the pair with this rank, counted from 0. */
static uint32_t distance_at(const struct weight *weights, uint64_t rank)
{
	while (rank >= weights->pairs)
		rank -= (weights++)->pairs;
	return weights->distance;
}

/*
 * Each pair counts in both orders. So the two directions of an asymmetric matrix count alike; for a symmetric
 * matrix the median does not change.
 */
static double median_of_nodes(struct scatter *s)
{
	const struct topology *t = s->topology;
	uint64_t pairs = (uint64_t)s->members * (s->members - 1);
	size_t n = 0;

	for (uint32_t i = 0; i < s->node_count; i++) {
		for (uint32_t k = 0; k < s->node_count; k++) {
			uint64_t from = s->counts[s->nodes[i]], to = s->counts[s->nodes[k]];

			s->weights[n++] = (struct weight){
				.pairs = from * (i == k ? to - 1 : to),
				.distance = t->distance[(size_t)s->nodes[i] * t->nodes + s->nodes[k]],
			};
		}
	}
	if (n > 1)
		qsort(s->weights, n, sizeof *s->weights, by_distance);
	return ((double)distance_at(s->weights, pairs / 2 - 1) + (double)distance_at(s->weights, pairs / 2)) /
	       2;
}

double scatter__median(struct scatter *s)
{
	if (!s->known || s->members < 2)
		return NAN;
	return s->topology->distance ? median_of_nodes(s) : metrics__median_distance(s->cores, s->members);
}
