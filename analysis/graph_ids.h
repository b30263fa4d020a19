/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifiers of contexts, regions and joins (README.md, "Identifiers"). */
#ifndef GRAIND_GRAPH_IDS_H
#define GRAIND_GRAPH_IDS_H

#include "analysis/graph.h"

enum id_kind { ID_CONTEXT, ID_REGION, ID_JOIN, ID_LOOP };

/* As grain_graph__context_id. */
size_t graph__id(const struct grain_graph *graph, enum id_kind kind, uint32_t index, char *buffer,
		 size_t size);

/*
 * The same in one walk, without a NUL: the identifier is in the bytes before
 * `end` when the returned length is at most `room` (> 0), else only its last
 * `room` bytes are.
 */
size_t graph__id_before(const struct grain_graph *graph, enum id_kind kind, uint32_t index, char *end,
			size_t room);

#endif
