/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl export: the events as other tools read them. */
#include "daemon/grainctl/render_output.h"

#include <string.h>

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = arg;
		return 0;
	case 'f':
		options->missing = NULL;
		if (!strcmp(arg, "perfetto") || !strcmp(arg, "otf2"))
			options->missing = arg;
		else if (strcmp(arg, "log"))
			argp_error(state, "there is no export format '%s'; use log", arg);
		return 0;
	default:
		return render_output__parse_input(key, arg, state);
	}
}

int verb__export(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"format", 'f', "FORMAT", 0, "log (the default): the event log, one line an event", 0},
		{"output", 'o', "FILE", 0, "Write to FILE instead of stdout", 0},
		KEEP_GOING_ARGP_OPTION,
		{0}};
	static const struct argp argp = {
		option_list,
		parse_option,
		"JOB|FILE",
		"Writes the recorded events as text. grainctl analyze reads it again.\v"
		"Example:\n"
		"  grainctl export 1 --format log -o fib.log",
		NULL,
		NULL,
		NULL};
	struct report_options options = {.format = REPORT_LOG};

	ctl__parse(ctl, &argp, argc, argv, &options);
	return render_output__run(ctl, &options, false);
}
