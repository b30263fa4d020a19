/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl export: writes the recording in formats of other tools. */
#include "daemon/grainctl/reports/export_output.h"
#include "daemon/grainctl/reports/render_output.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <string.h>

struct export_arguments {
	struct report_options report; /* only argument, output and keep_going are used; for the log, all */
	enum export_format format;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct export_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->report;
		return 0;
	case 'o':
		arguments->report.output = arg;
		return 0;
	case 'f':
		if (export_format__parse(arg, &arguments->format))
			argp_error(state, "there is no export format '%s'; use log, perfetto, otf2 or talp",
				   arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int verb__export(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"format", 'f', "FORMAT", 0,
		 "log (the default): the event log, one line an event; perfetto: a trace for "
		 "ui.perfetto.dev; "
		 "otf2: an archive for Vampir and others; talp: JSON of the account for TALP-Pages",
		 0},
		{"output", 'o', "FILE", 0, "Write to FILE; '-' is stdout. For otf2 a new directory", 0},
		{0}};
	static const struct argp_option input_list[] = {KEEP_GOING_ARGP_OPTION, {0}};
	static const struct argp input_argp = {input_list, render_output__parse_input, NULL, NULL, NULL, NULL,
					       NULL};
	static const struct argp_child children[] = {{&input_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		option_list,
		parse_option,
		"JOB|FILE",
		"Writes a recording in the form of other tools. The event log goes "
		"to stdout without -o, and grainctl "
		"analyze reads it again. A Perfetto trace becomes job-N.pftrace in "
		"the current directory, an OTF2 "
		"archive the directory job-N.otf2, TALP's JSON job-N.talp.json; the name is "
		"printed.\v"
		"Examples:\n"
		"  grainctl export 1 --format log -o fib.log\n"
		"  grainctl export 1 --format perfetto -o fib.pftrace\n"
		"    then open https://ui.perfetto.dev and drop the file there\n"
		"  grainctl export 1 --format otf2 -o fib.otf2\n"
		"    then vampir fib.otf2/grains.otf2, or otf2-print for the text\n"
		"  grainctl export 1 --format talp -o talp/run.json\n"
		"    then let TALP-Pages read the folder talp",
		children,
		NULL,
		NULL};
	struct export_arguments arguments = {.report = {.format = REPORT_LOG}};

	ctl__parse(ctl, &argp, argc, argv, &arguments);
	if (arguments.format == EXPORT_LOG)
		return render_output__run(ctl, &arguments.report, false);
	return export_output__run(ctl, arguments.format, arguments.report.argument, arguments.report.output,
				  arguments.report.keep_going);
}
