/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifiers of contexts, regions and joins (analysis/README.md, "Identifiers"). */
#ifndef GRAIND_GRAPH_IDS_H
#define GRAIND_GRAPH_IDS_H

#include "analysis/graph/graph.h"

enum id_kind { ID_CONTEXT, ID_REGION, ID_JOIN, ID_LOOP };

/* As grain_graph__context_id(). */
size_t graph__id(const struct grain_graph *graph, enum id_kind kind, uint32_t index, char *buffer,
		 size_t size);

/*
 * As graph__id(), in one walk. Writes the identifier, without a NUL, so that it ends before `end`. Returns
 * its length. If it is longer than `room`, which must not be 0, writes only the last `room` bytes.
 */
size_t graph__id_before(const struct grain_graph *graph, enum id_kind kind, uint32_t index, char *end,
			size_t room);

#endif
