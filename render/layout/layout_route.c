/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds ways around nodes. The nodes are in a grid with about as many cells as nodes. So the code finds what
 * is in the way of a line without looking at all nodes.
 */
#include "render/layout/layout_route.h"

#include <math.h>
#include <stdlib.h>

#define INSET 3.0
#define CHANNEL 3.5   /* distance of a channel above or below a node */
#define CLEARANCE .6  /* distance between a line and a node that it passes */
#define MOST_MOVES 24 /* the largest number of times that a channel moves away from what is in it */
#define CURVE_STEPS 8

/*
 * Distances of lanes beside a node: the usual one, and one for the space between siblings of a reduced
 * layout.
 */
static const double lanes[] = {4, 1.25};

struct route_grid {
	const struct scene *scene;
	double left, top, cell;
	uint32_t columns, rows;
	uint32_t *first; /* per cell: index of its first node in `nodes`; one more for the end */
	uint32_t *nodes;
};

struct area {
	double left, right, top, bottom;
};

static struct area around(const struct scene_node *n)
{
	return (struct area){n->x - n->w / 2, n->x + n->w / 2, n->y, n->y + n->h};
}

static uint32_t clamp(double at, uint32_t count)
{
	return at <= 0 ? 0 : at >= count ? count - 1 : (uint32_t)at;
}

struct cells {
	uint32_t x0, x1, y0, y1;
};

static struct cells cells_of(const struct route_grid *g, const struct area *a)
{
	return (struct cells){clamp((a->left - g->left) / g->cell, g->columns),
			      clamp((a->right - g->left) / g->cell, g->columns),
			      clamp((a->top - g->top) / g->cell, g->rows),
			      clamp((a->bottom - g->top) / g->cell, g->rows)};
}

/* Counts the nodes of each cell in first[cell]. `put`: puts them into `nodes` instead. */
static void fill(struct route_grid *g, bool put)
{
	for (uint32_t i = 0; i < g->scene->node_count; i++) {
		struct area a = around(&g->scene->nodes[i]);
		struct cells c = cells_of(g, &a);

		for (uint32_t y = c.y0; y <= c.y1; y++) {
			for (uint32_t x = c.x0; x <= c.x1; x++) {
				uint32_t *cell = &g->first[(size_t)y * g->columns + x];

				if (put)
					g->nodes[--*cell] = i;
				else
					++*cell;
			}
		}
	}
}

struct route_grid *route_grid__new(const struct scene *scene)
{
	struct route_grid *g = calloc(1, sizeof(*g));
	struct area all = {INFINITY, -INFINITY, INFINITY, -INFINITY};
	size_t cells;

	if (!g)
		return NULL;
	for (size_t i = 0; i < scene->node_count; i++) {
		struct area a = around(&scene->nodes[i]);

		all = (struct area){fmin(all.left, a.left), fmax(all.right, a.right), fmin(all.top, a.top),
				    fmax(all.bottom, a.bottom)};
	}
	g->scene = scene;
	g->left = all.left;
	g->top = all.top;
	g->cell = fmax(32, sqrt((all.right - all.left) * (all.bottom - all.top) /
				(double)(scene->node_count + 1)));
	g->columns = (uint32_t)((all.right - all.left) / g->cell) + 1;
	g->rows = (uint32_t)((all.bottom - all.top) / g->cell) + 1;
	cells = (size_t)g->columns * g->rows;
	g->first = calloc(cells + 1, sizeof(*g->first));
	if (!g->first)
		goto fail;
	fill(g, false);
	for (size_t i = 1; i <= cells; i++)
		g->first[i] += g->first[i - 1];
	g->nodes = malloc(((size_t)g->first[cells] + 1) * sizeof(*g->nodes));
	if (!g->nodes)
		goto fail;
	fill(g, true);
	return g;
fail:
	route_grid__free(g);
	return NULL;
}

