/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One side of a block's outline: vertical segments from the top down. Each is placed relative to the one
 * above it. So it takes constant time to move a contour, or to put one on top of another.
 */
#ifndef GRAIND_RENDER_CONTOUR_H
#define GRAIND_RENDER_CONTOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTOUR_END UINT32_MAX

struct contour_segment {
	double dx, dy; /* distance from the segment above */
	double height;
	uint32_t next;
};

/* The segments of all contours of one layout. Released segments are used again. */
struct contour_pool {
	struct contour_segment *segments;
	size_t count, capacity;
	uint32_t released;
	bool failed; /* out of memory: contours are incomplete */
};
void contour_pool__init(struct contour_pool *pool);
void contour_pool__free(struct contour_pool *pool);

struct contour {
	uint32_t head, tail;
	double x, y;	       /* position of the head */
	double tail_x, tail_y; /* position of the tail */
};
void contour__init(struct contour *contour);

/* Adds a new segment above all others. */
void contour__push(struct contour_pool *pool, struct contour *contour, double x, double y, double height);
void contour__append(struct contour_pool *pool, struct contour *contour, double x, double y, double height);

void contour__shift(struct contour *contour, double dx, double dy);

/* Puts `above` on top of a contour. Afterwards `above` is empty. */
void contour__put_on_top(struct contour_pool *pool, struct contour *contour, struct contour *above);

/*
 * Removes everything above y. Cuts the segment that crosses y. Returns the largest x that was removed, but at
 * least `base`.
 */
double contour__cut(struct contour_pool *pool, struct contour *contour, double y, double base);

void contour__release(struct contour_pool *pool, struct contour *contour);

/* for (walk = contour__first(c); walk.segment != CONTOUR_END; contour__next(pool, &walk)) */
struct contour_walk {
	uint32_t segment;
	double x, y;
};
struct contour_walk contour__first(const struct contour *contour);
void contour__next(const struct contour_pool *pool, struct contour_walk *walk);

#endif
