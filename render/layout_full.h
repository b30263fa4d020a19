/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two passes of the full layout share: sizes first, then positions. */
#ifndef GRAIND_RENDER_LAYOUT_FULL_H
#define GRAIND_RENDER_LAYOUT_FULL_H

#include "render/contour.h"
#include "render/layout.h"

#define FULL_COLUMN_WIDTH 14.0
#define FULL_CHUNK_COLUMN_WIDTH 28.0
#define FULL_GAP_Y 7.0
#define FULL_GAP_X 9.0
#define FULL_LANE 6.0
#define FULL_BOOKKEEPING_WIDTH 16.0
#define FULL_BOOKKEEPING_HEIGHT 6.0

/* What hangs on a column: the child of a fork, or a region. */
struct full_child {
	bool is_region;
	bool open;     /* not joined in this column */
	bool routed;   /* its way to the join leads through a lane */
	uint32_t ref;  /* its column, or region */
	uint32_t join; /* that it waits for */
	uint32_t node; /* its fork, first among the nodes of the column, then of the scene */
	uint32_t next; /* the child that waits for the same join while the column is built */
	/* Relative to the column: of the fork or region, of the child. */
	double y, x, top, join_y, lane;
};

/* Nodes below each other; x and y are relative to the block, then absolute. */
struct full_column {
	bool built;
	bool claimed;	     /* by the fork that shows it */
	uint32_t first_node; /* of those staged; then of all, counted from the end; then of the scene */
	uint32_t node_count;
	uint32_t first_child, child_count;
	uint32_t owner, owner_column; /* the child that it is, and where that hangs; GRAIN_NONE */
	uint32_t phase;		      /* of a region member's column */
	double x, y;
	double end;    /* of the nodes */
	double bottom; /* also of the children that are not joined here, and of a task the room below them */
	double half;   /* of the width */
	struct contour contour; /* right one of a task's block, until it becomes part of its parent's */
};

struct full_phase {
	uint32_t join; /* GRAIN_NONE: its end was not seen */
	uint32_t node;
	double y, join_y; /* of the columns' tops; of the join's centre */
	size_t first_column, column_count;
};

struct full_region {
	bool built;
	bool claimed; /* by the row that shows it */
	size_t first_phase, phase_count;
	struct contour contour;
	double height;
	double x, y; /* absolute */
	uint32_t fork_node;
};

struct full_layout {
	const struct outline *outline;
	struct scene *scene;
	struct contour_pool pool;
	struct scene_node *staged; /* of the columns that are built, relative to them */
	size_t staged_count, staged_capacity;
	struct full_child *children;
	size_t child_count;
	struct full_column *columns; /* one for each place in the order first, then those of region members */
	size_t column_count, column_capacity;
	struct full_phase *phases;
	size_t phase_count, phase_capacity;
	struct full_region *regions;
	struct scene_point *way; /* of the edge that is made */
	size_t way_capacity;
	/* per join */
	uint32_t *waiting; /* first child that waits for it, GRAIN_NONE */
	uint32_t *join_node;
	double *lane_x;
	uint32_t *lane_owner; /* column whose lane lane_x is */
};

/* Stage a node at y of a column (layout_full_nodes.c); false when memory is short. */
double full_layout__stage_fragment(struct full_layout *layout, struct full_column *column,
				   const struct outline_walk *walk, const struct grain_item *item,
				   double y); /* its height, or negative */
/* Of a body that was not seen, at the top. */
bool full_layout__stage_stub(struct full_layout *layout, struct full_column *column, uint32_t context);
bool full_layout__stage_bookkeeping(struct full_layout *layout, struct full_column *column,
				    const struct outline_walk *walk, const struct grain_item *item, double y);
/* child: GRAIN_NONE when it isn't drawn below the fork. */
bool full_layout__stage_fork(struct full_layout *layout, struct full_column *column,
			     const struct outline_walk *walk, const struct grain_item *item, double y,
			     uint32_t child);
bool full_layout__stage_join(struct full_layout *layout, struct full_column *column,
			     const struct outline_walk *walk, const struct grain_item *item, double y);
/* Its fork and its joins, which the second pass moves to their places. */
bool full_layout__stage_region(struct full_layout *layout, struct full_column *column, uint32_t region);
/* Puts the staged nodes of a column before all others of the scene. */
bool full_layout__unstage(struct full_layout *layout, struct full_column *column);

/* Adds one item at *y of a column and moves *y below it; false when memory is short. */
bool full_layout__add_item(struct full_layout *layout, struct full_column *column,
			   const struct outline_walk *walk, const struct grain_item *item, double *y);
void full_layout__end_column(struct full_column *column, double y);
/* Places the children of column `owner`; those that are still open leave at `exit`. Returns the right
 * contour. */
struct contour full_layout__sweep(struct full_layout *layout, uint32_t owner, double exit);
bool full_layout__build_region(struct full_layout *layout, uint32_t region, bool with_members);

/* Second pass: positions and edges. 0 or -ENOMEM. */
int full_layout__place(struct full_layout *layout);

#endif