void route_grid__free(struct route_grid *g)
{
	if (!g)
		return;
	free(g->first);
	free(g->nodes);
	free(g);
}

/* Returns a node in the area that is not an end of the route. GRAIN_NONE: none. */
static uint32_t obstacle(const struct route_grid *g, struct area a, uint32_t from, uint32_t to)
{
	struct cells c;

	a = (struct area){a.left - CLEARANCE, a.right + CLEARANCE, a.top - CLEARANCE, a.bottom + CLEARANCE};
	c = cells_of(g, &a);
	for (uint32_t y = c.y0; y <= c.y1; y++) {
		for (uint32_t x = c.x0; x <= c.x1; x++) {
			size_t cell = (size_t)y * g->columns + x;

			for (uint32_t i = g->first[cell]; i < g->first[cell + 1]; i++) {
				struct area n = around(&g->scene->nodes[g->nodes[i]]);

				if (g->nodes[i] != from && g->nodes[i] != to && n.left < a.right &&
				    a.left < n.right && n.top < a.bottom && a.top < n.bottom)
					return g->nodes[i];
			}
		}
	}
	return GRAIN_NONE;
}

static struct area between(struct scene_point p, struct scene_point q)
{
	return (struct area){fmin(p.x, q.x), fmax(p.x, q.x), fmin(p.y, q.y), fmax(p.y, q.y)};
}

static bool is_clear(const struct route_grid *g, const struct route *r, uint32_t from, uint32_t to)
{
	struct scene_point at = r->points[0];

	for (uint32_t i = 1; !r->curved && i < r->count; i++)
		if (obstacle(g, between(r->points[i - 1], r->points[i]), from, to) != GRAIN_NONE)
			return false;
	for (int step = 1; r->curved && step <= CURVE_STEPS; step++) {
		const struct scene_point *p = r->points;
		double t = (double)step / CURVE_STEPS, u = 1 - t;
		struct scene_point next = {u * u * u * p[0].x + 3 * u * u * t * p[1].x +
						   3 * u * t * t * p[2].x + t * t * t * p[3].x,
					   u * u * u * p[0].y + 3 * u * u * t * p[1].y +
						   3 * u * t * t * p[2].y + t * t * t * p[3].y};

		if (obstacle(g, between(at, next), from, to) != GRAIN_NONE)
			return false;
		at = next;
	}
	return true;
}

struct route route_grid__plain(const struct route_grid *g, uint32_t from, uint32_t to)
{
	const struct scene_node *a = &g->scene->nodes[from], *b = &g->scene->nodes[to];
	double side = a->x < b->x ? 1 : -1, bend = fmin(14, fabs(a->x - b->x) / 2);
	struct route r = {.count = 4, .curved = true};

	if (fabs(a->x - b->x) < 1) {
		r.points[0] = r.points[1] = (struct scene_point){a->x, a->y + a->h};
		r.points[2] = r.points[3] = (struct scene_point){b->x, b->y};
		return r;
	}
	r.points[0] = (struct scene_point){a->x + side * a->w / 2, a->y + a->h - fmin(INSET, a->h / 2)};
	r.points[3] = (struct scene_point){b->x - side * b->w / 2, b->y + fmin(INSET, b->h / 2)};
	r.points[1] = (struct scene_point){r.points[0].x + side * bend, r.points[0].y};
	r.points[2] = (struct scene_point){r.points[3].x - side * bend, r.points[3].y};
	return r;
}

/* Moves a channel (an area without height) up or down until nothing is in it. Returns its y. */
static double free_channel(const struct route_grid *g, struct area channel, bool down, uint32_t from,
			   uint32_t to)
{
	for (int i = 0; i < MOST_MOVES; i++) {
		uint32_t node = obstacle(g, channel, from, to);
		struct area a;

		if (node == GRAIN_NONE)
			break;
		a = around(&g->scene->nodes[node]);
		channel.top = channel.bottom = down ? a.bottom + CHANNEL : a.top - CHANNEL;
	}
	return channel.top;
}

