/* SPDX-License-Identifier: BSD-2-Clause */
/* What summary, report, export and analyze share: a graph into a file or onto stdout. */
#ifndef GRAINCTL_RENDER_OUTPUT_H
#define GRAINCTL_RENDER_OUTPUT_H

#include "daemon/grainctl/input.h"
#include "render/render.h"

enum report_format {
	REPORT_NONE,
	REPORT_SVG,
	REPORT_HTML,
	REPORT_DOT,
	REPORT_GRAPHML,
	REPORT_JSON,
	REPORT_CSV,
	REPORT_GROUPS,
	REPORT_LOG
};

#define WHAT_IF_MAX 16

struct report_options {
	const char *argument; /* JOB or FILE */
	enum report_format format;
	const char *output; /* -o; NULL: see render_output__report */
	enum render_view view;
	bool full; /* GraphML with every node */
	bool json; /* the summary's */
	bool keep_going;
	struct grain_settings settings;
	bool has_settings;		  /* else the defaults */
	const char *baseline;		  /* JOB or FILE to compare with; NULL: none */
	const char *what_if[WHAT_IF_MAX]; /* SOURCE=FACTOR each */
	size_t what_if_count;
	const char *missing; /* asked for, but not in this version */
};

/* The text or JSON summary onto stdout. */
enum ctl_exit render_output__summary(struct ctl *ctl, const struct grain_graph *graph,
				     const struct input *input, const struct report_options *options);

/*
 * One report. Without -o a picture goes to NAME.svg in the current directory,
 * which is printed, and text formats go to stdout. Nothing half-written is
 * left behind.
 */
enum ctl_exit render_output__report(struct ctl *ctl, const struct grain_graph *graph,
				    const struct input *input, const struct report_options *options);

/* Opens, loads, writes, closes: options->format REPORT_NONE is the summary. */
enum ctl_exit render_output__run(struct ctl *ctl, const struct report_options *options, bool only_files);

/* The graph that another is compared with, and its job's number (0: a file). */
enum ctl_exit render_output__load_baseline(struct ctl *ctl, const char *argument,
					   const struct report_options *options, bool only_files,
					   struct grain_graph **out, uint64_t *job);

/* argp parsers for the options; the first also takes the one JOB|FILE argument. */
error_t render_output__parse_input(int key, char *arg, struct argp_state *state);
error_t render_output__parse_report(int key, char *arg, struct argp_state *state);

enum {
	OPT_VIEW = 0x200,
	OPT_KEEP_GOING,
	OPT_JSON,
	OPT_OPEN_DEPTH,
	OPT_FILTER,
	OPT_SET,
	OPT_BASELINE,
	OPT_WHAT_IF,
	OPT_FULL
};

#define REPORT_ARGP_OPTIONS                                                                                  \
	{"output", 'o', "FILE", 0, "Write to FILE; '-' is stdout", 0},                                       \
		{"format",                                                                                   \
		 'f',                                                                                        \
		 "FORMAT",                                                                                   \
		 0,                                                                                          \
		 "svg (the default), html, dot, graphml, json (one object a line), csv or groups "           \
		 "(aggregated)",                                                                             \
		 0},                                                                                         \
		{"view", OPT_VIEW, "NAME", 0, "What colours stand for; --view=help lists the names", 0},     \
		{"full", OPT_FULL, NULL, 0, "GraphML with every fragment, creation and wait as a node", 0},  \
		{"open-depth", OPT_OPEN_DEPTH, "N", OPTION_HIDDEN, "", 0},                                   \
	{                                                                                                    \
		"filter", OPT_FILTER, NULL, OPTION_HIDDEN, "", 0                                             \
	}
#define SET_ARGP_OPTION                                                                                      \
	{                                                                                                    \
		"set", OPT_SET, "NAME=VALUE", 0,                                                             \
			"A threshold or choice of the metrics; --set=help lists them. Again for more", 0     \
	}
#define WHAT_IF_ARGP_OPTION                                                                                  \
	{                                                                                                    \
		"what-if", OPT_WHAT_IF, "SOURCE=K", 0,                                                       \
			"What it brings when the grains of SOURCE run K times faster. Again for more", 0     \
	}
#define BASELINE_ARGP_OPTION                                                                                 \
	{                                                                                                    \
		"baseline", OPT_BASELINE, "BASE", 0,                                                         \
			"The run that work deviation is measured against, usually of one thread", 0          \
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
