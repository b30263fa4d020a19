/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes DOT, and SVG through Graphviz. Graphviz uses points with y upwards, and sizes in inches. Positions
 * are passed in as the attribute "pos" of nodes and edges; the engine nop2 keeps them. Text on nodes goes
 * only into DOT. In SVG, svg.c writes the text, so that the result does not depend on the fonts of the
 * machine that draws.
 */
#include "render/svg/picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/svg/graphviz.h"
#include "render/svg/tooltip.h"

#define INK "#1D2330"
#define CRITICAL "#D11F3A"
#define LINE "#A9B2C0"
#define EDGE_WIDTH "1.1"
#define CRITICAL_WIDTH "2.2"

enum node_attribute {
	NODE_POS,
	NODE_WIDTH,
	NODE_HEIGHT,
	NODE_SHAPE,
	NODE_STYLE,
	NODE_FILL,
	NODE_COLOUR,
	NODE_PEN,
	NODE_CLASS,
	NODE_LABEL,
	NODE_TOOLTIP,
	NODE_COUNT
};
enum edge_attribute { EDGE_POS, EDGE_COLOUR, EDGE_PEN, EDGE_STYLE, EDGE_CLASS, EDGE_COUNT };

struct maker {
	const struct view *view;
	const struct scene *scene;
	Agraph_t *graph;
	Agnode_t **nodes;
	Agsym_t *node[NODE_COUNT], *edge[EDGE_COUNT];
	bool own_layout, labels, tooltips;
	struct format_text text;
};

static char complaint[256];

