/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The graph itself: frames at the bottom, then edges, critical edges, and nodes on top. A node is a link to
 * itself, so that a click gives an address that leads back to it. Its identifier is that of what it stands
 * for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/layout/layout.h"
#include "render/svg/svg_writer.h"
#include "render/svg/tooltip.h"

#define ID_MAX 200 /* longer identifiers, from very deep nesting, would take up most of the file */
#define SHADOW 4.0 /* offset of the shadow of closed siblings */
#define CLOSED_TEXT 10.5
#define CLOSED_STRONG 12.0
#define GROUP_TEXT 8.0	    /* sizes as in svg_style.c */
#define FAMILY "family of " /* left out if there is no room for it, like source lines */

struct nodes {
	struct svg_writer *w;
	const struct grain_graph *graph;
	const struct scene *scene;
	uint8_t *context_seen, *join_seen, *region_seen;
	struct format_text tip;
};

struct svg_class svg__class(size_t layer, uint8_t colour)
{
	struct svg_class class;

	if (layer)
		snprintf(class.text, sizeof(class.text), "v%u_%s", (unsigned)(layer & 0xff),
			 view_colour__get(colour)->name);
	else
		snprintf(class.text, sizeof(class.text), "c_%s", view_colour__get(colour)->name);
	return class;
}

size_t svg__own_layer(const struct svg_job *job, size_t node)
{
	if (!view__dims(&job->layers[0].view))
		return 0;
	for (size_t i = 0; i < job->layer_count; i++)
		if (job->layers[i].flagged[node])
			return i;
	return 0;
}

bool svg__has_own(const struct svg_job *job, size_t layer)
{
	for (size_t i = 0; i < job->scene->node_count; i++)
		if (svg__own_layer(job, i) == layer)
			return true;
	return false;
}

/* ---- identifiers ------------------------------------------------------ */

static bool first_time(uint8_t *seen, uint32_t index)
{
	bool first = !(seen[index / 8] & 1u << index % 8);

	seen[index / 8] |= (uint8_t)(1u << index % 8);
	return first;
}

/*
 * Finds the id attribute. The first node of a context, join or region has the identifier of that element. A
 * group has its number. Other nodes have numbers.
 */
static void find_id(struct nodes *s, size_t index, char id[ID_MAX])
{
	const struct scene_node *n = &s->scene->nodes[index];
	size_t length = 0;

	switch (n->shape) {
	case SCENE_FRAGMENT:
	case SCENE_BOX:
	case SCENE_CHUNK:
		if (n->context != GRAIN_NONE && first_time(s->context_seen, n->context))
			length = grain_graph__context_id(s->graph, n->context, id, ID_MAX);
		break;
	case SCENE_JOIN:
		if (n->ref != GRAIN_NONE && first_time(s->join_seen, n->ref))
			length = grain_graph__join_id(s->graph, n->ref, id, ID_MAX);
		break;
	case SCENE_FORK:
		if (n->region != GRAIN_NONE && first_time(s->region_seen, n->region))
			length = grain_graph__region_id(s->graph, n->region, id, ID_MAX);
		break;
	case SCENE_CLOSED:
	case SCENE_OPEN:
		length = (size_t)snprintf(id, ID_MAX, "g%u", n->group);
		break;
	default:
		break;
	}
	if (!length || length >= ID_MAX)
		snprintf(id, ID_MAX, "n%zu", index);
}

/* ---- what is written on nodes ----------------------------------------- */

/* Returns the width that a text must be narrowed to: `room` if the text is probably wider, else 0. */
static double narrowed(const char *text, double room, double letter)
{
	return room > 0 && (double)format__width(text) * letter > room ? room : 0;
}

/* Adds a text, narrowed to `length`. 0: the text keeps its width. */
static void add_fitted(struct format_text *out, const char *class, double x, double y, const char *text,
		       double length)
{
	format__add(out, "<text class=\"");
	format__add(out, class);
	format__add(out, "\" x=\"");
	format__add_fixed(out, x);
	format__add(out, "\" y=\"");
	format__add_fixed(out, y);
	if (length > 0) {
		format__add(out, "\" lengthAdjust=\"spacingAndGlyphs\" textLength=\"");
		format__add_fixed(out, length);
	}
	format__add(out, "\">");
	format__add_xml(out, text);
	format__add(out, "</text>");
}

