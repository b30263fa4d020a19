/* SPDX-License-Identifier: BSD-2-Clause */
/* Data for the local critical path of a group: its contexts, and which of them wait for which. */
#ifndef GRAIND_GROUPS_PATH_H
#define GRAIND_GROUPS_PATH_H

#include "analysis/groups/groups.h"

#define NO_MEMBER UINT32_MAX /* in the group, but outside of all its members */

/* The state of the walk through one context. Numbers are stored plus 1 where 0 means none. */
struct walk {
	uint64_t path;
	uint32_t member; /* the member of the group that has the context; 0: none */
	uint32_t item;	 /* the next item */
	uint32_t pending;
	uint32_t after;	     /* the predecessor with the heaviest path; 0: the path comes from the context's
				creation */
	uint32_t successors; /* list of contexts that wait for its end */
	uint32_t waiting;    /* the next in the list of contexts that wait at the same join */
	bool started, done;
};

/* The state of a join or of a region's end. */
struct meeting {
	uint64_t path;
	uint32_t pending;
	uint32_t winner, item; /* the context with the heaviest path, and the item at which it waits */
	uint32_t waiters;      /* list, 0 ends it */
	bool arrival;	       /* the winner waits here; it has not ended */
	bool any, released, listed;
};

/* A context, or a wait with depend, that waits for the end of another context. */
struct successor {
	uint32_t index, next;
	bool is_join;
};

struct numbers {
	uint32_t *list;
	size_t count, capacity;
};

struct path {
	const struct grain_groups *groups;
	const struct grain_graph *graph;
	uint32_t group;
	struct walk *walks;	 /* per context */
	struct meeting *joins;	 /* per join */
	struct meeting *regions; /* per region: its end */
	uint8_t *jumped;	 /* per item: whether the path of another context was heavier */
	struct numbers contexts, met_joins, met_regions, queue;
	struct successor *successors;
	size_t successor_count, successor_capacity;
	int error;
};

/* Adds a number. On failure sets the path's error. */
void path__push(struct path *path, struct numbers *to, uint32_t number);
/* Fills in the contexts, their walks, and what each of them waits for. On failure sets the path's error. */
void path__enter(struct path *path);

static inline bool path__is_inside(const struct path *p, uint32_t context)
{
	return context != GRAIN_NONE && p->walks[context].member;
}

#endif
