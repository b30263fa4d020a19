/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two passes of the full layout share. The first pass computes sizes, the second positions. */
#ifndef GRAIND_RENDER_LAYOUT_FULL_H
#define GRAIND_RENDER_LAYOUT_FULL_H

#include "render/layout/contour.h"
#include "render/layout/layout.h"

#define FULL_COLUMN_WIDTH 14.0
#define FULL_CHUNK_COLUMN_WIDTH 28.0
#define FULL_GAP_Y 7.0
#define FULL_GAP_X 9.0
#define FULL_LANE 6.0
#define FULL_BOOKKEEPING_WIDTH 16.0
#define FULL_BOOKKEEPING_HEIGHT 6.0

/* What is drawn beside a column: the column that one of its forks leads to, or a region that it begins. */
struct full_child {
	bool is_region;
	bool open;     /* no join of this column waits for it */
	bool routed;   /* its edge to the join goes down in a lane beside the column */
	uint32_t ref;  /* index of the child's own column, or of the region */
	uint32_t join; /* the join that waits for it */
	uint32_t node; /* its fork: an index in the column while the column is built, later in the scene */
	uint32_t next; /* the next child with the same join, while the column is built */
	/*
	 * All are relative to the column. y: of the fork or region. x, top: of the child. join_y: of the
	 * join. lane: its x.
	 */
	double y, x, top, join_y, lane;
};

/*
 * A column of nodes. x and y are relative to the column's block in the first pass, and absolute after the
 * second.
 */
struct full_column {
	bool built;
	bool claimed;	     /* a fork leads to it */
	uint32_t first_node; /* while it is built: index among the staged nodes. In the first pass: counted
				from the end of all nodes. Afterwards: index in the scene */
	uint32_t node_count;
	uint32_t first_child, child_count;
	uint32_t owner,
		owner_column; /* its entry in `children`, and the column that owns it; or GRAIN_NONE */
	uint32_t phase;	      /* of a region member's column: its phase */
	double x, y;
	double end; /* bottom of its nodes */
	/* The same, including children that are not joined here and the free space below a task. */
	double bottom;
	double half; /* half of its width */
	struct contour
		contour; /* right side of a task's block, until it becomes a part of its parent's block */
};

struct full_phase {
	uint32_t join; /* GRAIN_NONE: its end was not seen */
	uint32_t node;
	double y, join_y; /* y: top of the columns; join_y: centre of the join */
	size_t first_column, column_count;
};

struct full_region {
	bool built;
	bool claimed; /* it has a place beside a column */
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
	struct scene_node *staged; /* nodes of the columns that are being built, relative to them */
	size_t staged_count, staged_capacity;
	struct full_child *children;
	size_t child_count;
	struct full_column
		*columns; /* one for each entry of the outline's order, then those of region members */
	size_t column_count, column_capacity;
	struct full_phase *phases;
	size_t phase_count, phase_capacity;
	struct full_region *regions;
	struct scene_point *way; /* points of the edge that is being drawn */
	size_t way_capacity;
	/* One for each join: */
	uint32_t *waiting; /* the first child that it waits for; GRAIN_NONE: none */
	uint32_t *join_node;
	double *lane_x;
	uint32_t *lane_owner; /* the column to which lane_x belongs */
};

/*
 * Each function adds a staged node at y of its column (layout_full_nodes.c). Returns false if out of memory.
 * full_layout__stage_fragment() returns the node's height, or a negative number if out of memory.
 */
double full_layout__stage_fragment(struct full_layout *layout, struct full_column *column,
				   const struct outline_walk *walk, const struct grain_item *item, double y);
/* The stub is at the column's top. It stands for a body that was not seen. */
bool full_layout__stage_stub(struct full_layout *layout, struct full_column *column, uint32_t context);
bool full_layout__stage_bookkeeping(struct full_layout *layout, struct full_column *column,
				    const struct outline_walk *walk, const struct grain_item *item, double y);
/* child GRAIN_NONE: the fork's child is not drawn beside it. */
bool full_layout__stage_fork(struct full_layout *layout, struct full_column *column,
			     const struct outline_walk *walk, const struct grain_item *item, double y,
			     uint32_t child);
bool full_layout__stage_join(struct full_layout *layout, struct full_column *column,
			     const struct outline_walk *walk, const struct grain_item *item, double y);
/* Adds the fork and the joins of a region. The second pass moves them to their places. */
bool full_layout__stage_region(struct full_layout *layout, struct full_column *column, uint32_t region);
/* Moves the staged nodes into the scene, before all other nodes. Returns false if out of memory. */
bool full_layout__unstage(struct full_layout *layout, struct full_column *column);

/* Adds an item of the walk at *y of its column, and moves *y below it. Returns false if out of memory. */
bool full_layout__add_item(struct full_layout *layout, struct full_column *column,
			   const struct outline_walk *walk, const struct grain_item *item, double *y);
void full_layout__end_column(struct full_column *column, double y);
/*
 * Places the children of column number `owner`. The edges of open children go down to `exit`. Returns the
 * right side of everything that was placed.
 */
struct contour full_layout__sweep(struct full_layout *layout, uint32_t owner, double exit);
bool full_layout__build_region(struct full_layout *layout, uint32_t region, bool with_members);

/* The second pass: computes positions and adds edges. Returns 0 or -ENOMEM. */
int full_layout__place(struct full_layout *layout);

#endif
