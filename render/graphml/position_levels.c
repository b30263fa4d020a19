/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds levels: every node is below all nodes that lead to it. */
#include "render/graphml/positions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int position_graph__levels(const struct position_graph *p, uint32_t *levels)
{
	uint32_t *first = calloc(p->nodes + 2, sizeof(*first)),
		 *next = malloc((p->edge_count + 1) * sizeof(*next));
	uint32_t *open = calloc(p->nodes + 1, sizeof(*open)),
		 *queue = malloc((p->nodes + 1) * sizeof(*queue));
	size_t done = 0, queued = 0;
	uint32_t deepest = 0;
	int error = first && next && open && queue ? 0 : -ENOMEM;

	if (error)
		goto out;
	memset(levels, 0, p->nodes * sizeof(*levels));
	for (size_t i = 0; i < p->edge_count; i++) {
		first[p->edges[i].from + 1]++;
		open[p->edges[i].to]++;
	}
	for (size_t i = 0, sum = 0; i <= p->nodes + 1; i++) {
		uint32_t n = first[i];

		first[i] = (uint32_t)sum;
		sum += n;
	}
	for (size_t i = 0; i < p->edge_count; i++)
		next[first[p->edges[i].from + 1]++] = p->edges[i].to;
	for (size_t i = 0; i < p->nodes; i++)
		if (!open[i])
			queue[queued++] = (uint32_t)i;
	for (; done < queued; done++) {
		uint32_t node = queue[done];

		deepest = levels[node] > deepest ? levels[node] : deepest;
		for (uint32_t i = first[node]; i < first[node + 1]; i++) {
			uint32_t to = next[i];

			if (levels[node] + 1 > levels[to])
				levels[to] = levels[node] + 1;
			if (!--open[to])
				queue[queued++] = to;
		}
	}
	/* Nodes that form a circle in a contradictory recording come below all others, one by one. */
	for (size_t i = 0; i < p->nodes && queued < p->nodes; i++)
		if (open[i])
			levels[i] = ++deepest;
out:
	free(first);
	free(next);
	free(open);
	free(queue);
	return error;
}
