/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/svg/svg.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "render/svg/svg_writer.h"

#define MIN_WIDTH 660.0
#define FULL_SIZE_WIDTH 1100.0
#define MAX_SCALE 6.0

static int fail(struct grain_error *err, int code, const char *what)
{
	if (err)
		snprintf(err->text, sizeof(err->text), "%s: %s", what,
			 code == -ENOMEM ? "out of memory" : strerror(-code));
	return code;
}

static void add_head(const struct svg_job *job, double width, double height, struct format_text *head)
{
	format__printf(
		head,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
		"width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n<title>",
		width, height, width, height);
	format__add_xml(head, job->heading->program.data);
	format__add(head, ": ");
	format__add_xml(head, job->layers[0].headline.data);
	format__add(head, "</title>\n");
	svg_style__add(job, head);
	format__printf(head, "<rect class=\"ground\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
}

/*
 * Adds the headings. The heading of the first layer comes last, so that CSS can hide it while another layer
 * is shown.
 */
static double add_headings(struct svg_writer *w)
{
	double bottom = 0;

	for (size_t i = w->job->layer_count; i-- > 0;)
		bottom = fmax(bottom, svg_heading__add(w, i));
	format__printf(&w->out, "<path class=\"rule\" d=\"M%.1f,%.1fH%.1f\"/>\n", SVG_MARGIN * w->scale,
		       bottom, w->width - SVG_MARGIN * w->scale);
	return bottom;
}

int svg__write(const struct svg_job *job, FILE *out, struct grain_error *err)
{
	const struct picture *picture = job->picture;
	struct svg_writer w = {.job = job};
	struct format_text head = {0};
	double top, height;
	int r;

	w.width = fmax(MIN_WIDTH, picture->width + 2 * SVG_MARGIN);
	w.scale = fmin(MAX_SCALE, fmax(1, w.width / FULL_SIZE_WIDTH));
	top = add_headings(&w) + SVG_MARGIN;
	height = top + picture->height + SVG_MARGIN;
	format__printf(&w.out, "<g class=\"graph\" transform=\"translate(%.2f %.2f)\">\n",
		       (w.width - picture->width) / 2 - picture->left, top - picture->top);
	r = svg_nodes__add(&w);
	format__add(&w.out, "</g>\n</svg>\n");
	add_head(job, w.width, height, &head);
	if (r < 0 || w.out.failed || head.failed) {
		r = fail(err, -ENOMEM, "cannot draw the graph");
	} else if (fwrite(head.data, 1, head.length, out) != head.length ||
		   fwrite(w.out.data, 1, w.out.length, out) != w.out.length || fflush(out) != 0) {
		r = fail(err, errno ? -errno : -EIO, "cannot write the picture");
	}
	format__free(&head);
	format__free(&w.out);
	return r;
}
