/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/tooltip.h"

#define MARGIN 28.0
#define MIN_WIDTH 660.0
#define FULL_SIZE_WIDTH 1100.0 /* wider pictures get larger letters */
#define MAX_SCALE 6.0
#define LETTER .54 /* mean width of a letter, in its size */

struct writer {
	const struct view *view;
	const struct scene *scene;
	const struct picture *picture;
	struct format_text body, critical, nodes; /* edges, critical edges over them, nodes over both */
	struct format_text out;
	double scale, width;
};

/* ---- style ------------------------------------------------------------ */

static const char light_style[] =
	"text{font-family:Inter,system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#1D2330;"
	"font-variant-numeric:tabular-nums}\n"
	".ground{fill:#FFFFFF}.rule{stroke:#DDE1E8}.muted{fill:#5B6472}.headline{font-weight:700}\n"
	".count{font-size:8px;fill:#5B6472}.label{font-size:8px;text-anchor:middle}.strong{font-weight:700}\n"
	".on-dark{fill:#FFFFFF}.on-light{fill:#1D2330}\n"
	".break{stroke:#FFFFFF;stroke-width:1.5;fill:none}.bar{stroke:#5B6472;stroke-width:1.5;fill:none}\n"
	".graph path,.graph polygon,.graph ellipse,.graph polyline{stroke-width:.8}\n"
	".edge path{fill:none;stroke:#A9B2C0;stroke-width:1.1}\n"
	".creation path{stroke:#2E8B57}.synchronization path,.ancestor path{stroke:#FF7F50}\n"
	".ancestor path{stroke-dasharray:4 3}.dependence path{stroke:#8A4FBF;stroke-dasharray:2.5 1.8}\n"
	".dimmed path{stroke:#CDD3DC}\n"
	".flagged path{stroke:#1D2330;stroke-width:.6}.group path{stroke:#A9B2C0;stroke-width:1}\n"
	".idle path,.chunk path,.bookkeeping path{stroke:none}\n"
	".incomplete path,.incomplete ellipse,.discarded path{stroke:#1D2330;stroke-dasharray:3 2;"
	"stroke-width:1.3}\n"
	".undeferred ellipse{fill:#FFFFFF;stroke-width:1.8}\n"
	".graph .critical path,.graph .critical ellipse{stroke:#D11F3A;stroke-width:2}\n"
	".graph .edge.critical path,.critical-mark{stroke:#D11F3A;stroke-width:2.2}\n"
	".node:hover path,.node:hover ellipse{stroke:#1D2330;stroke-width:2.5}\n";

static const char dark_style[] =
	"text{fill:#E7EAF0}.ground{fill:#0F131A}.rule{stroke:#262D39}.muted,.count{fill:#9AA4B4}\n"
	".break{stroke:#0F131A}.bar{stroke:#9AA4B4}.edge path{stroke:#566173}.creation path{stroke:#3FB37A}\n"
	".synchronization path,.ancestor path{stroke:#FF8F66}.dependence path{stroke:#B98AE6}.dimmed "
	"path{stroke:#333C4A}\n"
	".flagged path{stroke:#E7EAF0}.group path{stroke:#566173}.undeferred ellipse{fill:#0F131A}\n"
	".incomplete path,.incomplete ellipse,.discarded path{stroke:#E7EAF0}\n"
	".graph .critical path,.graph .critical ellipse,.graph .edge.critical "
	"path,.critical-mark{stroke:#FF5C70}\n"
	".node:hover path,.node:hover ellipse{stroke:#FFFFFF}\n";

static void add_style(struct format_text *out)
{
	format__add(out, "<style>\n");
	format__add(out, light_style);
	for (int dark = 0; dark < 2; dark++) {
		if (dark)
			format__printf(out, "@media (prefers-color-scheme:dark){\n%s", dark_style);
		for (size_t i = 0; i < view_colour__count(); i++) {
			const struct view_colour *c = view_colour__get(i);
			const char *fill = dark ? c->dark : c->light;

			format__printf(
				out,
				".c_%s path,.c_%s ellipse,.c_%s polygon,.f_%s{fill:%s}"
				".fragment.c_%s path,.box.c_%s path,.fork.c_%s ellipse,.join.c_%s ellipse"
				"{stroke:%s}\n",
				c->name, c->name, c->name, c->name, fill, c->name, c->name, c->name, c->name,
				fill);
		}
		/* After the fills, which they override. */
		format__printf(out,
			       ".undeferred.fork ellipse{fill:%s}.graph .flagged path{stroke:%s}"
			       ".graph .incomplete path,.graph .incomplete ellipse{stroke:%s}"
			       ".graph .discarded path{fill:none;stroke-dasharray:1.5 1.5}"
			       ".graph .node.critical path,.graph .node.critical ellipse{stroke:%s}\n",
			       dark ? "#0F131A" : "#FFFFFF", dark ? "#E7EAF0" : "#1D2330",
			       dark ? "#E7EAF0" : "#1D2330", dark ? "#FF5C70" : "#D11F3A");
		if (dark)
			format__add(out, "}\n");
	}
	format__add(out, "</style>\n");
}

