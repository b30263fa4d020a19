/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl analyze: summary and report of a file, without a daemon. */
#include "daemon/grainctl/reports/render_output.h"
#include "daemon/grainctl/verbs/verbs.h"

int verb__analyze(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {JSON_ARGP_OPTION,
							 REPORT_ARGP_OPTIONS,
							 BASELINE_ARGP_OPTION,
							 SET_ARGP_OPTION,
							 WHAT_IF_ARGP_OPTION,
							 KEEP_GOING_ARGP_OPTION,
							 {0}};
	static const struct argp argp = {option_list,
					 render_output__parse_report,
					 "FILE",
					 "Analyses a trace, an event log or a MIR profile (mir-task-stats); "
					 "needs neither a daemon nor any privilege. Without --format and "
					 "-o it prints the summary; with them it is grainctl report.\v"
					 "Examples:\n"
					 "  grainctl analyze fib.log\n"
					 "  grainctl analyze fib.log --set parallel_benefit=2\n"
					 "  grainctl analyze trace.grt --format svg -o fib.svg",
					 NULL,
					 NULL,
					 NULL};
	struct report_options options = {0};

	ctl__parse(ctl, &argp, argc, argv, &options);
	if (options.json && (options.format != REPORT_NONE || options.output || options.view))
		return ctl__fail(ctl, CTL_USAGE, "--json is the summary's; for the grains use --format json");
	if ((options.output || options.view) && options.format == REPORT_NONE)
		options.format = REPORT_SVG;
	if (options.what_if_count && options.format != REPORT_NONE)
		return ctl__fail(ctl, CTL_USAGE, "--what-if is the summary's");
	return render_output__run(ctl, &options, true);
}
