/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/render_output.h"
#include "daemon/grainctl/files.h"
#include "daemon/grainctl/progress.h"
#include "daemon/grainctl/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum report_format format;
	const char *suffix;
} formats[] = {
	{"svg", REPORT_SVG, "svg"},  {"dot", REPORT_DOT, "dot"},     {"json", REPORT_JSON, "json"},
	{"html", REPORT_NONE, NULL}, {"graphml", REPORT_NONE, NULL}, {"csv", REPORT_NONE, NULL},
};

error_t render_output__parse_input(int key, char *arg, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case OPT_KEEP_GOING:
		options->keep_going = true;
		return 0;
	case OPT_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "one at a time: '%s' is too much", arg);
		if (!*arg)
			argp_error(state, "an empty name");
		options->argument = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "of which one?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void list_views(void)
{
	for (int view = 0; view < RENDER_VIEW_COUNT; view++)
		printf("%s\n", render_view__name((enum render_view)view));
	exit(CTL_DONE);
}

static void set_format(struct report_options *options, const char *name, const struct argp_state *state)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(name, formats[i].name))
			continue;
		options->format = formats[i].format;
		if (!formats[i].suffix)
			options->missing = formats[i].name;
		return;
	}
	argp_error(state, "there is no format '%s'; use svg, dot or json", name);
}

error_t render_output__parse_report(int key, char *arg, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = arg;
		return 0;
	case 'f':
		set_format(options, arg, state);
		return 0;
	case OPT_VIEW:
		if (!strcmp(arg, "help"))
			list_views();
		if (render_view__parse(arg, &options->view))
			argp_error(state, "there is no view '%s'; --view=help lists them", arg);
		return 0;
	case OPT_OPEN_DEPTH:
	case OPT_FILTER:
		options->missing = key == OPT_FILTER ? "--filter" : "--open-depth";
		return 0;
	default:
		return render_output__parse_input(key, arg, state);
	}
}

static enum ctl_exit write_failed(struct ctl *ctl, const char *path, int error)
{
	return ctl__fail(ctl, error == -EACCES || error == -EPERM ? CTL_DENIED : CTL_FAILED,
			 "cannot write %s: %s%s", strcmp(path, "-") ? path : "the output", strerror(-error),
			 error == -ENOSPC || error == -EDQUOT ? "; free some, or choose another place with -o"
							      : "");
}

enum ctl_exit render_output__summary(struct ctl *ctl, const struct grain_graph *graph,
				     const struct input *input, bool json)
{
	const struct render_text_opts opts = {.columns = text__columns(),
					      .colour = ctl->colour,
					      .job = input->job};
	int error = json ? grain_graph__write_summary_json(graph, input->job, stdout)
			 : render__summary(graph, &opts, stdout);

	return error ? write_failed(ctl, "the summary", error) : CTL_DONE;
}

/* Negative errno; *text explains it when the renderer has more to say than that. */
static int write_report(const struct grain_graph *graph, const struct input *input,
			const struct report_options *options, FILE *stream, struct grain_error *text)
{
	struct progress progress;
	struct render_opts opts = {
		.format = options->format == REPORT_DOT ? RENDER_DOT : RENDER_SVG,
		.view = options->view,
		.job = input->job,
		.progress = progress__update,
		.progress_ctx = &progress,
	};
	int error;

	if (options->format == REPORT_JSON)
		return grain_graph__write_grains_json(graph, stream);
	if (options->format == REPORT_LOG)
		return grain_graph__write_log(graph, stream);
	progress__start(&progress, "drawing");
	error = render__graph(graph, &opts, stream, text);
	progress__end(&progress);
	return error;
}

enum ctl_exit render_output__report(struct ctl *ctl, const struct grain_graph *graph,
				    const struct input *input, const struct report_options *options)
{
	char chosen[NAME_MAX + 16];
	const char *path = options->output;
	struct output_file *file = NULL;
	struct grain_error text = {""};
	bool name_it = !path && options->format == REPORT_SVG;
	int error;

	if (name_it) {
		snprintf(chosen, sizeof(chosen), "%s.svg", input->name);
		path = chosen;
	} else if (!path) {
		path = "-";
	}
	error = output_file__open(path, &file);
	if (error)
		return write_failed(ctl, path, error);
	error = write_report(graph, input, options, output_file__stream(file), &text);
	if (error) {
		output_file__discard(file);
		if (text.text[0])
			return ctl__fail(ctl, CTL_FAILED, "%s", text.text);
		return write_failed(ctl, path, error);
	}
	error = output_file__commit(file);
	if (error)
		return write_failed(ctl, path, error);
	if (name_it)
		printf("%s\n", path);
	return CTL_DONE;
}

enum ctl_exit render_output__run(struct ctl *ctl, const struct report_options *options, bool only_files)
{
	struct grain_graph *graph = NULL;
	struct input input;
	enum ctl_exit result;

	if (options->missing)
		return ctl__fail(ctl, CTL_USAGE, "%s is not available in this version", options->missing);
	result = input__open(ctl, options->argument, only_files, &input);
	if (result != CTL_DONE)
		return result;
	result = input__load(ctl, &input, options->keep_going, options->format == REPORT_LOG, &graph);
	if (result == CTL_DONE && options->format == REPORT_NONE)
		result = render_output__summary(ctl, graph, &input, options->json);
	else if (result == CTL_DONE)
		result = render_output__report(ctl, graph, &input, options);
	grain_graph__free(graph);
	input__close(&input);
	return result;
}