/* ---- the drawing ------------------------------------------------------ */

/* Sorts Graphviz' groups, one an element, into layers; nodes get their tool-tip as title. */
static bool take_apart(struct writer *w)
{
	const char *at = strstr(w->picture->svg, "<g id=\"graph0\"");
	const char *end;

	if (!at)
		return false;
	for (at = strstr(at + 1, "<g id=\""); at; at = strstr(end, "<g id=\"")) {
		const char *tag = strchr(at, '>'), *title = strstr(at, "<title>"),
			   *rest = strstr(at, "</title>");
		bool node = strncmp(at, "<g id=\"node", 11) == 0;
		struct format_text *to = &w->body;
		char *after;
		unsigned long index;

		end = strstr(at, "</g>");
		if (!tag || !title || !rest || !end || title > end || rest > end)
			return false;
		end += strlen("</g>");
		if (node)
			to = &w->nodes;
		else if (memmem(at, (size_t)(tag - at), " critical", 9))
			to = &w->critical;
		format__add_bytes(to, at, (size_t)(tag + 1 - at));
		rest += strlen("</title>");
		if (node) {
			struct format_text tip = {0};

			index = strtoul(title + strlen("<title>n"), &after, 10);
			if (index >= w->scene->node_count)
				return false;
			tooltip__node(w->view->graph, &w->scene->nodes[index], &tip);
			format__add(to, "<title>");
			if (tip.data)
				format__add_xml(to, tip.data);
			format__add(to, "</title>");
			to->failed |= tip.failed;
			format__free(&tip);
		}
		format__add_bytes(to, rest, (size_t)(end - rest));
		format__add(to, "\n");
	}
	return true;
}

/* Words and marks on nodes, in the scene's coordinates. */
static void add_marks(struct writer *w)
{
	for (size_t i = 0; i < w->scene->node_count; i++) {
		const struct scene_node *n = &w->scene->nodes[i];
		double y = n->y + n->h * .62, half = n->w / 2 + 1.5;
		char first[32], second[32];

		if (n->capped)
			for (int k = 0; k < 2; k++)
				format__printf(&w->out, "<path class=\"break\" d=\"M%.1f,%.1fl%.1f,-3\"/>\n",
					       n->x - half, y + 1.5 + 4 * k, 2 * half);
		if (n->shape == SCENE_FORK && w->scene->reduced && n->grains > 1)
			format__printf(&w->out, "<text class=\"count\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
				       n->x + n->w / 2 + 4, n->y + 3, format__count_short(n->grains).text);
		if (n->shape == SCENE_IDLE)
			format__printf(&w->out,
				       "<text class=\"count\" x=\"%.1f\" y=\"%.1f\">%s idle</text>\n",
				       n->x + n->w / 2 + 4, n->y + n->h - 1,
				       format__count_short(n->grains).text);
		if (n->shape == SCENE_GROUP) {
			const char *ink = n->severity <= 0 || !view__dims(w->view) ? ""
					  : n->severity >= .75			   ? " on-dark"
										   : " on-light";

			tooltip__group_label(n, first, second);
			format__printf(&w->out,
				       "<text class=\"label strong%s\" x=\"%.1f\" y=\"%.1f\">%s</text>"
				       "<text class=\"label%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
				       ink, n->x, n->y + n->h / 2 - 2, first, ink, n->x,
				       n->y + n->h / 2 + 8.5, second);
		}
	}
}

/* ---- title and legend ------------------------------------------------- */

/* One line of text from baseline y. */
static void line(struct writer *w, double y, const char *class, double size, const char *text)
{
	format__printf(&w->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">", class,
		       MARGIN * w->scale, y, size * w->scale);
	format__add_xml(&w->out, text);
	format__add(&w->out, "</text>\n");
}

