/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/reports/render_output.h"
#include "analysis/include/grain_export.h"
#include "daemon/common/process/read_all.h"
#include "daemon/grainctl/client/store_choice.h"
#include "daemon/grainctl/files/output_file.h"
#include "daemon/grainctl/reports/job_notes.h"
#include "daemon/grainctl/terminal/progress.h"
#include "daemon/grainctl/files/source_reader.h"
#include "daemon/grainctl/terminal/text.h"
#include "render/include/render_export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOPOLOGY_BYTES (64u << 20)

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
	{"folded", REPORT_FOLDED, "folded"},
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
	      "  miss_counter=NAME, reference_counter=NAME\n"
	      "Memory that it may take; default: 8G, at most 3/4 of the machine's:\n"
	      "  memory=SIZE                      16G\n",
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

static unsigned long number(const char *text, const char *option, unsigned long least, unsigned long most,
			    const struct argp_state *state)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most)
		argp_error(state, "%s takes a number from %lu to %lu, not '%s'", option, least, most, text);
	return value;
}

static void set_views(struct report_options *options, const char *list, const struct argp_state *state)
{
	struct grain_error err = {""};
	struct render_opts opts = {0};

	if (render_views__parse(list, &opts, &err))
		argp_error(state, "%s", err.text);
	options->view = opts.view;
	options->more_views = opts.more_views;
	options->all_views = opts.all_views;
}

static void list_views(void)
{
	puts("all");
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
	argp_error(state, "there is no format '%s'; use svg, html, dot, graphml, json, csv, folded or groups",
		   name);
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
		set_views(options, arg, state);
		return 0;
	case OPT_FULL:
		options->full = true;
		return 0;
	case OPT_OPEN_DEPTH:
		options->groups = true;
		options->open_depth = (uint32_t)number(arg, "--open-depth", 0, 1000, state);
		return 0;
	case OPT_FILTER:
		options->filter = true;
		return 0;
	case OPT_MAX_NODES:
		options->max_nodes = number(arg, "--max-nodes", 50, RENDER_MAX_NODES, state);
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

/* Writes the analysis' object and adds the store, because a job's number alone may be ambiguous. */
static int write_json_with_store(const struct ctl *ctl, const struct grain_graph *graph, uint64_t job,
				 const struct grain_whatif_question *questions, size_t count)
{
	json_t *json = store_choice__json(ctl);
	char *store = json ? json_dumps(json, JSON_COMPACT) : NULL, *text = NULL;
	size_t size = 0;
	FILE *stream = store ? open_memstream(&text, &size) : NULL;
	int error = stream ? grain_graph__write_summary_json_whatif(graph, job, questions, count, stream)
			   : -ENOMEM;

	if (stream && fclose(stream) && !error)
		error = -errno;
	/* The other keys of the object follow after its brace. */
	if (!error && printf("{\"store\":%s,%s", store, text + 1) < 0)
		error = -EIO;
	free(text);
	free(store);
	json_decref(json);
	return error;
}

static enum ctl_exit write_summary(struct ctl *ctl, const struct grain_graph *graph,
				   const struct input *input, const struct report_options *options)
{
	struct grain_whatif_question questions[WHAT_IF_MAX];
	const struct render_text_opts opts = {.columns = text__columns(),
					      .colour = ctl->colour,
					      .unicode = text__utf8(),
					      .job = input->job,
					      .questions = questions,
					      .question_count = options->what_if_count};
	int error;

	for (size_t i = 0; i < options->what_if_count; i++) {
		struct grain_error text = {""};

		if (grain_graph__parse_question(graph, options->what_if[i], &questions[i], &text))
			return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "%s", text.text);
	}
	if (options->json && input->job && ctl->unnamed_store)
		error = write_json_with_store(ctl, graph, input->job, questions, options->what_if_count);
	else if (options->json)
		error = grain_graph__write_summary_json_whatif(graph, input->job, questions,
							       options->what_if_count, stdout);
	else
		error = render__summary(graph, &opts, stdout);

	return error ? write_failed(ctl, "the summary", error) : CTL_DONE;
}

