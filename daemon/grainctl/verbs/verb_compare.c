/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl compare: compares two runs, whose grains are matched by identifier. */
#include "daemon/grainctl/reports/compare_text.h"
#include "daemon/grainctl/reports/render_output.h"
#include "daemon/grainctl/files/sandbox.h"
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!*arg)
			argp_error(state, "an empty name");
		if (state->arg_num > 1)
			argp_error(state, "two at a time: '%s' is too much", arg);
		*(state->arg_num ? &options->argument : &options->baseline) = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "of which two? the base first, then the run");
		return 0;
	default:
		return render_output__parse_input(key, arg, state);
	}
}

static enum ctl_exit write_comparison(struct ctl *ctl, const struct compare_text *text, uint64_t base_job,
				      uint64_t job, bool json)
{
	int error = json ? grain_compare__write_json(text->compare, base_job, job, stdout)
			 : compare_text__write(text, stdout);

	if (!error)
		return CTL_DONE;
	return ctl__fail(ctl, CTL_FAILED, "cannot write the comparison: %s", strerror(-error));
}

/* Both inputs, already open. */
struct pair {
	const struct report_options *options;
	struct input base, run;
};

static enum ctl_exit write_pair(struct ctl *ctl, const struct pair *pair, const struct grain_graph *base,
				const struct grain_graph *run)
{
	struct grain_compare *comparison = NULL;
	int error = grain_compare__new(base, run, &comparison);
	const struct compare_text text = {
		.base = base,
		.run = run,
		.compare = comparison,
		.columns = text__columns(),
		.colour = ctl->colour,
	};
	enum ctl_exit result;

	if (error)
		return ctl__fail(ctl, CTL_FAILED, "cannot compare: %s", strerror(-error));
	result = write_comparison(ctl, &text, pair->base.job, pair->run.job, pair->options->json);
	grain_compare__free(comparison);
	return result;
}

static enum ctl_exit compare(struct ctl *ctl, void *argument)
{
	const struct pair *pair = argument;
	struct grain_graph *base = NULL, *run = NULL;
	enum ctl_exit result = render_output__load(ctl, &pair->base, pair->options, NULL, &base);

	if (result == CTL_DONE)
		result = render_output__load(ctl, &pair->run, pair->options, base, &run);
	if (result == CTL_DONE)
		result = write_pair(ctl, pair, base, run);
	grain_graph__free(run);
	grain_graph__free(base);
	return result;
}

int verb__compare(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"json", OPT_JSON, NULL, 0, "The comparison as JSON", 0},
		SET_ARGP_OPTION,
		KEEP_GOING_ARGP_OPTION,
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse,
		"BASE JOB",
		"Compares two runs: how much longer or shorter, and which grains, matched by their "
		"identifiers, take longer than in BASE (work deviation). BASE and JOB are numbers of jobs or "
		"files; BASE usually ran on one thread.\v"
		"Examples:\n"
		"  grainctl compare 1 2\n"
		"  grainctl compare before.log after.log --set work_deviation=1.5\n"
		"  grainctl compare 1 2 --json | python3 -m json.tool",
		NULL,
		NULL,
		NULL};
	struct report_options options = {0};
	struct pair pair = {.options = &options};
	enum ctl_exit result;

	ctl__parse(ctl, &argp, argc, argv, &options);
	result = input__open(ctl, options.baseline, false, &pair.base);
	if (result != CTL_DONE)
		return result;
	result = input__open(ctl, options.argument, false, &pair.run);
	if (result == CTL_DONE) {
		result = render_output__read_topology(ctl, &options);
		if (result == CTL_DONE)
			result = sandbox__run(ctl, render_output__sandbox(&options), compare, &pair);
		input__close(&pair.run);
	}
	input__close(&pair.base);
	free(options.topology_xml);
	return result;
}