/* Breaks the text where its parts are separated so that it fits the width; returns the last baseline. */
static double lines(struct writer *w, double y, const char *class, double size, const char *text)
{
	static const char separator[] = " \xc2\xb7 ";
	size_t room = (size_t)((w->width - 2 * MARGIN * w->scale) / (size * w->scale * LETTER));
	struct format_text current = {0};
	char part[256], clean[256];

	for (size_t used = 0; *text;) {
		const char *end = strstr(text, separator);
		size_t length = end ? (size_t)(end - text) : strlen(text);

		snprintf(part, sizeof(part), "%.*s", (int)(length < sizeof(part) ? length : sizeof(part)),
			 text);
		format__clean(clean, sizeof(clean), part, room);
		text += length + (end ? strlen(separator) : 0);
		if (used && used + 3 + format__width(clean) > room) {
			line(w, y, class, size, current.data);
			y += 1.4 * size * w->scale;
			current.length = used = 0;
		}
		if (used)
			format__add(&current, separator);
		format__add(&current, clean);
		used += (used ? 3 : 0) + format__width(clean);
	}
	if (current.data)
		line(w, y, class, size, current.data);
	w->out.failed |= current.failed;
	format__free(&current);
	return y;
}

static void add_mark(struct writer *w, const struct view_legend_entry *e, double x, double y)
{
	double s = w->scale, middle = y - 4 * s;

	switch (e->mark) {
	case VIEW_MARK_BOX:
	case VIEW_MARK_GROUP:
		format__printf(&w->out,
			       "<rect class=\"f_%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
			       "rx=\"%.1f\"%s/>",
			       e->colour, x, y - 10 * s, 12 * s, 12 * s, 2.5 * s,
			       e->mark == VIEW_MARK_GROUP ? " stroke=\"#A9B2C0\"" : "");
		break;
	case VIEW_MARK_WIDE:
		format__printf(&w->out,
			       "<rect fill=\"none\" stroke=\"#8A94A6\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			       "height=\"%.1f\" rx=\"%.1f\"/>",
			       x, y - 8 * s, 15 * s, 8 * s, 2.5 * s);
		break;
	case VIEW_MARK_CIRCLE:
		format__printf(&w->out, "<circle class=\"f_%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>",
			       e->colour, x + 6 * s, middle, 5 * s);
		break;
	case VIEW_MARK_RING:
		format__printf(&w->out,
			       "<circle class=\"ground\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" stroke=\"%s\" "
			       "stroke-width=\"%.1f\"/>",
			       x + 6 * s, middle, 4.4 * s, view_colour__light(e->colour), 1.8 * s);
		break;
	case VIEW_MARK_LINE:
		format__printf(
			&w->out,
			"<path class=\"critical-mark\" d=\"M%.1f,%.1fh%.1f\" style=\"stroke-width:%.1f\"/>",
			x, middle, 14 * s, 2.4 * s);
		break;
	case VIEW_MARK_DASHED:
		format__printf(&w->out,
			       "<path d=\"M%.1f,%.1fh%.1f\" stroke=\"%s\" stroke-width=\"%.1f\" "
			       "stroke-dasharray=\"%.1f %.1f\"/>",
			       x, middle, 14 * s,
			       strcmp(e->colour, "join") == 0	  ? view_colour__light("join")
			       : strcmp(e->colour, "depend") == 0 ? "#8A4FBF"
								  : "#8A94A6",
			       1.6 * s, 3.5 * s, 2.5 * s);
		break;
	}
}

/* A length of time that is drawn at least 12 points high: 1, 2 or 5 times a power of ten. */
static double bar_time(double px_per_ns)
{
	double ns = 1;

	for (double power = 1; power < 1e15; power *= 10) {
		for (int i = 0; i < 3; i++) {
			ns = power * (i == 0 ? 1 : i == 1 ? 2 : 5);
			if (ns * px_per_ns >= 12)
				return ns;
		}
	}
	return ns;
}

static struct format_number round_time(double ns)
{
	struct format_number n;
	int unit = ns < 1e3 ? 0 : ns < 1e6 ? 1 : ns < 1e9 ? 2 : 3;
	static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};

	snprintf(n.text, sizeof(n.text), "%g %s", ns / pow(1000, unit), units[unit]);
	return n;
}