/*
 * A way with right angles: down a lane beside one node, through a channel, down a lane beside the other node.
 */
struct detour {
	int exit, entry; /* side of each node: -1 left, 1 right */
	enum { BENEATH_FROM, ABOVE_TO, BENEATH_BOTH, CHANNELS } channel;
	double lane;
};

static struct route angles(const struct route_grid *g, uint32_t from, uint32_t to, struct detour d)
{
	const struct scene_node *a = &g->scene->nodes[from], *b = &g->scene->nodes[to];
	double start = a->y + a->h - fmin(INSET, a->h / 2), end = b->y + fmin(INSET, b->h / 2);
	double out = a->x + d.exit * (a->w / 2 + d.lane), in = b->x + d.entry * (b->w / 2 + d.lane), y;

	y = d.channel == BENEATH_FROM ? a->y + a->h + CHANNEL
	    : d.channel == ABOVE_TO   ? b->y - CHANNEL
				      : fmax(a->y + a->h, b->y + b->h) + CHANNEL;
	y = free_channel(g, (struct area){fmin(out, in), fmax(out, in), y, y}, d.channel != ABOVE_TO, from,
			 to);
	return (struct route){.count = 6,
			      .points = {{a->x + d.exit * a->w / 2, start},
					 {out, start},
					 {out, y},
					 {in, y},
					 {in, end},
					 {b->x + d.entry * b->w / 2, end}}};
}

/* The way past everything between two nodes, one of which is above the other: down a lane beside it. */
static struct route around_all(const struct route_grid *g, uint32_t from, uint32_t to, int side, double lane)
{
	const struct scene_node *a = &g->scene->nodes[from], *b = &g->scene->nodes[to];
	double start = a->y + a->h - fmin(INSET, a->h / 2), end = b->y + fmin(INSET, b->h / 2);
	double out = a->x + side * (a->w / 2 + lane), in = b->x + side * (b->w / 2 + lane);
	double y1 = a->y + a->h + CHANNEL, y2 = b->y - CHANNEL, x = side > 0 ? fmax(out, in) : fmin(out, in);

	for (int i = 0; i < MOST_MOVES; i++) {
		uint32_t node = obstacle(g, (struct area){x, x, fmin(y1, y2), fmax(y1, y2)}, from, to);
		struct area n;

		if (node == GRAIN_NONE)
			break;
		n = around(&g->scene->nodes[node]);
		x = side > 0 ? n.right + lane : n.left - lane;
	}
	return (struct route){.count = 8,
			      .points = {{a->x + side * a->w / 2, start},
					 {out, start},
					 {out, y1},
					 {x, y1},
					 {x, y2},
					 {in, y2},
					 {in, end},
					 {b->x + side * b->w / 2, end}}};
}

struct route route_grid__find(const struct route_grid *g, uint32_t from, uint32_t to)
{
	const struct scene_node *a = &g->scene->nodes[from], *b = &g->scene->nodes[to];
	struct route plain = route_grid__plain(g, from, to);
	int towards = a->x <= b->x ? 1 : -1;

	plain.clear = is_clear(g, &plain, from, to);
	for (int way = 0; !plain.clear && way < 4 * CHANNELS * 2; way++) {
		struct route r = angles(g, from, to,
					(struct detour){.exit = way & 1 ? -towards : towards,
							.entry = way & 2 ? towards : -towards,
							.channel = way / 4 % CHANNELS,
							.lane = lanes[way / (4 * CHANNELS)]});

		r.clear = is_clear(g, &r, from, to);
		if (r.clear)
			return r;
	}
	for (int way = 0; !plain.clear && way < 2 * 2; way++) {
		struct route r = around_all(g, from, to, way & 1 ? -towards : towards, lanes[way / 2]);

		r.clear = is_clear(g, &r, from, to);
		if (r.clear)
			return r;
	}
	return plain;
}
