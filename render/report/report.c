/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes reports by the name of their format. */
#include "analysis/include/grain_export.h"
#include "analysis/include/grain_samples.h"
#include "analysis/include/grain_groups.h"
#include "render/include/render_export.h"
#include "render/include/render.h"

#include <errno.h>
#include <string.h>

static int write_groups(const struct grain_graph *graph, FILE *out)
{
	struct grain_groups *groups;
	int error = grain_groups__new(graph, &groups);

	if (error < 0)
		return error;
	error = grain_groups__write_json(groups, out);
	grain_groups__free(groups);
	return error;
}

static int write_graphml(const struct grain_graph *graph, FILE *out)
{
	return export__graphml(graph, GRAIN_REDUCED, out);
}

static const struct format {
	const char *name;
	int (*data)(const struct grain_graph *graph, FILE *out); /* NULL: a format with options */
} formats[] = {
	{"svg", NULL},
	{"dot", NULL},
	{"html", NULL},
	{"perfetto", NULL},
	{"json", grain_graph__write_grains_json},
	{"csv", grain_graph__write_csv},
	{"folded", grain_graph__write_folded},
	{"graphml", write_graphml},
	{"groups", write_groups},
};

int render_views__parse(const char *list, struct render_opts *opts, struct grain_error *err)
{
	bool first = true;

	opts->all_views = !strcmp(list, "all");
	opts->more_views = opts->all_views ? UINT32_MAX : 0;
	opts->view = RENDER_VIEW_PROBLEM;
	while (!opts->all_views && list) {
		const char *comma = strchr(list, ',');
		size_t length = comma ? (size_t)(comma - list) : strlen(list);
		enum render_view view;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name) - 1),
			 list);
		if (render_view__parse(name, &view)) {
			snprintf(err->text, sizeof(err->text),
				 "there is no view '%s'; --view=help lists them", name);
			return -EINVAL;
		}
		if (first)
			opts->view = view;
		else
			opts->more_views |= 1u << view;
		first = false;
		list = comma ? comma + 1 : NULL;
	}
	return 0;
}

static const struct format *find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

bool render_report__has_format(const char *name)
{
	return find(name) != NULL;
}

int render__report(const struct grain_graph *graph, const char *name, const struct render_opts *wanted,
		   FILE *out, struct grain_error *err)
{
	const struct format *format = find(name);
	struct render_opts opts = *wanted;

	if (!format)
		return -EINVAL;
	if (format->data)
		return format->data(graph, out);
	if (!strcmp(name, "html"))
		return render__page(graph, &opts, out, err);
	if (!strcmp(name, "perfetto"))
		return export__perfetto(graph,
					&(const struct export_opts){.job = opts.job,
								    .progress = opts.progress,
								    .progress_ctx = opts.progress_ctx},
					out, err);
	opts.format = strcmp(name, "dot") ? RENDER_SVG : RENDER_DOT;
	return render__graph(graph, &opts, out, err);
}