static const char *format_name(enum report_format format)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i].format == format)
			return formats[i].name;
	return "";
}

/* Writes a report. 0 or a negative errno. *text explains the error if the renderer knows more. */
static int write_report(const struct grain_graph *graph, const struct input *input,
			const struct report_options *options, struct source_reader *sources, FILE *stream,
			struct grain_error *text)
{
	struct progress progress;
	struct render_opts opts = {
		.view = options->view,
		.more_views = options->more_views,
		.all_views = options->all_views,
		.max_nodes = options->max_nodes,
		.groups = options->groups,
		.open_depth = options->groups ? options->open_depth : RENDER_OPEN_AUTO,
		.filter = options->filter,
		.job = input->job,
		.read_source = source_reader__read,
		.read_source_ctx = sources,
		.progress = progress__update,
		.progress_ctx = &progress,
	};
	int error;

	if (options->format == REPORT_LOG)
		return grain_graph__write_log(graph, stream);
	if (options->format == REPORT_GRAPHML && options->full)
		return export__graphml(graph, GRAIN_FULL, stream);
	progress__start(&progress, "drawing");
	error = render__report(graph, format_name(options->format), &opts, stream, text);
	progress__end(&progress);
	return error;
}

/* Inputs and output of a report. All are already open when the sandbox starts. */
struct work {
	const struct report_options *options;
	struct input input, baseline;
	bool has_baseline;
	struct output_file *file; /* NULL: the summary on stdout */
	const char *path;
	char chosen[NAME_MAX + 16];
	struct source_reader *sources; /* for excerpts; NULL: none */
	bool name_it;		       /* the user does not know the name yet, so it is printed */
};

enum ctl_exit render_output__load(struct ctl *ctl, const struct input *input,
				  const struct report_options *options, const struct grain_graph *baseline,
				  struct grain_graph **out)
{
	const struct grain_load_opts opts = {
		.settings = options->has_settings ? &options->settings : NULL,
		.baseline = baseline,
		.keep_going = options->keep_going,
		.keep_events = options->format == REPORT_LOG,
	};

	return input__load(ctl, input, &opts, out);
}

static enum ctl_exit write_it(struct ctl *ctl, const struct grain_graph *graph, const struct work *work)
{
	struct grain_error text = {""};
	FILE *stream;
	int error;

	if (!work->file)
		return write_summary(ctl, graph, &work->input, work->options);
	stream = output_file__stream(work->file);
	error = write_report(graph, &work->input, work->options, work->sources, stream, &text);
	errno = 0;
	if (!error && (fflush(stream) || ferror(stream)))
		error = errno ? -errno : -EIO;
	if (error && text.text[0])
		return ctl__fail(ctl, CTL_FAILED, "%s", text.text);
	return error ? write_failed(ctl, work->path, error) : CTL_DONE;
}

static enum ctl_exit load_and_write(struct ctl *ctl, void *argument)
{
	const struct work *work = argument;
	struct grain_graph *graph = NULL, *baseline = NULL;
	enum ctl_exit result = CTL_DONE;

	if (work->has_baseline)
		result = render_output__load(ctl, &work->baseline, work->options, NULL, &baseline);
	if (result == CTL_DONE)
		result = render_output__load(ctl, &work->input, work->options, baseline, &graph);
	grain_graph__free(baseline);
	if (result == CTL_DONE)
		result = write_it(ctl, graph, work);
	grain_graph__free(graph);
	return result;
}

static enum ctl_exit open_output(struct ctl *ctl, struct work *work)
{
	const struct report_options *options = work->options;
	int error;

	work->path = options->output ? options->output : "-";
	work->name_it = !options->output && (options->format == REPORT_SVG || options->format == REPORT_HTML);
	if (work->name_it) {
		snprintf(work->chosen, sizeof(work->chosen), "%s.%s", work->input.name,
			 options->format == REPORT_HTML ? "html" : "svg");
		work->path = work->chosen;
	}
	error = output_file__open(work->path, &work->file);
	return error ? write_failed(ctl, work->path, error) : CTL_DONE;
}

