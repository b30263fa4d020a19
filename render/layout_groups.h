/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the passes of the aggregated layout share: which groups are open and
 * how large everything is first, then nodes and edges.
 */
#ifndef GRAIND_RENDER_LAYOUT_GROUPS_H
#define GRAIND_RENDER_LAYOUT_GROUPS_H

#include "render/layout.h"

#define GROUPS_WIDTH 92.0 /* of a closed group */
#define GROUPS_HEIGHT 40.0
#define GROUPS_GRAIN_WIDTH 14.0
#define GROUPS_SKIP_WIDTH 46.0
#define GROUPS_SKIP_HEIGHT 16.0
#define GROUPS_PAD 12.0 /* inside of a frame */
#define GROUPS_GAP 14.0
#define GROUPS_GRAIN_GAP 5.0

/* One box of the drawing. Frames come before what is in them, and their members together. */
struct group_box {
	uint8_t shape; /* SCENE_BOX, SCENE_CLOSED, SCENE_OPEN or SCENE_SKIP */
	bool chain;    /* an open family: its members below each other, from fork to join */
	uint32_t level;
	uint32_t context;      /* of a grain */
	struct grain_group of; /* of a group */
	uint32_t group;
	uint32_t first, count;		     /* what is in it */
	uint32_t skipped;		     /* of a skip: members */
	uint64_t skipped_grains, skipped_ns; /* in them */
	double x, y, w, h;		     /* left, top */
	double row_width;		     /* an open group's rows are not longer */
	uint32_t node;
};

struct group_layout {
	const struct grain_graph *graph;
	const struct grain_groups *groups;
	const struct layout_groups_opts *opts;
	struct scene *scene;
	struct group_box *boxes;
	size_t count, capacity;
	size_t nodes; /* boxes and circles */
	uint32_t levels;
};

/* Makes the boxes, opening groups as asked for and while there is room. 0 or -ENOMEM. */
int group_layout__open(struct group_layout *layout);

/* Whether a family's member begins with a fork and ends with a join; *join may be GRAIN_NONE (not seen). */
bool group_box__forks(const struct group_box *box);
bool group_box__joins(const struct group_layout *layout, const struct group_box *box, uint32_t *join);

/* Last pass: nodes and edges. 0 or -ENOMEM. */
int group_layout__place(struct group_layout *layout);

/*
 * Where a frame's members go, relative to it: calls `put` for each and returns
 * the size of the inside.
 */
struct group_size {
	double w, h;
};
typedef void (*group_put)(struct group_box *member, double x, double y);
struct group_size group_layout__arrange(struct group_layout *layout, struct group_box *frame, group_put put);

#endif
