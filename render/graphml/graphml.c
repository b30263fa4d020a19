/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/graphml/positions.h"

#include <errno.h>
#include <stdlib.h>

#include "render/base/array.h"
#include "render/include/render_export.h"
#include "render/layout/layout.h"
#include "render/base/radix.h"

#define ROOM_WIDTH 96.0
#define ROOM_HEIGHT 48.0

static uint32_t *parents_of(const struct grain_graph *graph)
{
	size_t contexts = grain_graph__context_count(graph);
	uint32_t *parents = malloc((contexts + 1) * sizeof(*parents));

	for (size_t i = 0; parents && i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(graph, (uint32_t)i, &c);
		parents[i] = c.parent;
	}
	return parents;
}

/*
 * Finds the scale: from the times of contexts for the reduced graph, from those of fragments for the full
 * graph. Returns 0 or -ENOMEM.
 */
static int scale(const struct grain_graph *graph, enum grain_reduction reduction, double *out)
{
	size_t contexts = grain_graph__context_count(graph), count = 0, capacity = 0;
	uint64_t *durations = NULL;

	for (size_t i = 0; i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(graph, (uint32_t)i, &c);
		for (uint32_t k = 0; k < c.item_count && (k == 0 || reduction == GRAIN_FULL); k++) {
			struct grain_item item = {.own_ns = c.exec_ns};

			if (reduction == GRAIN_FULL)
				grain_graph__item(graph, c.first_item + k, &item);
			if (reduction == GRAIN_FULL && item.kind != GRAIN_FRAGMENT)
				continue;
			if (!array__reserve((void **)&durations, &capacity, count, sizeof(*durations))) {
				free(durations);
				return -ENOMEM;
			}
			durations[count++] = item.own_ns;
		}
	}
	*out = layout__scale(durations, count);
	free(durations);
	return 0;
}

/* If several nodes of a chain are on one level, no edge orders them. Keeps only one of them in the chain. */
static int single_out(struct position_graph *p, const uint32_t *levels)
{
	struct radix_pair *order = malloc((p->nodes + 1) * sizeof(*order));
	int error = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->nodes && !error; i++)
		order[i] = (struct radix_pair){(uint64_t)p->chain[i] << 32 | levels[i], i};
	if (!error)
		error = radix__sort(order, p->nodes);
	for (size_t i = 1; i < p->nodes && !error; i++)
		if (order[i].key == order[i - 1].key)
			p->chain[order[i].value] = GRAIN_NONE;
	free(order);
	return error;
}

int export__graphml(const struct grain_graph *graph, enum grain_reduction reduction, FILE *out)
{
	struct grain_positions positions = {.width = ROOM_WIDTH, .height = ROOM_HEIGHT};
	struct position_graph p = {0};
	uint32_t *levels = NULL, *parents = parents_of(graph);
	struct grain_position *places = NULL;
	double *columns = NULL;
	int error = scale(graph, reduction, &positions.px_per_ns);

	if (!error)
		error = reduction == GRAIN_REDUCED ? position_graph__of_reduced(&p, graph)
						   : position_graph__of_full(&p, graph);
	if (!error) {
		levels = malloc((p.nodes + 1) * sizeof(*levels));
		columns = malloc((p.nodes + 1) * sizeof(*columns));
		places = malloc((p.nodes + 1) * sizeof(*places));
		error = levels && columns && places && parents ? 0 : -ENOMEM;
	}
	if (!error)
		error = position_graph__levels(&p, levels);
	if (!error)
		error = single_out(&p, levels);
	if (!error)
		error = position_graph__columns(&p, parents, levels, columns);
	for (size_t i = 0; i < p.nodes && !error; i++)
		places[i] = (struct grain_position){columns[i] * ROOM_WIDTH, (levels[i] + .5) * ROOM_HEIGHT};
	positions.nodes = places;
	if (!error && reduction == GRAIN_FULL)
		positions.joins = places + (p.nodes - grain_graph__join_count(graph));
	free(levels);
	free(columns);
	position_graph__free(&p);
	if (!error)
		error = grain_graph__write_graphml_at(graph, reduction, &positions, out);
	free(places);
	free(parents);
	return error;
}
