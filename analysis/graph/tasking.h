/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task profile (grain_tasking.h), while it is built and afterwards. It has one row for each construct,
 * scheduling point, stub, and pair of depth and definition.
 */
#ifndef GRAIND_TASKING_H
#define GRAIND_TASKING_H

#include "analysis/include/grain_tasking.h"
#include "analysis/graph/graph.h"
#include "analysis/base/number_map.h"
#include "analysis/base/running_stat.h"

/* Kinds of scheduling points: those of enum event_wait, and task creation. */
enum point_kind { POINT_CREATE = EVENT_WAIT_TASKYIELD + 1, POINT_KINDS };

struct construct_row {
	uint64_t instances, begun, fragments;
	struct running_stat exclusive, inclusive, create, taskwait, management, task;
	uint32_t max_concurrent;
	uint32_t place; /* index in `order` */
};

struct point_row {
	uint64_t visits, time_ns, own_ns, idle_ns;
	uint32_t definition, caller;
	uint32_t first_stub, stubs;
	uint32_t last_stub; /* while building: the stub that was used last */
	uint8_t kind;	    /* enum point_kind */
	bool in_task;
};

struct stub_row {
	struct running_stat exec;
	uint32_t point, definition;
};

struct depth_row {
	struct running_stat exclusive, inclusive, create, taskwait, task;
	uint32_t depth, definition;
};

/* Per context: how many predecessors have not ended, and the list of its successors. */
struct unmet {
	uint32_t predecessors, successors;
};
struct successor {
	uint32_t task, next;
};

struct tasking {
	struct construct_row *constructs; /* per definition and, last, for none */
	uint32_t *order; /* definitions of constructs; the largest exclusive sum comes first */
	size_t construct_count, order_count;
	struct point_row *points;
	size_t point_count, point_capacity;
	struct stub_row *stubs;
	size_t stub_count, stub_capacity;
	struct depth_row *depths;
	size_t depth_count, depth_capacity;
	struct number_map depth_of; /* by depth and definition */

	/* Only during the replay: */
	struct number_map point_of, stub_of, active_of;
	uint32_t *active; /* by thread and definition: number of instances that have begun and not ended */
	size_t active_count, active_capacity;
	struct offers *teams; /* per region and, last, outside of regions */
	struct unmet *unmet;
	size_t unmet_count, unmet_capacity;
	struct successor *successors;
	size_t successor_count, successor_capacity;
};

/* Returns the row of definition `d`. The last row of the table is for no definition. */
static inline uint32_t tasking__row_of(const struct grain_graph *g, uint32_t d)
{
	return d == GRAIN_NONE ? (uint32_t)g->definition_count : d;
}

/* Returns the row of a depth and a definition. Makes it if there is none. Returns 0, -ENOMEM or -E2BIG. */
int tasking__depth_row(struct grain_graph *g, uint32_t depth, uint32_t definition, struct depth_row **out);
/*
 * tasking_profile.c, after the replay: computes inclusive_ns of all contexts; adds one context to the rows;
 * sorts the rows.
 */
int graph__sum_inclusive(struct grain_graph *g);
int tasking__count(struct grain_graph *g, uint32_t context);
int tasking__finish(struct grain_graph *g);

#endif
