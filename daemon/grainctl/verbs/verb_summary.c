/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl summary: prints the verdict, then tables. */
#include "daemon/grainctl/reports/render_output.h"
#include "daemon/grainctl/verbs/verbs.h"

int verb__summary(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {JSON_ARGP_OPTION,	 BASELINE_ARGP_OPTION,
							 SET_ARGP_OPTION,	 WHAT_IF_ARGP_OPTION,
							 KEEP_GOING_ARGP_OPTION, {0}};
	static const struct argp argp = {
		option_list,
		render_output__parse_input,
		"JOB|FILE",
		"Says what is wrong with a profiled program, worst first, with source lines; then tables. "
		"Of a job that still runs: what was recorded so far.\v"
		"Examples:\n"
		"  grainctl summary 1\n"
		"  grainctl summary 1 --set load_balance=1.1 --set parallelism=optimistic\n"
		"  grainctl summary 1 --what-if fib.c:8=2\n"
		"  grainctl summary 1 --json | python3 -m json.tool",
		NULL,
		NULL,
		NULL};
	struct report_options options = {0};

	ctl__parse(ctl, &argp, argc, argv, &options);
	return render_output__run(ctl, &options, false);
}
