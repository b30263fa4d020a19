/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by summary, report, export and analyze: writes a graph into a file or to stdout. */
#ifndef GRAINCTL_RENDER_OUTPUT_H
#define GRAINCTL_RENDER_OUTPUT_H

#include "daemon/grainctl/reports/input.h"
#include "daemon/grainctl/files/sandbox.h"
#include "render/include/render.h"

enum report_format {
	REPORT_NONE,
	REPORT_SVG,
	REPORT_HTML,
	REPORT_DOT,
	REPORT_GRAPHML,
	REPORT_JSON,
	REPORT_CSV,
	REPORT_FOLDED,
	REPORT_GROUPS,
	REPORT_LOG
};

#define WHAT_IF_MAX 16

struct report_options {
	const char *argument; /* JOB or FILE */
	enum report_format format;
	const char *output; /* -o; NULL: see render_output__run */
	enum render_view view;
	uint32_t more_views; /* this and the next fields are as in struct render_opts */
	bool all_views;
	size_t max_nodes; /* 0: the default */
	bool groups;	  /* aggregated, with open_depth levels open */
	uint32_t open_depth;
	bool filter;
	bool full; /* GraphML with every node */
	bool json; /* the summary as JSON */
	bool keep_going;
	struct grain_settings settings;
	bool has_settings;		  /* the caller gave settings; otherwise the defaults hold */
	char *topology_xml;		  /* content of the topology file, see render_output__read_topology */
	const char *baseline;		  /* JOB or FILE to compare with; NULL: none */
	const char *what_if[WHAT_IF_MAX]; /* questions, each as SOURCE=FACTOR */
	size_t what_if_count;
	const char *missing; /* a requested feature that this version does not have */
};

/*
 * Opens and loads the input and writes the output. Reads everything in a sandbox. `format` REPORT_NONE: the
 * summary on stdout. For reports without -o, a picture goes to NAME.svg in the current directory, and its
 * name is printed; text formats go to stdout. Incomplete files are removed.
 */
enum ctl_exit render_output__run(struct ctl *ctl, struct report_options *options, bool only_files);

/*
 * Reads the file of --set topology=FILE with the caller's rights. The caller frees options->topology_xml in
 * any case.
 */
enum ctl_exit render_output__read_topology(struct ctl *ctl, struct report_options *options);

/* Loads the graph with the options' settings and compares it with `baseline` (may be NULL). */
enum ctl_exit render_output__load(struct ctl *ctl, const struct input *input,
				  const struct report_options *options, const struct grain_graph *baseline,
				  struct grain_graph **out);

/* Returns the kind of sandbox that these options need. */
enum sandbox_kind render_output__sandbox(const struct report_options *options);

/* argp parsers for the options. The first one also takes the argument JOB|FILE. */
error_t render_output__parse_input(int key, char *arg, struct argp_state *state);
error_t render_output__parse_report(int key, char *arg, struct argp_state *state);

enum {
	OPT_VIEW = 0x200,
	OPT_KEEP_GOING,
	OPT_JSON,
	OPT_OPEN_DEPTH,
	OPT_FILTER,
	OPT_MAX_NODES,
	OPT_SET,
	OPT_BASELINE,
	OPT_WHAT_IF,
	OPT_FULL
};

#define REPORT_ARGP_OPTIONS                                                                                   \
	{"output", 'o', "FILE", 0, "Write to FILE; '-' is stdout", 0},                                        \
		{"format",                                                                                    \
		 'f',                                                                                         \
		 "FORMAT",                                                                                    \
		 0,                                                                                           \
		 "svg (the default), html, dot, graphml, json (one object a line), csv or groups "            \
		 "(aggregated)",                                                                              \
		 0},                                                                                          \
		{"view",                                                                                      \
		 OPT_VIEW,                                                                                    \
		 "NAME",                                                                                      \
		 0,                                                                                           \
		 "What colours stand for; --view=help lists the names. Several, NAME,NAME or all, are "       \
		 "layers of one SVG, reached by its links",                                                   \
		 0},                                                                                          \
		{"open-depth",                                                                                \
		 OPT_OPEN_DEPTH,                                                                              \
		 "N",                                                                                         \
		 0,                                                                                           \
		 "Aggregated: families and siblings as boxes, N levels of them open",                         \
		 0},                                                                                          \
		{"filter", OPT_FILTER, NULL, 0, "Aggregated, without what lacks the problem of the view", 0}, \
		{"max-nodes", OPT_MAX_NODES, "N", 0, "Draw up to N nodes before folding; 2000", 0},           \
	{                                                                                                     \
		"full", OPT_FULL, NULL, 0, "GraphML with every fragment, creation and wait as a node", 0      \
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