/* Receives Graphviz' messages, so that nothing reaches stderr. */
static int listen(char *message)
{
	size_t used = strlen(complaint);

	if (used + 1 < sizeof(complaint))
		snprintf(complaint + used, sizeof(complaint) - used, "%s", message);
	for (char *c = complaint; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	return 0;
}

static int fail(struct grain_error *err, int code, const char *what)
{
	if (err)
		snprintf(err->text, sizeof(err->text), "cannot draw the graph: %s%s%.200s", what,
			 *complaint ? ": " : "", complaint);
	return code;
}

/* Sets an attribute. agxset() and others take char *, but do not change it. */
static void set(void *object, Agsym_t *attribute, const char *value)
{
	agxset(object, attribute, (char *)(uintptr_t)value);
}

static Agsym_t *declare(Agraph_t *graph, int kind, const char *name, const char *value)
{
	return agattr(graph, kind, (char *)(uintptr_t)name, (char *)(uintptr_t)value);
}

static bool declare_all(struct maker *m)
{
	static const char *const node_names[NODE_COUNT] = {"pos",   "width",	 "height", "shape",
							   "style", "fillcolor", "color",  "penwidth",
							   "class", "label",	 "tooltip"};
	static const char *const node_defaults[NODE_COUNT] = {"",	 "",  "", "box", "filled", "#E3E7ED",
							      "#E3E7ED", "1", "", "",	 ""};
	static const char *const edge_names[EDGE_COUNT] = {"pos", "color", "penwidth", "style", "class"};
	static const char *const edge_defaults[EDGE_COUNT] = {"", LINE, EDGE_WIDTH, "solid", ""};

	for (int i = m->own_layout ? 0 : NODE_WIDTH; i < NODE_COUNT; i++)
		m->node[i] = declare(m->graph, AGNODE, node_names[i], node_defaults[i]);
	for (int i = m->own_layout ? 0 : EDGE_COLOUR; i < EDGE_COUNT; i++)
		m->edge[i] = declare(m->graph, AGEDGE, edge_names[i], edge_defaults[i]);
	declare(m->graph, AGNODE, "fixedsize", "true");
	declare(m->graph, AGNODE, "fontsize", "8");
	declare(m->graph, AGNODE, "fontname", "sans-serif");
	declare(m->graph, AGEDGE, "arrowhead", "none");
	declare(m->graph, AGRAPH, "outputorder", "edgesfirst");
	declare(m->graph, AGRAPH, "bgcolor", "transparent");
	declare(m->graph, AGRAPH, "pad", "0");
	declare(m->graph, AGRAPH, "notranslate", "true");
	declare(m->graph, AGRAPH, "ranksep", "0.15");
	declare(m->graph, AGRAPH, "nodesep", "0.1");
	return true;
}

void picture__node_class(const struct scene_node *n, uint8_t colour, bool flagged, char *out, size_t size)
{
	static const char *const shapes[] = {"fragment", "box",	 "chunk",  "bookkeeping", "fork", "join",
					     "group",	 "idle", "closed", "open",	  "skip"};

	snprintf(out, size, "%s c_%s%s%s%s%s%s%s", shapes[n->shape], view_colour__get(colour)->name,
		 n->critical ? " critical" : "", n->incomplete ? " incomplete" : "",
		 n->discarded ? " discarded" : "",
		 n->undeferred && n->shape == SCENE_FORK ? " undeferred" : "", n->siblings ? " siblings" : "",
		 flagged ? " flagged" : "");
}

const char *picture__edge_class(enum scene_edge_kind kind)
{
	static const char *const kinds[SCENE_EDGE_KINDS] = {"creation", "continuation", "synchronization",
							    "ancestor", "dependence",	"forward"};

	return kinds[kind];
}

static void set_look(struct maker *m, Agnode_t *node, const struct scene_node *n)
{
	bool circle = n->shape == SCENE_FORK || n->shape == SCENE_JOIN;
	bool hollow = n->shape == SCENE_FORK && n->undeferred;
	bool frame = n->shape == SCENE_OPEN || n->shape == SCENE_SKIP; /* it must not hide anything */
	uint8_t colour = view__colour(m->view, n);
	const char *fill = view_colour__get(colour)->light;
	char class[160];

	set(node, m->node[NODE_SHAPE], circle ? "circle" : "box");
	set(node, m->node[NODE_STYLE],
	    circle				     ? (n->incomplete ? "filled,dashed" : "filled")
	    : n->discarded || (frame && n->siblings) ? "rounded,dashed"
	    : frame				     ? "rounded"
		    : (n->incomplete ? "rounded,filled,dashed" : "rounded,filled"));
	set(node, m->node[NODE_FILL], hollow ? "#FFFFFF" : fill);
	set(node, m->node[NODE_COLOUR],
	    frame						  ? LINE
	    : n->critical					  ? CRITICAL
	    : n->incomplete || n->discarded || n->severity > 0	  ? INK
	    : n->shape == SCENE_GROUP || n->shape == SCENE_CLOSED ? LINE
								  : fill);
	set(node, m->node[NODE_PEN],
	    n->critical	    ? CRITICAL_WIDTH
	    : n->incomplete ? "1.2"
	    : hollow	    ? "1.6"
			    : "0.8");
	if (!m->labels)
		return;
	picture__node_class(n, colour, n->severity > 0, class, sizeof(class));
	set(node, m->node[NODE_CLASS], class);
}

static void set_text(struct maker *m, Agnode_t *node, const struct scene_node *n)
{
	char first[TOOLTIP_LABEL], second[TOOLTIP_LABEL], label[2 * TOOLTIP_LABEL + 1] = "";

	if (n->shape == SCENE_GROUP || n->shape == SCENE_CLOSED || n->shape == SCENE_SKIP) {
		tooltip__group_label(n, first, second);
		snprintf(label, sizeof(label), "%s%s%s", first, *second ? "\n" : "", second);
	}
	set(node, m->node[NODE_LABEL], label);
	if (!m->tooltips)
		return;
	m->text.length = 0;
	tooltip__node(m->view->graph, m->scene, n, &m->text);
	if (!m->text.failed && m->text.data)
		set(node, m->node[NODE_TOOLTIP], m->text.data);
}

static void add_point(struct format_text *text, double x, double y)
{
	if (text->length)
		format__add_bytes(text, " ", 1);
	format__add_fixed(text, x);
	format__add_bytes(text, ",", 1);
	format__add_fixed(text, -y);
}

static bool make_node(struct maker *m, size_t index)
{
	const struct scene_node *n = &m->scene->nodes[index];
	char text[96];
	Agnode_t *node;

	snprintf(text, sizeof(text), "n%zu", index);
	node = agnode(m->graph, text, 1);
	if (!node)
		return false;
	m->nodes[index] = node;
	if (m->own_layout) {
		m->text.length = 0;
		add_point(&m->text, n->x, n->y + n->h / 2);
		if (m->text.failed)
			return false;
		set(node, m->node[NODE_POS], m->text.data);
	}
	snprintf(text, sizeof(text), "%.5f", n->w / 72);
	set(node, m->node[NODE_WIDTH], text);
	snprintf(text, sizeof(text), "%.5f", n->h / 72);
	set(node, m->node[NODE_HEIGHT], text);
	set_look(m, node, n);
	if (m->labels)
		set_text(m, node, n);
	return !m->text.failed;
}

static void add_straight(struct format_text *text, struct scene_point a, struct scene_point b)
{
	add_point(text, a.x + (b.x - a.x) / 3, a.y + (b.y - a.y) / 3);
	add_point(text, a.x + 2 * (b.x - a.x) / 3, a.y + 2 * (b.y - a.y) / 3);
	add_point(text, b.x, b.y);
}

struct scene_point picture__towards(struct scene_point from, struct scene_point to, double by)
{
	double length = hypot(to.x - from.x, to.y - from.y);
	double share = length > 0 ? fmin(by, length / 2) / length : 0;

	return (struct scene_point){from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
}

/* Writes the edge as a cubic spline. Right angles get round corners. */
static void spline(const struct scene *scene, const struct scene_edge *e, struct format_text *text)
{
	const struct scene_point *p = scene->points + e->first_point;
	struct scene_point at = p[0];

	text->length = 0;
	add_point(text, at.x, at.y);
	if (e->curved) {
		for (uint32_t i = 1; i < e->points; i++)
			add_point(text, p[i].x, p[i].y);
		return;
	}
	for (uint32_t i = 1; i + 1 < e->points; i++) {
		struct scene_point before = picture__towards(p[i], p[i - 1], PICTURE_CORNER),
				   after = picture__towards(p[i], p[i + 1], PICTURE_CORNER);
		struct scene_point c1 = {(before.x + 2 * p[i].x) / 3, (before.y + 2 * p[i].y) / 3};
		struct scene_point c2 = {(after.x + 2 * p[i].x) / 3, (after.y + 2 * p[i].y) / 3};

		add_straight(text, at, before);
		add_point(text, c1.x, c1.y);
		add_point(text, c2.x, c2.y);
		add_point(text, after.x, after.y);
		at = after;
	}
	add_straight(text, at, p[e->points - 1]);
}

static bool make_edge(struct maker *m, size_t index)
{
	static const char *const colours[SCENE_EDGE_KINDS] = {"#2E8B57", LINE,	    "#FF7F50",
							      "#FF7F50", "#6B5BD2", LINE};
	const struct scene_edge *e = &m->scene->edges[index];
	bool dim = view__dims(m->view) && e->kind < SCENE_DEPENDENCE;
	Agedge_t *edge = agedge(m->graph, m->nodes[e->from], m->nodes[e->to], NULL, 1);
	char class[64];

	if (!edge)
		return false;
	if (m->own_layout) {
		spline(m->scene, e, &m->text);
		if (m->text.failed)
			return false;
		set(edge, m->edge[EDGE_POS], m->text.data);
	}
	set(edge, m->edge[EDGE_COLOUR], e->critical ? CRITICAL : dim ? "#CDD3DC" : colours[e->kind]);
	set(edge, m->edge[EDGE_PEN],
	    e->critical		       ? CRITICAL_WIDTH
	    : e->kind == SCENE_FORWARD ? "5"
				       : EDGE_WIDTH);
	set(edge, m->edge[EDGE_STYLE], e->kind >= SCENE_ANCESTOR ? "dashed" : "solid");
	if (m->labels) {
		snprintf(class, sizeof(class), "%s%s", picture__edge_class((enum scene_edge_kind)e->kind),
			 e->critical ? " critical" : "");
		set(edge, m->edge[EDGE_CLASS], class);
	}
	return true;
}

static int make(struct maker *m, const struct view *view, const struct scene *scene,
		enum render_layout layout, bool as_dot)
{
	*m = (struct maker){.view = view,
			    .scene = scene,
			    .own_layout = layout == RENDER_LAYOUT_OWN,
			    .labels = as_dot || layout != RENDER_LAYOUT_OWN,
			    .tooltips = as_dot};
	*complaint = '\0';
	agseterrf(listen);
	m->graph = agopen("grain_graph", Agdirected, NULL);
	m->nodes = calloc(scene->node_count + 1, sizeof(*m->nodes));
	if (!m->graph || !m->nodes || !declare_all(m))
		return -ENOMEM;
	for (size_t i = 0; i < scene->node_count; i++)
		if (!make_node(m, i))
			return -ENOMEM;
	for (size_t i = 0; i < scene->edge_count; i++)
		if (!make_edge(m, i))
			return -ENOMEM;
	return 0;
}

static void unmake(struct maker *m)
{
	if (m->graph)
		agclose(m->graph);
	free(m->nodes);
	format__free(&m->text);
	agseterrf(NULL);
}

int picture__write_dot(const struct view *view, const struct scene *scene, enum render_layout layout,
		       const char *title, FILE *out, struct grain_error *err)
{
	struct maker m;
	int r = make(&m, view, scene, layout, true);

	if (r == 0) {
		declare(m.graph, AGRAPH, "label", title);
		declare(m.graph, AGRAPH, "labelloc", "t");
		if (agwrite(m.graph, out) != 0 || ferror(out))
			r = -EIO;
	}
	unmake(&m);
	return r ? fail(err, r, r == -ENOMEM ? "out of memory" : "the file cannot be written") : 0;
}

/* Finds the box that Graphviz has made for its own layout. */
static void find_box(const char *svg, double *width, double *height)
{
	const char *at = strstr(svg, "viewBox=\"");

	if (!at || sscanf(at, "viewBox=\"%*f %*f %lf %lf", width, height) != 2)
		*width = *height = 100;
}

/*
 * Finds the marks of each element. Graphviz numbers its groups from 1, in the order in which nodes and edges
 * were made. Returns false if some are missing.
 */
static bool take_apart(struct picture *p, const struct scene *scene)
{
	const char *at = strstr(p->text, "<g id=\"graph0\""), *end;
	size_t nodes = 0, edges = 0;

	if (!at)
		return false;
	for (at = strstr(at + 1, "<g id=\""); at; at = strstr(end, "<g id=\"")) {
		const char *rest = strstr(at, "</title>");
		bool node = strncmp(at, "<g id=\"node", 11) == 0;
		unsigned long number = strtoul(at + 11, NULL, 10);
		struct picture_span *span;

		end = strstr(at, "</g>");
		if (!rest || !end || rest > end || !number ||
		    number > (node ? scene->node_count : scene->edge_count))
			return false;
		for (rest += strlen("</title>"); *rest == '\n'; rest++)
			;
		span = node ? &p->nodes[number - 1] : &p->edges[number - 1];
		*span = (struct picture_span){(size_t)(rest - p->text), (size_t)(end - rest)};
		while (span->length && p->text[span->at + span->length - 1] == '\n')
			span->length--;
		*(node ? &nodes : &edges) += 1;
	}
	return nodes == scene->node_count && edges == scene->edge_count;
}

int picture__draw_svg(const struct view *view, const struct scene *scene, enum render_layout layout,
		      struct picture *picture, struct grain_error *err)
{
	struct maker m;
	GVC_t *gvc = NULL;
	bool laid_out = false;
	char *data = NULL;
	unsigned length = 0;
	int r = make(&m, view, scene, layout, false);

	if (r < 0) {
		r = fail(err, r, "out of memory");
		goto out;
	}
	gvc = graphviz__context();
	if (!gvc || gvLayout(gvc, m.graph, layout == RENDER_LAYOUT_OWN ? "nop2" : "dot") != 0) {
		r = fail(err, -EIO, "Graphviz cannot place it (is its layout plugin installed?)");
		goto out;
	}
	laid_out = true;
	if (gvRenderData(gvc, m.graph, "svg", &data, &length) != 0 || !data) {
		r = fail(err, -EIO, "Graphviz cannot write SVG (is its core plugin installed?)");
		goto out;
	}
	*picture = (struct picture){.text = malloc((size_t)length + 1),
				    .nodes = calloc(scene->node_count + 1, sizeof(*picture->nodes)),
				    .edges = calloc(scene->edge_count + 1, sizeof(*picture->edges)),
				    .left = scene->left,
				    .top = scene->top,
				    .width = scene->right - scene->left,
				    .height = scene->bottom - scene->top};
	if (!picture->text || !picture->nodes || !picture->edges) {
		r = fail(err, -ENOMEM, "out of memory");
		goto out;
	}
	memcpy(picture->text, data, length);
	picture->text[length] = '\0';
	if (!take_apart(picture, scene)) {
		r = fail(err, -EIO, "Graphviz' SVG is not as expected");
		goto out;
	}
	if (layout != RENDER_LAYOUT_OWN) {
		find_box(picture->text, &picture->width, &picture->height);
		picture->left = 0;
		picture->top = -picture->height;
	}
out:
	if (data)
		gvFreeRenderData(data);
	if (laid_out)
		gvFreeLayout(gvc, m.graph);
	unmake(&m);
	return r;
}

void picture__free(struct picture *picture)
{
	free(picture->text);
	free(picture->nodes);
	free(picture->edges);
	memset(picture, 0, sizeof(*picture));
}
