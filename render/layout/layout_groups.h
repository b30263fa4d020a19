/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two passes of the layout by groups share. The first pass decides which groups are open, and
 * computes all sizes. The second pass makes nodes and edges.
 */
#ifndef GRAIND_RENDER_LAYOUT_GROUPS_H
#define GRAIND_RENDER_LAYOUT_GROUPS_H

#include "render/layout/layout.h"

#define GROUPS_WIDTH 92.0 /* width of a closed group */
#define GROUPS_HEIGHT 40.0
#define GROUPS_GRAIN_WIDTH 14.0
#define GROUPS_SKIP_WIDTH 46.0
#define GROUPS_SKIP_HEIGHT 16.0
#define GROUPS_PAD 12.0 /* margin inside a frame */
#define GROUPS_GAP 14.0
#define GROUPS_GRAIN_GAP 5.0

/*
 * One box of the drawing. A frame is an open group. Its members are drawn inside, and follow it in the array.
 */
struct group_box {
	uint8_t shape; /* SCENE_BOX, SCENE_CLOSED, SCENE_OPEN or SCENE_SKIP */
	bool chain;    /* an open family: its members are drawn one below the other, from fork to join */
	uint32_t level;
	uint32_t context;      /* the grain's context */
	struct grain_group of; /* the group */
	uint32_t group;
	uint32_t first, count;		     /* of its members: index of the first box, and number of boxes */
	uint32_t skipped;		     /* SCENE_SKIP: number of members that are left out */
	uint64_t skipped_grains, skipped_ns; /* the grains in these members, and their execution time */
	double x, y, w, h;		     /* x: left edge, y: top edge */
	double row_width;		     /* width of an open group's longest row */
	uint32_t node;
};

struct group_layout {
	const struct grain_graph *graph;
	const struct grain_groups *groups;
	const struct layout_groups_opts *opts;
	struct scene *scene;
	struct group_box *boxes;
	size_t count, capacity;
	size_t nodes; /* number of boxes and circles */
	uint32_t levels;
};

/* Makes the boxes. Opens the groups that opts asks for, as far as max_nodes allows. Returns 0 or -ENOMEM. */
int group_layout__open(struct group_layout *layout);

/* Whether a fork is drawn before this member of a family. */
bool group_box__forks(const struct group_box *box);
/* Whether a join is drawn after it. *join is that join; GRAIN_NONE: it was not seen. */
bool group_box__joins(const struct group_layout *layout, const struct group_box *box, uint32_t *join);

/* The second pass: adds nodes and edges to the scene. Returns 0 or -ENOMEM. */
int group_layout__place(struct group_layout *layout);

/*
 * Places the members of a frame, relative to it. Calls `put` for each, and returns the size inside the frame.
 */
struct group_size {
	double w, h;
};
typedef void (*group_put)(struct group_box *member, double x, double y);
struct group_size group_layout__arrange(struct group_layout *layout, struct group_box *frame, group_put put);

#endif
