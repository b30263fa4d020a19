/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task profile (grain_tasking.h) while it is built, and as it is kept:
 * one row per construct, scheduling point, stub, and depth with definition.
 */
#ifndef GRAIND_TASKING_H
#define GRAIND_TASKING_H

#include "analysis/graph_replay.h"
#include "analysis/grain_tasking.h"
#include "analysis/metrics.h"

/* Waits as enum event_wait. */
enum point_kind { POINT_CREATE = EVENT_WAIT_TASKYIELD + 1, POINT_KINDS };

struct construct_row {
	uint64_t instances, begun, fragments;
	struct running_stat exclusive, inclusive, create, taskwait, management, task;
	uint32_t max_concurrent;
	uint32_t place; /* in `order` */
};

struct point_row {
	uint64_t visits, time_ns, own_ns, idle_ns;
	uint32_t definition, caller;
	uint32_t first_stub, stubs;
	uint32_t last_stub; /* while building: the one that was used last */
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

/* Of a context: predecessors that are not over, and a list of successors. */
struct unmet {
	uint32_t predecessors, successors;
};
struct successor {
	uint32_t task, next;
};

struct tasking {
	struct construct_row *constructs; /* per definition and, last, for none */
	uint32_t *order;		  /* definitions of constructs, largest exclusive sum first */
	size_t construct_count, order_count;
	struct point_row *points;
	size_t point_count, point_capacity;
	struct stub_row *stubs;
	size_t stub_count, stub_capacity;
	struct depth_row *depths;
	size_t depth_count, depth_capacity;
	struct number_map depth_of; /* by depth and definition */

	/* While replaying. */
	struct number_map point_of, stub_of, active_of;
	uint32_t *active; /* instances begun, by thread and definition */
	size_t active_count, active_capacity;
	struct offers *teams; /* per region and, last, of what is in none */
	struct unmet *unmet;
	size_t unmet_count, unmet_capacity;
	struct successor *successors;
	size_t successor_count, successor_capacity;
};

/* Definition `d` as a row of a table with one more row, for none. */
static inline uint32_t tasking__row_of(const struct grain_graph *g, uint32_t d)
{
	return d == GRAIN_NONE ? (uint32_t)g->definition_count : d;
}

/* tasking_offers.c: the time for which there was nothing to begin in the frame's open wait; only differences
 * count. */
uint64_t tasking__idle_clock(const struct replay *r, const struct frame *f);

/* tasking_profile.c: the row of a depth and a definition, made where there is none yet. */
int tasking__depth_row(struct grain_graph *g, uint32_t depth, uint32_t definition, struct depth_row **out);
/* After the pass over the events: inclusive_ns of all contexts; counts one of them; orders the rows. */
int graph__sum_inclusive(struct grain_graph *g);
int tasking__count(struct grain_graph *g, uint32_t context);
int tasking__finish(struct grain_graph *g);

#endif
