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

enum full_row_kind { FULL_FRAGMENT, FULL_CHUNK, FULL_BOOKKEEPING, FULL_FORK, FULL_JOIN, FULL_REGION };

struct full_row {
	uint8_t kind; /* enum full_row_kind */
	bool open;    /* fork whose child is not joined in this column */
	bool routed;  /* the child's way to the join leads through a lane */
	uint32_t context, item;
	uint32_t ref;  /* child, join or region */
	uint32_t node; /* in the scene */
	uint32_t next; /* fork waiting for the same join while the column is built */
	double y, height;
	double child_x, child_top, join_y, lane; /* of a fork's child, relative to the column */
};

/* Rows below each other; x and y are relative to the block, then absolute. */
struct full_column {
	uint32_t context; /* GRAIN_NONE: not built */
	size_t first_row, row_count;
	double x, y;
	double end;	/* of the rows */
	double bottom;	/* also of the children that are not joined here */
	double half;	/* of the width */
	uint32_t phase; /* of a region member's column */
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
	struct full_row *rows;
	size_t row_count, row_capacity;
	struct full_column *columns; /* one a context first, then those of region members */
	size_t column_count, column_capacity;
	struct contour *contours; /* per context */
	double *heights;	  /* per context: of its block */
	bool *claimed;		  /* per context: by the fork that shows it */
	uint32_t *owner_row;	  /* per context: that fork's row */
	uint32_t *owner_column;	  /* per context: the column of that row */
	struct full_phase *phases;
	size_t phase_count, phase_capacity;
	struct full_region *regions;
	/* per join */
	uint32_t *waiting; /* first fork row that waits for it, GRAIN_NONE */
	uint32_t *join_node;
	double *lane_x;
	uint32_t *lane_owner; /* column whose lane lane_x is */
};

/* Adds one item at *y of a column and moves *y below it; false when memory is short. */
bool full_layout__add_item(struct full_layout *layout, struct full_column *column,
			   const struct outline_walk *walk, const struct grain_item *item, double *y);
void full_layout__end_column(struct full_column *column, double y);
/* Places the children of column `owner`; those that are still open leave at `exit`. Returns the right
 * contour. */
struct contour full_layout__sweep(struct full_layout *layout, uint32_t owner, double exit);
bool full_layout__build_region(struct full_layout *layout, uint32_t region, bool with_members);

/* Second pass: nodes and edges. 0 or -ENOMEM. */
int full_layout__place(struct full_layout *layout);

static inline const struct full_phase *full_region__last(const struct full_layout *l,
							 const struct full_region *r)
{
	return &l->phases[r->first_phase + r->phase_count - 1];
}

#endif
