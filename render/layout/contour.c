/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/layout/contour.h"

#include <stdlib.h>
#include <string.h>

#include "render/base/array.h"

void contour_pool__init(struct contour_pool *pool)
{
	memset(pool, 0, sizeof(*pool));
	pool->released = CONTOUR_END;
}

void contour_pool__free(struct contour_pool *pool)
{
	free(pool->segments);
	contour_pool__init(pool);
}

static uint32_t take(struct contour_pool *pool)
{
	uint32_t s = pool->released;

	if (s != CONTOUR_END) {
		pool->released = pool->segments[s].next;
		return s;
	}
	if (pool->count >= CONTOUR_END || !array__reserve((void **)&pool->segments, &pool->capacity,
							  pool->count, sizeof(*pool->segments))) {
		pool->failed = true;
		return CONTOUR_END;
	}
	return (uint32_t)pool->count++;
}

void contour__init(struct contour *contour)
{
	*contour = (struct contour){.head = CONTOUR_END, .tail = CONTOUR_END};
}

void contour__push(struct contour_pool *pool, struct contour *contour, double x, double y, double height)
{
	uint32_t s = take(pool);

	if (s == CONTOUR_END)
		return;
	pool->segments[s] = (struct contour_segment){.height = height, .next = contour->head};
	if (contour->head == CONTOUR_END) {
		contour->tail = s;
		contour->tail_x = x;
		contour->tail_y = y;
	} else {
		pool->segments[contour->head].dx = contour->x - x;
		pool->segments[contour->head].dy = contour->y - y;
	}
	contour->head = s;
	contour->x = x;
	contour->y = y;
}

void contour__append(struct contour_pool *pool, struct contour *contour, double x, double y, double height)
{
	uint32_t s;

	if (contour->head == CONTOUR_END) {
		contour__push(pool, contour, x, y, height);
		return;
	}
	s = take(pool);
	if (s == CONTOUR_END)
		return;
	pool->segments[s] = (struct contour_segment){.dx = x - contour->tail_x,
						     .dy = y - contour->tail_y,
						     .height = height,
						     .next = CONTOUR_END};
	pool->segments[contour->tail].next = s;
	contour->tail = s;
	contour->tail_x = x;
	contour->tail_y = y;
}

void contour__shift(struct contour *contour, double dx, double dy)
{
	contour->x += dx;
	contour->y += dy;
	contour->tail_x += dx;
	contour->tail_y += dy;
}

void contour__put_on_top(struct contour_pool *pool, struct contour *contour, struct contour *above)
{
	if (above->head == CONTOUR_END)
		return;
	if (contour->head == CONTOUR_END) {
		*contour = *above;
	} else {
		pool->segments[contour->head].dx = contour->x - above->tail_x;
		pool->segments[contour->head].dy = contour->y - above->tail_y;
		pool->segments[above->tail].next = contour->head;
		contour->head = above->head;
		contour->x = above->x;
		contour->y = above->y;
	}
	contour__init(above);
}

static void pop(struct contour_pool *pool, struct contour *contour)
{
	uint32_t s = contour->head, next = pool->segments[s].next;

	pool->segments[s].next = pool->released;
	pool->released = s;
	contour->head = next;
	if (next == CONTOUR_END) {
		contour->tail = CONTOUR_END;
		return;
	}
	contour->x += pool->segments[next].dx;
	contour->y += pool->segments[next].dy;
}

double contour__cut(struct contour_pool *pool, struct contour *contour, double y, double base)
{
	double largest = base;

	while (contour->head != CONTOUR_END && contour->y < y) {
		struct contour_segment *s = &pool->segments[contour->head];
		double end = contour->y + s->height;

		if (contour->x > largest)
			largest = contour->x;
		if (end > y) {
			if (s->next != CONTOUR_END)
				pool->segments[s->next].dy -= y - contour->y;
			else
				contour->tail_y = y;
			s->height = end - y;
			contour->y = y;
			break;
		}
		pop(pool, contour);
	}
	return largest;
}

void contour__release(struct contour_pool *pool, struct contour *contour)
{
	if (contour->head != CONTOUR_END) {
		pool->segments[contour->tail].next = pool->released;
		pool->released = contour->head;
	}
	contour__init(contour);
}

struct contour_walk contour__first(const struct contour *contour)
{
	return (struct contour_walk){contour->head, contour->x, contour->y};
}

void contour__next(const struct contour_pool *pool, struct contour_walk *walk)
{
	walk->segment = pool->segments[walk->segment].next;
	if (walk->segment == CONTOUR_END)
		return;
	walk->x += pool->segments[walk->segment].dx;
	walk->y += pool->segments[walk->segment].dy;
}
