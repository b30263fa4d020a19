/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes how yEd shows nodes and edges (place, shape, colours, label). This goes into yEd's own elements,
 * beside the typed attributes x and y.
 */
#include "analysis/include/grain_export.h"
#include "analysis/export/graphml.h"

#include <math.h>

enum look_key { LOOK_X, LOOK_Y, LOOK_NODE, LOOK_EDGE };

/* In points: diameter of forks and joins, and smallest height of nodes that execute. */
#define CIRCLE 14.0
#define FLOOR 8.0
/* Shares of the space around a node's centre. */
#define WIDEST 0.8
#define TALLEST 0.7

static const struct {
	const char *shape, *fill;
} looks[] = {
	[GRAIN_REDUCED_CONTEXT] = {"rectangle", "#DCE6F2"},	[GRAIN_REDUCED_FORK] = {"ellipse", "#3F9B57"},
	[GRAIN_REDUCED_REGION] = {"ellipse", "#3F9B57"},	[GRAIN_REDUCED_JOIN] = {"ellipse", "#E08A1E"},
	[GRAIN_REDUCED_BOOKKEEPING] = {"rectangle", "#2F8F9D"},
};
#define FLAGGED "#F4B183"
#define CRITICAL "#C0202A"
#define BORDER "#555555"

static const struct {
	const char *colour, *style;
} edges[] = {
	[GRAIN_REDUCED_CREATION] = {"#3F9B57", "line"},
	[GRAIN_REDUCED_CONTINUATION] = {"#888888", "line"},
	[GRAIN_REDUCED_SYNCHRONIZATION] = {"#E08A1E", "line"},
	[GRAIN_REDUCED_DEPENDENCE] = {"#7A4FA3", "dashed"},
};

static void begin_data(struct export *e, unsigned key)
{
	PUT(e, "<data key=\"d");
	json_out__uint(e->out, key);
	PUT(e, "\">");
}

void graphml__declare_looks(struct export *e, unsigned key)
{
	static const char *const keys[GRAPHML_LOOK_KEYS] = {
		[LOOK_X] = "\" for=\"node\" attr.name=\"x\" attr.type=\"double\"/>\n",
		[LOOK_Y] = "\" for=\"node\" attr.name=\"y\" attr.type=\"double\"/>\n",
		[LOOK_NODE] = "\" for=\"node\" yfiles.type=\"nodegraphics\"/>\n",
		[LOOK_EDGE] = "\" for=\"edge\" yfiles.type=\"edgegraphics\"/>\n",
	};

	for (unsigned i = 0; i < GRAPHML_LOOK_KEYS; i++) {
		PUT(e, "<key id=\"d");
		json_out__uint(e->out, key + i);
		export__text(e, keys[i]);
	}
}

static void put_length(struct export *e, const char *name, double value)
{
	export__text(e, name);
	json_out__double(e->out, round(value * 100) / 100);
	PUT(e, "\"");
}

static void put_geometry(struct export *e, const struct graphml_look *look, const struct grain_position *at)
{
	const struct grain_positions *p = e->positions;
	double width = CIRCLE, height = CIRCLE;

	if (look->kind == GRAIN_REDUCED_CONTEXT || look->kind == GRAIN_REDUCED_BOOKKEEPING) {
		width = p->width * WIDEST;
		height = fmin(fmax(FLOOR, (double)look->own_ns * p->px_per_ns), p->height * TALLEST);
	}
	put_length(e, "<y:Geometry x=\"", at->x - width / 2);
	put_length(e, " y=\"", at->y - height / 2);
	put_length(e, " width=\"", width);
	put_length(e, " height=\"", height);
	PUT(e, "/>");
}

static const struct grain_position *place_of(const struct export *e, struct node node)
{
	return node.prefix == 'j' ? &e->positions->joins[node.index] : &e->positions->nodes[node.index];
}

void graphml__node_look(struct export *e, unsigned key, struct node node, const struct graphml_look *look)
{
	const struct grain_position *at = place_of(e, node);

	begin_data(e, key + LOOK_NODE);
	PUT(e, "<y:ShapeNode>");
	put_geometry(e, look, at);
	PUT(e, "<y:Fill color=\"");
	export__text(e, look->flagged ? FLAGGED : looks[look->kind].fill);
	PUT(e, "\"/><y:BorderStyle type=\"line\" color=\"");
	export__text(e, look->critical ? CRITICAL : BORDER);
	PUT(e, "\" width=\"");
	export__text(e, look->critical ? "2.5" : "1");
	PUT(e, "\"/>");
	if (look->definition != GRAIN_NONE) {
		PUT(e, "<y:NodeLabel fontSize=\"9\" autoSizePolicy=\"node_width\" "
		       "configuration=\"CroppingLabel\">");
		export__xml(e, e->graph->definitions[look->definition].source);
		PUT(e, "</y:NodeLabel>");
	}
	PUT(e, "<y:Shape type=\"");
	export__text(e, looks[look->kind].shape);
	PUT(e, "\"/></y:ShapeNode></data>");
	/*
	 * The attributes come after yEd's graphics. A reader that takes a place from both then keeps the
	 * centre.
	 */
	begin_data(e, key + LOOK_X);
	json_out__double(e->out, at->x);
	PUT(e, "</data>");
	begin_data(e, key + LOOK_Y);
	json_out__double(e->out, at->y);
	PUT(e, "</data>");
}

/* Writes the path of an edge: down in the column where the edge begins, then over to where it ends. */
static void put_path(struct export *e, const struct grain_position *from, const struct grain_position *to)
{
	PUT(e, "<y:Path sx=\"0\" sy=\"0\" tx=\"0\" ty=\"0\">");
	if (from->x != to->x && to->y - from->y > 1.5 * e->positions->height) {
		put_length(e, "<y:Point x=\"", from->x);
		put_length(e, " y=\"", to->y - e->positions->height / 2);
		PUT(e, "/>");
	}
	PUT(e, "</y:Path>");
}

void graphml__edge_look(struct export *e, unsigned key, struct node from, struct node to,
			enum grain_reduced_edge_kind kind, bool critical)
{
	begin_data(e, key + LOOK_EDGE);
	PUT(e, "<y:PolyLineEdge>");
	put_path(e, place_of(e, from), place_of(e, to));
	PUT(e, "<y:LineStyle color=\"");
	export__text(e, critical ? CRITICAL : edges[kind].colour);
	PUT(e, "\" type=\"");
	export__text(e, edges[kind].style);
	PUT(e, "\" width=\"");
	export__text(e, critical ? "2" : "1");
	PUT(e, "\"/><y:Arrows source=\"none\" target=\"standard\"/></y:PolyLineEdge></data>");
}
