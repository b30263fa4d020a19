/* SPDX-License-Identifier: BSD-2-Clause */
/* What a local path is looked for in: the contexts of one group, and what waits for what among them. */
#ifndef GRAIND_GROUPS_PATH_H
#define GRAIND_GROUPS_PATH_H

#include "analysis/groups.h"

#define NO_MEMBER UINT32_MAX /* in the group, in none of its members */

/* A context on its way. Where 0 stands for none, numbers are one larger. */
struct walk {
	uint64_t path;
	uint32_t member; /* of the group, 0: not in it */
	uint32_t item;	 /* next */
	uint32_t pending;
	uint32_t after;	     /* the predecessor with the heaviest path, 0: its creation */
	uint32_t successors; /* list */
	uint32_t waiting;    /* the next in the list of those that stand at the same place */
	bool started, done;
};

/* A join, or the end of a region. */
struct meeting {
	uint64_t path;
	uint32_t pending;
	uint32_t winner, item; /* whose path is the heaviest, and where it stands */
	uint32_t waiters;      /* list, 0 ends it */
	bool arrival;	       /* the winner stands here, it has not ended */
	bool any, released, listed;
};

/* What waits for the end of a context: another one, or a wait with depend. */
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
	uint8_t *jumped;	 /* per item: another context's path was the heavier */
	struct numbers contexts, met_joins, met_regions, queue;
	struct successor *successors;
	size_t successor_count, successor_capacity;
	int error;
};

/* Adds a number; on failure the path's error is set. */
void path__push(struct path *path, struct numbers *to, uint32_t number);
/* Fills contexts and their walks, and what each waits for. On failure the path's error is set. */
void path__enter(struct path *path);

static inline bool path__is_inside(const struct path *p, uint32_t context)
{
	return context != GRAIN_NONE && p->walks[context].member;
}

#endif
