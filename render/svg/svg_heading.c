/* SPDX-License-Identifier: BSD-2-Clause */
/* The part above the graph: title, facts, truth line, links to the views, legend. */
#include <math.h>
#include <string.h>

#include "render/svg/svg_writer.h"

/* Writes a line of text on baseline y. */
static void line(struct svg_writer *w, double y, const char *class, double size, const char *text)
{
	format__printf(&w->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">", class,
		       SVG_MARGIN * w->scale, y, size * w->scale);
	format__add_xml(&w->out, text);
	format__add(&w->out, "</text>\n");
}

/* The number of letters that fit a line. */
static size_t room_for(const struct svg_writer *w, const char *class, double size)
{
	double letter = strstr(class, "headline") || strstr(class, "strong") ? SVG_STRONG_LETTER : SVG_LETTER;

	return (size_t)((w->width - 2 * SVG_MARGIN * w->scale) / (size * w->scale * letter));
}

/*
 * Writes a text on several lines. Breaks it between its parts, so that it fits the width. Returns the last
 * baseline.
 */
static double lines(struct svg_writer *w, double y, const char *class, double size, const char *text)
{
	static const char separator[] = " \xc2\xb7 ";
	size_t room = room_for(w, class, size);
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

static void add_box(struct svg_writer *w, const char *class, double x, double y, const char *more)
{
	double s = w->scale;

	format__printf(
		&w->out,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\"%s/>",
		class, x, y - 10 * s, 12 * s, 12 * s, 2.5 * s, more);
}

static void add_dashes(struct svg_writer *w, const char *class, const char *colour, double x, double y,
		       double width)
{
	double s = w->scale;

	format__printf(&w->out,
		       "<path class=\"%s\" d=\"M%.1f,%.1fh%.1f\" fill=\"none\" stroke=\"%s\" "
		       "style=\"stroke-width:%.1f;stroke-dasharray:%.1f %.1f\"/>",
		       class, x, y - 4 * s, 14 * s, colour, width * s, 3.5 * s, 2.5 * s);
}

static void add_mark(struct svg_writer *w, const struct view_legend_entry *e, double x, double y)
{
	const char *colour = view_colour__get(e->colour)->name;
	double s = w->scale, middle = y - 4 * s;
	char class[24];

	snprintf(class, sizeof(class), "f_%s", colour);
	switch (e->mark) {
	case VIEW_MARK_BOX:
		add_box(w, class, x, y, "");
		break;
	case VIEW_MARK_GROUP:
		add_box(w, class, x, y, " stroke=\"#A9B2C0\"");
		break;
	case VIEW_MARK_OPEN:
		add_box(w, "open", x, y, "");
		break;
	case VIEW_MARK_OPEN_SIBLINGS:
		add_box(w, "open siblings", x, y, "");
		break;
	case VIEW_MARK_WIDE:
		format__printf(&w->out,
			       "<rect fill=\"none\" stroke=\"#8A94A6\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			       "height=\"%.1f\" rx=\"%.1f\"/>",
			       x, y - 8 * s, 15 * s, 8 * s, 2.5 * s);
		break;
	case VIEW_MARK_CIRCLE:
		format__printf(&w->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", class,
			       x + 6 * s, middle, 5 * s);
		break;
	case VIEW_MARK_RING:
		format__printf(&w->out,
			       "<circle class=\"ground\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" stroke=\"%s\" "
			       "stroke-width=\"%.1f\"/>",
			       x + 6 * s, middle, 4.4 * s,
			       e->colour == VIEW_DIM ? "#A9B2C0" : view_colour__get(e->colour)->light,
			       1.8 * s);
		break;
	case VIEW_MARK_CRITICAL:
		format__printf(
			&w->out,
			"<path class=\"critical-mark\" d=\"M%.1f,%.1fh%.1f\" style=\"stroke-width:%.1f\"/>",
			x, middle, 14 * s, 2.4 * s);
		break;
	case VIEW_MARK_ANCESTOR:
		add_dashes(w, "ancestor-mark", "#FF7F50", x, y, 1.6);
		break;
	case VIEW_MARK_DEPENDENCE:
		add_dashes(w, "dependence-mark", "#6B5BD2", x, y, 1.6);
		break;
	case VIEW_MARK_DISCARDED:
	case VIEW_MARK_INCOMPLETE:
		add_dashes(w, "muted-mark", "#8A94A6", x, y, 1.6);
		break;
	case VIEW_MARK_SKIP:
		add_dashes(w, "skip-mark", "#A9B2C0", x, y, 5);
		break;
	}
}

/*
 * Returns the time that the scale's bar stands for: 1, 2 or 5 times a power of ten. The bar is at least 12
 * points high.
 */
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

static double bar_height(const struct svg_writer *w)
{
	double px_per_ns = w->job->scene->px_per_ns;

	return px_per_ns > 0 ? bar_time(px_per_ns / w->scale) * px_per_ns : 0;
}

static double add_bar(struct svg_writer *w, double x, double y)
{
	const struct scene *scene = w->job->scene;
	double s = w->scale, ns, height;
	struct format_number number;

	if (!(scene->px_per_ns > 0))
		return x;
	ns = bar_time(scene->px_per_ns / s);
	height = bar_height(w);
	number = round_time(ns);
	/* The bar has the scale of the graph below. So it does not grow with the letters. */
	format__printf(&w->out,
		       "<path class=\"bar\" d=\"M%.1f,%.1fv%.1fm-3,0h6m-3,%.1fm-3,0h6\"/>"
		       "<text class=\"muted\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">%s</text>\n",
		       x + 4, y + 2 - height, height, -height, x + 5 + 7 * s, y, 12 * s, number.text);
	return x + 5 + (7 + (double)format__width(number.text) * 6.8 + 18) * s;
}

/* Writes the legend's entries in rows, starting at baseline y. Returns the last baseline. */
static double add_legend(struct svg_writer *w, const struct layer *layer, double y)
{
	double s = w->scale, x = add_bar(w, SVG_MARGIN * s, y);

	for (size_t i = 0; i < layer->legend_count; i++) {
		const struct view_legend_entry *e = &layer->legend[i];
		double width = (20 + 6.6 * (double)format__width(e->label) + 20) * s;

		if (x + width > w->width - SVG_MARGIN * s * .5 && x > SVG_MARGIN * s) {
			x = SVG_MARGIN * s;
			y += 20 * s;
		}
		add_mark(w, e, x, y);
		format__printf(&w->out, "<text class=\"muted\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">",
			       x + 19 * s, y, 12 * s);
		format__add_xml(&w->out, e->label);
		format__add(&w->out, "</text>\n");
		x += width;
	}
	return y;
}

/* Writes a link for each view. The shown view is bold. */
static double add_links(struct svg_writer *w, size_t shown, double y)
{
	double s = w->scale, x = SVG_MARGIN * s;

	format__add(&w->out, "<g class=\"links\">\n");
	for (size_t i = 0; i < w->job->layer_count; i++) {
		const char *name = render_view__name(w->job->layers[i].view.view);
		double width = (7.2 * (double)strlen(name) + 18) * s;
		char words[64];

		if (x + width > w->width - SVG_MARGIN * s * .5 && x > SVG_MARGIN * s) {
			x = SVG_MARGIN * s;
			y += 20 * s;
		}
		snprintf(words, sizeof(words), "%s", name);
		for (char *c = words; *c; c++)
			if (*c == '_')
				*c = ' ';
		format__printf(&w->out,
			       "<a href=\"#view-%s\"><text class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
			       "font-size=\"%.1f\">%s</text></a>\n",
			       name, i == shown ? "strong" : "muted", x, y, 13 * s, words);
		x += width;
	}
	format__add(&w->out, "</g>\n");
	return y;
}

/* Writes a bar of 100 % with its words below. Returns the last baseline. */
static double add_shares(struct svg_writer *w, const struct svg_heading *heading, double y)
{
	double s = w->scale, x = SVG_MARGIN * s, width = w->width - 2 * SVG_MARGIN * s;

	format__add(&w->out, "<g class=\"account\">");
	for (size_t i = 0; i < heading->share_count; i++) {
		double part = heading->shares[i].share * width;

		format__printf(&w->out,
			       "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>", x,
			       y + 13 * s, part, 6 * s, heading->shares[i].colour);
		x += part;
	}
	format__add(&w->out, "</g>\n");
	return lines(w, y + 37 * s, "muted strong", 13, heading->losses.data);
}

double svg_heading__add(struct svg_writer *w, size_t index)
{
	const struct svg_heading *heading = w->job->heading;
	const struct layer *layer = &w->job->layers[index];
	struct format_text title = {0};
	double s = w->scale, y = 36 * s;

	format__printf(&w->out, "<g id=\"view-%s\" class=\"view%s\">\n", render_view__name(layer->view.view),
		       index ? "" : " default");
	format__printf(&title, "%s: %s", heading->program.data, layer->headline.data);
	/* If the program's name leaves no room for the next words, these begin a new line. */
	if (title.data && strcspn(title.data, "\xc2") > room_for(w, "headline", 20)) {
		y = lines(w, y, "headline", 20, heading->program.data) + 28 * s;
		y = lines(w, y, "headline", 20, layer->headline.data);
	} else {
		y = lines(w, y, "headline", 20, title.data ? title.data : "");
	}
	if (heading->losses.length)
		y = add_shares(w, heading, y);
	y = lines(w, y + 22 * s, "muted", 13, heading->facts.data);
	if (heading->note.length)
		y = lines(w, y + 19 * s, "muted strong", 13, heading->note.data);
	if (heading->part.length)
		y = lines(w, y + 19 * s, "part strong", 13, heading->part.data);
	y = lines(w, y + 19 * s, "muted", 13, heading->truth.data);
	if (w->job->layer_count > 1)
		y = add_links(w, index, y + 26 * s);
	y = add_legend(w, layer, y + fmax(30 * s, bar_height(w) + 12 * s)) + 16 * s;
	format__add(&w->out, "</g>\n");
	w->out.failed |= title.failed;
	format__free(&title);
	return y;
}