/* Flows the entries into rows from baseline y; returns the last baseline. */
static double add_legend(struct writer *w, double y)
{
	struct view_legend_entry entries[VIEW_LEGEND_MAX];
	size_t count = view__legend(w->view, w->scene, entries);
	double s = w->scale, x = MARGIN * s, ns = bar_time(w->scene->px_per_ns / s),
	       height = ns * w->scene->px_per_ns;
	struct format_number number = round_time(ns);

	/* The bar is as long as the time is drawn in the graph below, so it does not grow with the letters.
	 */
	format__printf(&w->out,
		       "<path class=\"bar\" d=\"M%.1f,%.1fv%.1fm-3,0h6m-3,%.1fm-3,0h6\"/>"
		       "<text class=\"muted\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">%s</text>\n",
		       x + 4, y + 2 - height, height, -height, x + 5 + 7 * s, y, 12 * s, number.text);
	x += 5 + (7 + (double)format__width(number.text) * 6.8 + 18) * s;
	for (size_t i = 0; i < count; i++) {
		double width = (20 + 6.6 * (double)format__width(entries[i].label) + 20) * s;

		if (x + width > w->width - MARGIN * s * .5 && x > MARGIN * s) {
			x = MARGIN * s;
			y += 20 * s;
		}
		add_mark(w, &entries[i], x, y);
		format__printf(&w->out, "<text class=\"muted\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">",
			       x + 19 * s, y, 12 * s);
		format__add_xml(&w->out, entries[i].label);
		format__add(&w->out, "</text>\n");
		x += width;
	}
	return y;
}

static double add_heading(struct writer *w, const struct svg_heading *heading)
{
	double s = w->scale, y = 36 * s;

	y = lines(w, y, "headline", 20, heading->headline.data);
	y = lines(w, y + 22 * s, "muted", 13, heading->facts.data);
	if (heading->note.length)
		y = lines(w, y + 19 * s, "muted strong", 13, heading->note.data);
	y = lines(w, y + 19 * s, "muted", 13, heading->truth.data);
	y = add_legend(w, y + 30 * s) + 16 * s;
	format__printf(&w->out, "<path class=\"rule\" d=\"M%.1f,%.1fH%.1f\"/>\n", MARGIN * s, y,
		       w->width - MARGIN * s);
	return y;
}

int svg__write(const struct view *view, const struct scene *scene, const struct picture *picture,
	       const struct svg_heading *heading, bool own_layout, FILE *out, struct grain_error *err)
{
	struct writer w = {.view = view, .scene = scene, .picture = picture};
	struct format_text head = {0};
	double top, height, x;
	int r = 0;

	w.width = fmax(MIN_WIDTH, picture->width + 2 * MARGIN);
	w.scale = fmin(MAX_SCALE, fmax(1, w.width / FULL_SIZE_WIDTH));
	if (!take_apart(&w)) {
		if (err)
			snprintf(err->text, sizeof(err->text),
				 "cannot draw the graph: Graphviz' SVG is not as expected");
		r = -EIO;
		goto out;
	}
	top = add_heading(&w, heading) + MARGIN;
	height = top + picture->height + MARGIN;
	x = (w.width - picture->width) / 2 - picture->left;
	format__printf(&w.out, "<g class=\"graph\" transform=\"translate(%.2f %.2f)\">\n", x,
		       top - picture->top);
	format__add_bytes(&w.out, w.body.data ? w.body.data : "", w.body.length);
	format__add_bytes(&w.out, w.critical.data ? w.critical.data : "", w.critical.length);
	format__add_bytes(&w.out, w.nodes.data ? w.nodes.data : "", w.nodes.length);
	if (own_layout)
		add_marks(&w);
	format__add(&w.out, "</g>\n</svg>\n");
	format__printf(
		&head,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
		"width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
		w.width, height, w.width, height);
	format__add_xml(&head, heading->headline.data);
	format__add(&head, "</title>\n");
	add_style(&head);
	format__printf(&head, "<rect class=\"ground\" width=\"%.0f\" height=\"%.0f\"/>\n", w.width, height);
	if (w.body.failed || w.critical.failed || w.nodes.failed || w.out.failed || head.failed) {
		if (err)
			snprintf(err->text, sizeof(err->text), "cannot draw the graph: out of memory");
		r = -ENOMEM;
		goto out;
	}
	if (fwrite(head.data, 1, head.length, out) != head.length ||
	    fwrite(w.out.data, 1, w.out.length, out) != w.out.length || fflush(out) != 0) {
		r = errno ? -errno : -EIO;
		if (err)
			snprintf(err->text, sizeof(err->text), "cannot write the picture: %s", strerror(-r));
	}
out:
	format__free(&head);
	format__free(&w.body);
	format__free(&w.critical);
	format__free(&w.nodes);
	format__free(&w.out);
	return r;
}