static void add_text(struct format_text *out, const char *class, double x, double y, const char *text)
{
	add_fitted(out, class, x, y, text, 0);
}

/* Adds the two lines of a group's label. */
static void add_group_label(struct format_text *out, const struct scene_node *n)
{
	bool closed = n->shape == SCENE_CLOSED;
	double middle = n->y + n->h / 2, room = n->w - 6;
	char first[TOOLTIP_LABEL], second[TOOLTIP_LABEL];

	tooltip__group_label(n, first, second);
	add_fitted(out, "label strong", n->x, middle - (closed ? 3 : 2), first,
		   narrowed(first, room, (closed ? CLOSED_STRONG : GROUP_TEXT) * SVG_STRONG_LETTER));
	add_fitted(out, "label", n->x, middle + (closed ? 11 : 8.5), second,
		   narrowed(second, room, (closed ? CLOSED_TEXT : GROUP_TEXT) * SVG_LETTER));
}

static void add_frame_label(struct nodes *s, const struct scene_node *n)
{
	double letters = layout__heading_letters(n->w), high = layout__heading_height(n->w);
	size_t room = (size_t)((n->w - 20) / (letters * SVG_LETTER));
	const char *text, *source;
	char label[256];

	s->tip.length = 0;
	tooltip__frame_label(s->graph, s->scene, n, &s->tip);
	text = s->tip.data ? s->tip.data : "";
	source = strstr(text, " \xc2\xb7 ");
	if (strlen(text) > room && source)
		s->tip.data[source - text] = '\0';
	if (strlen(text) > room && strncmp(text, FAMILY, strlen(FAMILY)) == 0)
		text += strlen(FAMILY);
	format__printf(&s->w->out, "<text class=\"frame\" style=\"font-size:%.1fpx\" x=\"%.2f\" y=\"%.2f\">",
		       letters, n->x - n->w / 2 + 10, n->y + high / 2 + .38 * letters);
	format__add_xml(&s->w->out, format__clean(label, sizeof(label), text, room));
	format__add(&s->w->out, "</text>");
}

/* Adds the break that marks a capped height. It has the colour of the ground. */
static void add_break(struct format_text *out, const struct scene_node *n)
{
	double y = n->y + n->h * .62, half = n->w / 2 + 1.5;

	for (int k = 0; k < 2; k++)
		format__printf(out, "<path class=\"break\" d=\"M%.1f,%.1fl%.1f,-3\"/>", n->x - half,
			       y + 1.5 + 4 * k, 2 * half);
}

static void add_words(struct nodes *s, const struct scene_node *n)
{
	struct format_text *out = &s->w->out;
	char first[TOOLTIP_LABEL], second[TOOLTIP_LABEL], idle[48];

	if (n->capped)
		add_break(out, n);
	switch (n->shape) {
	case SCENE_FORK:
		if (s->scene->reduced && n->grains > 1)
			add_text(out, "count", n->x + n->w / 2 + 4, n->y + 3,
				 format__count_short(n->grains).text);
		break;
	case SCENE_IDLE:
		snprintf(idle, sizeof(idle), "%s idle", format__count_short(n->grains).text);
		add_text(out, "count", n->x + n->w / 2 + 4, n->y + n->h - 1, idle);
		break;
	case SCENE_GROUP:
	case SCENE_CLOSED:
		add_group_label(out, n);
		break;
	case SCENE_SKIP:
		tooltip__group_label(n, first, second);
		add_text(out, "label", n->x, n->y + n->h / 2 + 4, first);
		break;
	case SCENE_OPEN:
		add_frame_label(s, n);
		break;
	default:
		break;
	}
}

/* ---- nodes and edges -------------------------------------------------- */

