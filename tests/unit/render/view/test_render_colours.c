/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours for colour-blind readers: protanopia and deuteranopia are simulated
 * (Machado, Oliveira, Fernandes 2009, severity 1) and the distances that must
 * be seen are measured in CIELAB. Words on colours keep a contrast (WCAG).
 */
#include <math.h>
#include <stdlib.h>

#include "render/view/view.h"
#include "tests/unit/check.h"

#define SEEN 10.0      /* CIE76; what side by side is plainly two colours */
#define SEEN_APART 8.0 /* of the rarer ones */
#define CONTRAST 4.5

static const struct {
	const char *name;
	double m[3][3];
} eyes[] = {
	{"usual eyes", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	{"protanopia",
	 {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}}},
	{"deuteranopia",
	 {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}}},
};

static double linear(const char *hex)
{
	char digits[3] = {hex[0], hex[1], '\0'};
	double c = (double)strtol(digits, NULL, 16) / 255;

	return c <= .04045 ? c / 12.92 : pow((c + .055) / 1.055, 2.4);
}

static double lab_curve(double t)
{
	return t > .008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void see(const char *colour, int eye, double lab[3])
{
	double in[3] = {linear(colour + 1), linear(colour + 3), linear(colour + 5)}, rgb[3], x, y, z;

	for (int i = 0; i < 3; i++) {
		rgb[i] = 0;
		for (int k = 0; k < 3; k++)
			rgb[i] += eyes[eye].m[i][k] * in[k];
		rgb[i] = fmax(0, fmin(1, rgb[i]));
	}
	x = lab_curve((.4124 * rgb[0] + .3576 * rgb[1] + .1805 * rgb[2]) / .9505);
	y = lab_curve(.2126 * rgb[0] + .7152 * rgb[1] + .0722 * rgb[2]);
	z = lab_curve((.0193 * rgb[0] + .1192 * rgb[1] + .9505 * rgb[2]) / 1.089);
	lab[0] = 116 * y - 16;
	lab[1] = 500 * (x - y);
	lab[2] = 200 * (y - z);
}

static double distance(const char *a, const char *b, int eye)
{
	double p[3], q[3];

	see(a, eye, p);
	see(b, eye, q);
	return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
		    (p[2] - q[2]) * (p[2] - q[2]));
}

static const char *colour(int index, int dark)
{
	const struct view_colour *c = view_colour__get((size_t)index);

	return dark ? c->dark : c->light;
}

/* The smallest distance between neighbours, or between any two. */
static double smallest(int first, int count, int neighbours, int dark, int eye, char where[64])
{
	double least = INFINITY;

	for (int a = first; a < first + count; a++) {
		for (int b = a + 1; b < first + count && (!neighbours || b == a + 1); b++) {
			double d = distance(colour(a, dark), colour(b, dark), eye);

			if (d >= least)
				continue;
			least = d;
			snprintf(where, 64, "%s and %s", view_colour__get((size_t)a)->name,
				 view_colour__get((size_t)b)->name);
		}
	}
	return least;
}

static double contrast(const char *a, const char *b)
{
	double p = view_colour__luminance(a) + .05, q = view_colour__luminance(b) + .05;

	return p > q ? p / q : q / p;
}

int main(void)
{
	char where[64] = "";

	for (int eye = 0; eye < 3; eye++) {
		for (int dark = 0; dark < 2; dark++) {
			const char *theme = dark ? "dark" : "light";
			double d = smallest(VIEW_H0, VIEW_HEAT_STEPS, 1, dark, eye, where);

			CHECK(d >= SEEN, "%s, %s: steps of heat differ (%.1f: %s)", eyes[eye].name, theme, d,
			      where);
			d = smallest(VIEW_Q0, VIEW_TIME_STEPS, 1, dark, eye, where);
			CHECK(d >= SEEN, "%s, %s: steps of time differ (%.1f: %s)", eyes[eye].name, theme, d,
			      where);
			d = smallest(VIEW_D0, 5, 0, dark, eye, where);
			CHECK(d >= SEEN, "%s, %s: the first definitions differ (%.1f: %s)", eyes[eye].name,
			      theme, d, where);
			d = smallest(VIEW_D0, VIEW_RANKS, 0, dark, eye, where);
			CHECK(d >= SEEN_APART, "%s, %s: all definitions differ (%.1f: %s)", eyes[eye].name,
			      theme, d, where);
			for (int h = VIEW_H0; h < VIEW_H0 + VIEW_HEAT_STEPS; h++) {
				d = distance(colour(h, dark), colour(VIEW_DIM, dark), eye);
				CHECK(d >= SEEN, "%s, %s: %s differs from what has no problem (%.1f)",
				      eyes[eye].name, theme, view_colour__get((size_t)h)->name, d);
			}
		}
	}
	for (int i = 0; i < VIEW_COLOURS; i++) {
		/* Nothing is written on the others. */
		if (i >= VIEW_Q0 && i != VIEW_GROUP)
			continue;
		for (int dark = 0; dark < 2; dark++) {
			double best = fmax(contrast(colour(i, dark), "#FFFFFF"),
					   contrast(colour(i, dark), "#1D2330"));

			CHECK(best >= CONTRAST, "words on %s (%s) can be read (%.1f)",
			      view_colour__get((size_t)i)->name, dark ? "dark" : "light", best);
		}
	}
	CHECK_DONE();
}
