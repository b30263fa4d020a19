/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/render_output.h"
#include "analysis/grain_export.h"
#include "analysis/grain_groups.h"
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
	{"svg", REPORT_SVG, "svg"},
	{"dot", REPORT_DOT, "dot"},
	{"json", REPORT_JSON, "json"},
	{"html", REPORT_HTML, "html"},
	{"graphml", REPORT_GRAPHML, "graphml"},
	{"csv", REPORT_CSV, "csv"},
	{"groups", REPORT_GROUPS, "json"},
};

static void list_settings(void)
{
	fputs("A grain has the problem below or above the threshold:\n"
	      "  parallel_benefit=1               below\n"
	      "  load_balance=1                   above\n"
	      "  work_deviation=2                 above\n"
	      "  instantaneous_parallelism=N      below; default: the members of its team\n"
	      "  scatter=N                        above; default: the largest distance inside\n"
	      "                                   a socket, or the cores of a socket\n"
	      "  memory_hierarchy_utilization=2   below\n"
	      "  cache_miss_ratio=0.3             above\n"
	      "How instantaneous parallelism is found:\n"
	      "  parallelism=exact|optimistic|conservative\n"
	      "  interval=median|minimum|gap|TIME length of the latter two's intervals; 50us\n"
	      "Where distances come from, unless the recording says:\n"
	      "  topology=FILE                    lstopo --of xml of the machine\n"
	      "Counters, by the recording's names; default: the usual ones:\n"
	      "  cycle_counter=NAME, stall_counter=NAME\n"
	      "  miss_counter=NAME, reference_counter=NAME\n",
	      stdout);
	exit(CTL_DONE);
}

static void set(struct report_options *options, const char *text, const struct argp_state *state)
{
	struct grain_error err = {""};

	if (!strcmp(text, "help"))
		list_settings();
	if (!options->has_settings)
		grain_settings__default(&options->settings);
	options->has_settings = true;
	if (grain_settings__set(&options->settings, text, &err))
		argp_error(state, "--set %s: %s", text, err.text);
}

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
	case OPT_SET:
		set(options, arg, state);
		return 0;
	case OPT_WHAT_IF:
		if (options->what_if_count == WHAT_IF_MAX)
			argp_error(state, "at most %d what-ifs at a time", WHAT_IF_MAX);
		options->what_if[options->what_if_count++] = arg;
		return 0;
	case OPT_BASELINE:
		if (!*arg)
			argp_error(state, "an empty name");
		options->baseline = arg;
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
	argp_error(state, "there is no format '%s'; use svg, html, dot, graphml, json, csv or groups", name);
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
	case OPT_FULL:
		options->full = true;
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
				     const struct input *input, const struct report_options *options)
{
	struct grain_whatif_question questions[WHAT_IF_MAX];
	const struct render_text_opts opts = {.columns = text__columns(),
					      .colour = ctl->colour,
					      .job = input->job,
					      .questions = questions,
					      .question_count = options->what_if_count};
	int error;

	for (size_t i = 0; i < options->what_if_count; i++) {
		struct grain_error text = {""};

		if (grain_graph__parse_question(graph, options->what_if[i], &questions[i], &text))
			return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "%s", text.text);
	}
	if (options->json)
		error = grain_graph__write_summary_json_whatif(graph, input->job, questions,
							       options->what_if_count, stdout);
	else
		error = render__summary(graph, &opts, stdout);

	return error ? write_failed(ctl, "the summary", error) : CTL_DONE;
}

static int write_groups(const struct grain_graph *graph, FILE *stream)
{
	struct grain_groups *groups;
	int error = grain_groups__new(graph, &groups);

	if (error < 0)
		return error;
	error = grain_groups__write_json(groups, stream);
	grain_groups__free(groups);
	return error;
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
	if (options->format == REPORT_GRAPHML)
		return grain_graph__write_graphml(graph, options->full ? GRAIN_FULL : GRAIN_REDUCED, stream);
	if (options->format == REPORT_CSV)
		return grain_graph__write_csv(graph, stream);
	if (options->format == REPORT_GROUPS)
		return write_groups(graph, stream);
	progress__start(&progress, "drawing");
	if (options->format == REPORT_HTML)
		error = render__page(graph, &opts, stream, text);
	else
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
	bool name_it = !path && (options->format == REPORT_SVG || options->format == REPORT_HTML);
	int error;

	if (name_it) {
		snprintf(chosen, sizeof(chosen), "%s.%s", input->name,
			 options->format == REPORT_HTML ? "html" : "svg");
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

enum ctl_exit render_output__load_baseline(struct ctl *ctl, const char *argument,
					   const struct report_options *options, bool only_files,
					   struct grain_graph **out, uint64_t *job)
{
	const struct grain_load_opts opts = {
		.settings = options->has_settings ? &options->settings : NULL,
		.keep_going = options->keep_going,
	};
	struct input input;
	enum ctl_exit result = input__open(ctl, argument, only_files, &input);

	if (result != CTL_DONE)
		return result;
	result = input__load(ctl, &input, &opts, out);
	*job = input.job;
	input__close(&input);
	return result;
}

enum ctl_exit render_output__run(struct ctl *ctl, const struct report_options *options, bool only_files)
{
	struct grain_load_opts opts = {
		.settings = options->has_settings ? &options->settings : NULL,
		.keep_going = options->keep_going,
		.keep_events = options->format == REPORT_LOG,
	};
	struct grain_graph *graph = NULL, *baseline = NULL;
	uint64_t baseline_job;
	struct input input;
	enum ctl_exit result;

	if (options->full && options->format != REPORT_GRAPHML)
		return ctl__fail(ctl, CTL_USAGE, "--full is about --format graphml");
	if (options->missing)
		return ctl__fail(ctl, CTL_USAGE, "%s is not available in this version", options->missing);
	result = input__open(ctl, options->argument, only_files, &input);
	if (result != CTL_DONE)
		return result;
	if (options->baseline)
		result = render_output__load_baseline(ctl, options->baseline, options, only_files, &baseline,
						      &baseline_job);
	opts.baseline = baseline;
	if (result == CTL_DONE)
		result = input__load(ctl, &input, &opts, &graph);
	grain_graph__free(baseline);
	if (result == CTL_DONE && options->format == REPORT_NONE)
		result = render_output__summary(ctl, graph, &input, options);
	else if (result == CTL_DONE)
		result = render_output__report(ctl, graph, &input, options);
	grain_graph__free(graph);
	input__close(&input);
	return result;
}
