/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the marks that Graphviz would draw: boxes, circles and lines. Graphviz spends most of its time on
 * making and reading attributes. This code writes each number once.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "render/svg/picture.h"

#define ROUND 4.0
#define ROUND_GROUP 9.0
#define ROUND_FRAME 12.0

static void attribute(struct format_text *text, const char *name, double value)
{
	format__add_bytes(text, " ", 1);
	format__add(text, name);
	format__add_bytes(text, "=\"", 2);
	format__add_fixed(text, value);
	format__add_bytes(text, "\"", 1);
}

static void point(struct format_text *text, const char *command, struct scene_point p)
{
	format__add(text, command);
	format__add_fixed(text, p.x);
	format__add_bytes(text, ",", 1);
	format__add_fixed(text, p.y);
}

static void add_node(struct format_text *text, const struct scene_node *n)
{
	double round = n->shape == SCENE_OPEN ? ROUND_FRAME : n->shape == SCENE_CLOSED ? ROUND_GROUP : ROUND;

	if (n->shape == SCENE_FORK || n->shape == SCENE_JOIN) {
		format__add(text, "<circle");
		attribute(text, "cx", n->x);
		attribute(text, "cy", n->y + n->h / 2);
		attribute(text, "r", n->w / 2);
	} else {
		format__add(text, "<rect");
		attribute(text, "x", n->x - n->w / 2);
		attribute(text, "y", n->y);
		attribute(text, "width", n->w);
		attribute(text, "height", n->h);
		attribute(text, "rx", fmin(round, fmin(n->w, n->h) / 3));
	}
	format__add(text, "/>");
}

/* Right angles get round corners. */
static void add_edge(struct format_text *text, const struct scene *scene, const struct scene_edge *e)
{
	const struct scene_point *p = scene->points + e->first_point;

	point(text, "<path d=\"M", p[0]);
	for (uint32_t i = 1; e->curved && i < e->points; i++)
		point(text, i == 1 ? "C" : " ", p[i]);
	for (uint32_t i = 1; !e->curved && i + 1 < e->points; i++) {
		point(text, "L", picture__towards(p[i], p[i - 1], PICTURE_CORNER));
		point(text, "Q", p[i]);
		point(text, " ", picture__towards(p[i], p[i + 1], PICTURE_CORNER));
	}
	if (!e->curved)
		point(text, "L", p[e->points - 1]);
	format__add(text, "\"/>");
}

int picture__write_marks(const struct scene *scene, struct picture *picture, struct grain_error *err)
{
	struct format_text text = {0};

	*picture = (struct picture){.nodes = calloc(scene->node_count + 1, sizeof(*picture->nodes)),
				    .edges = calloc(scene->edge_count + 1, sizeof(*picture->edges)),
				    .left = scene->left,
				    .top = scene->top,
				    .width = scene->right - scene->left,
				    .height = scene->bottom - scene->top};
	for (size_t i = 0; picture->nodes && i < scene->node_count; i++) {
		size_t at = text.length;

		add_node(&text, &scene->nodes[i]);
		picture->nodes[i] = (struct picture_span){at, text.length - at};
	}
	for (size_t i = 0; picture->edges && i < scene->edge_count; i++) {
		size_t at = text.length;

		add_edge(&text, scene, &scene->edges[i]);
		picture->edges[i] = (struct picture_span){at, text.length - at};
	}
	picture->text = text.data;
	if (picture->nodes && picture->edges && !text.failed)
		return 0;
	if (err)
		snprintf(err->text, sizeof(err->text), "cannot draw the graph: out of memory");
	return -ENOMEM;
}