static enum ctl_exit close_output(struct ctl *ctl, const struct work *work, enum ctl_exit result)
{
	int error;

	if (result != CTL_DONE) {
		output_file__discard(work->file);
		return result;
	}
	error = output_file__commit(work->file);
	if (error)
		return write_failed(ctl, work->path, error);
	if (work->name_it)
		printf("%s\n", work->path);
	return CTL_DONE;
}

enum sandbox_kind render_output__sandbox(const struct report_options *options)
{
	return options->format == REPORT_SVG || options->format == REPORT_DOT ? SANDBOX_DRAWING
									      : SANDBOX_CLOSED;
}

/* Read before rights are dropped: the caller names the file, and may name a pipe. */
enum ctl_exit render_output__read_topology(struct ctl *ctl, struct report_options *options)
{
	const char *path = options->has_settings ? options->settings.topology : NULL;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1, error;
	size_t used = 0;

	if (!path)
		return CTL_DONE;
	error = fd < 0 ? -errno : 0;
	if (!error && !(options->topology_xml = malloc(TOPOLOGY_BYTES + 1)))
		error = -ENOMEM;
	if (!error)
		error = read_all(fd, options->topology_xml, TOPOLOGY_BYTES, &used);
	if (!error && used == TOPOLOGY_BYTES)
		error = -EFBIG;
	if (fd >= 0)
		close(fd);
	if (error)
		return ctl__fail(ctl, CTL_FAILED, "topology: %s: %s", path, strerror(-error));
	options->topology_xml[used] = '\0';
	options->settings.topology_xml = options->topology_xml;
	return CTL_DONE;
}

static void start_sources(const struct ctl *ctl, struct work *work)
{
	work->sources = source_reader__start(work->input.owner);
	if (!work->sources)
		ctl__say(ctl, "no excerpts of sources: the recording is not yours, and names files that you "
			      "may read; copy it to have them");
}

static enum ctl_exit check_options(struct ctl *ctl, const struct report_options *options)
{
	if ((options->groups || options->filter) && options->format != REPORT_SVG &&
	    options->format != REPORT_DOT)
		return ctl__fail(ctl, CTL_USAGE, "%s is about --format svg and dot",
				 options->groups ? "--open-depth" : "--filter");
	if (options->full && options->format != REPORT_GRAPHML)
		return ctl__fail(ctl, CTL_USAGE, "--full is about --format graphml");
	if (options->missing)
		return ctl__fail(ctl, CTL_USAGE, "%s is not available in this version", options->missing);
	return CTL_DONE;
}

enum ctl_exit render_output__run(struct ctl *ctl, struct report_options *options, bool only_files)
{
	struct work work = {.options = options};
	enum ctl_exit result = check_options(ctl, options);

	if (result == CTL_DONE)
		result = input__open(ctl, options->argument, only_files, &work.input);
	if (result != CTL_DONE)
		return result;
	if (options->baseline) {
		result = input__open(ctl, options->baseline, only_files, &work.baseline);
		work.has_baseline = result == CTL_DONE;
	}
	if (result == CTL_DONE)
		result = render_output__read_topology(ctl, options);
	if (result == CTL_DONE && options->format != REPORT_NONE)
		result = open_output(ctl, &work);
	if (result == CTL_DONE && options->format == REPORT_HTML)
		start_sources(ctl, &work);
	if (result == CTL_DONE)
		result = sandbox__run(ctl, render_output__sandbox(options), load_and_write, &work);
	source_reader__end(work.sources);
	if (work.file)
		result = close_output(ctl, &work, result);
	if (result == CTL_DONE && options->format == REPORT_NONE && !options->json && work.input.job)
		job_notes__print(ctl, work.input.job);
	if (work.has_baseline)
		input__close(&work.baseline);
	input__close(&work.input);
	free(options->topology_xml);
	return result;
}