static void add_class(struct nodes *s, size_t index)
{
	const struct svg_job *job = s->w->job;
	struct format_text *out = &s->w->out;
	uint8_t colour = job->layers[0].colours[index];
	char class[160];

	picture__node_class(&s->scene->nodes[index], colour, job->layers[0].flagged[index], class,
			    sizeof(class));
	format__add(out, class);
	for (size_t i = 1; i < job->layer_count; i++) {
		const struct layer *layer = &job->layers[i];

		if (layer->colours[index] != colour) {
			format__add(out, " ");
			format__add(out, svg__class(i, layer->colours[index]).text);
		}
		if (layer->flagged[index])
			format__printf(out, " f%zu", i);
	}
	if (svg__own_layer(job, index))
		format__printf(out, " o%zu", svg__own_layer(job, index));
}

static void add_node(struct nodes *s, size_t index)
{
	const struct scene_node *n = &s->scene->nodes[index];
	const struct picture *picture = s->w->job->picture;
	struct format_text *out = &s->w->out;
	char id[ID_MAX];

	find_id(s, index, id);
	format__add(out, "<a id=\"");
	format__add_xml(out, id);
	format__add(out, "\" href=\"#");
	format__add_xml(out, id);
	format__add(out, "\" class=\"node ");
	add_class(s, index);
	format__add(out, "\"><title>");
	s->tip.length = 0;
	tooltip__node(s->graph, s->scene, n, &s->tip);
	if (s->tip.data && s->tip.length)
		format__add_xml(out, s->tip.data);
	format__add(out, "</title>");
	if (n->shape == SCENE_CLOSED && n->siblings)
		format__printf(out,
			       "<rect class=\"shadow\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
			       "rx=\"9\"/>",
			       n->x - n->w / 2 + SHADOW, n->y - SHADOW, n->w, n->h);
	format__add_bytes(out, picture->text + picture->nodes[index].at, picture->nodes[index].length);
	if (s->w->job->own_layout)
		add_words(s, n);
	format__add(out, "</a>\n");
}

static void add_edges(struct svg_writer *w, enum scene_edge_kind kind, bool critical)
{
	const struct scene *scene = w->job->scene;
	const struct picture *picture = w->job->picture;
	bool any = false;

	for (size_t i = 0; i < scene->edge_count; i++) {
		if (scene->edges[i].kind != kind || scene->edges[i].critical != critical)
			continue;
		if (!any)
			format__printf(&w->out, "<g class=\"edges %s%s\">\n", picture__edge_class(kind),
				       critical ? " critical" : "");
		any = true;
		format__add_bytes(&w->out, picture->text + picture->edges[i].at, picture->edges[i].length);
		format__add_bytes(&w->out, "\n", 1);
	}
	if (any)
		format__add(&w->out, "</g>\n");
}

int svg_nodes__add(struct svg_writer *w)
{
	const struct scene *scene = w->job->scene;
	const struct grain_graph *graph = w->job->graph;
	struct nodes s = {.w = w,
			  .graph = graph,
			  .scene = scene,
			  .context_seen = calloc(grain_graph__context_count(graph) / 8 + 1, 1),
			  .join_seen = calloc(grain_graph__join_count(graph) / 8 + 1, 1),
			  .region_seen = calloc(grain_graph__region_count(graph) / 8 + 1, 1)};
	bool ok = s.context_seen && s.join_seen && s.region_seen;

	for (size_t i = 0; ok && i < scene->node_count; i++)
		if (scene->nodes[i].shape == SCENE_OPEN)
			add_node(&s, i);
	for (int critical = 0; ok && critical < 2; critical++)
		for (int kind = 0; kind < SCENE_EDGE_KINDS; kind++)
			add_edges(w, (enum scene_edge_kind)kind, critical);
	for (size_t i = 0; ok && i < scene->node_count; i++)
		if (scene->nodes[i].shape != SCENE_OPEN)
			add_node(&s, i);
	ok = ok && !s.tip.failed;
	free(s.context_seen);
	free(s.join_seen);
	free(s.region_seen);
	format__free(&s.tip);
	return ok ? 0 : -ENOMEM;
}
