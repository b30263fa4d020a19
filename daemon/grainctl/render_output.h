/* SPDX-License-Identifier: BSD-2-Clause */
/* What summary, report, export and analyze share: a graph into a file or onto stdout. */
#ifndef GRAINCTL_RENDER_OUTPUT_H
#define GRAINCTL_RENDER_OUTPUT_H

#include "daemon/grainctl/input.h"
#include "render/render.h"

enum report_format { REPORT_NONE, REPORT_SVG, REPORT_DOT, REPORT_JSON, REPORT_LOG };

struct report_options {
	const char *argument; /* JOB or FILE */
	enum report_format format;
	const char *output; /* -o; NULL: see render_output__report */
	enum render_view view;
	bool json; /* the summary's */
	bool keep_going;
	const char *missing; /* asked for, but not in this version */
};

/* The text or JSON summary onto stdout. */
enum ctl_exit render_output__summary(struct ctl *ctl, const struct grain_graph *graph,
				     const struct input *input, bool json);

/*
 * One report. Without -o a picture goes to NAME.svg in the current directory,
 * which is printed, and text formats go to stdout. Nothing half-written is
 * left behind.
 */
enum ctl_exit render_output__report(struct ctl *ctl, const struct grain_graph *graph,
				    const struct input *input, const struct report_options *options);

/* Opens, loads, writes, closes: options->format REPORT_NONE is the summary. */
enum ctl_exit render_output__run(struct ctl *ctl, const struct report_options *options, bool only_files);

/* argp parsers for the options; the first also takes the one JOB|FILE argument. */
error_t render_output__parse_input(int key, char *arg, struct argp_state *state);
error_t render_output__parse_report(int key, char *arg, struct argp_state *state);

enum { OPT_VIEW = 0x200, OPT_KEEP_GOING, OPT_JSON, OPT_OPEN_DEPTH, OPT_FILTER };

#define REPORT_ARGP_OPTIONS                                                                                  \
	{"output", 'o', "FILE", 0, "Write to FILE; '-' is stdout", 0},                                       \
		{"format", 'f', "FORMAT", 0, "svg (the default), dot or json (one object a line)", 0},       \
		{"view", OPT_VIEW, "NAME", 0, "What colours stand for; --view=help lists the names", 0},     \
		{"open-depth", OPT_OPEN_DEPTH, "N", OPTION_HIDDEN, "", 0},                                   \
	{                                                                                                    \
		"filter", OPT_FILTER, NULL, OPTION_HIDDEN, "", 0                                             \
	}
#define KEEP_GOING_ARGP_OPTION                                                                               \
	{                                                                                                    \
		"keep-going", OPT_KEEP_GOING, NULL, 0,                                                       \
			"Use what is sound of a damaged file, marked incomplete", 0                          \
	}
#define JSON_ARGP_OPTION                                                                                     \
	{                                                                                                    \
		"json", OPT_JSON, NULL, 0, "The summary as JSON", 0                                          \
	}

#endif
