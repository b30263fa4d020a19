/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl report: writes the grain graph as a picture or as data. */
#include "daemon/grainctl/reports/render_output.h"
#include "daemon/grainctl/verbs/verbs.h"

int verb__report(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		REPORT_ARGP_OPTIONS, BASELINE_ARGP_OPTION, SET_ARGP_OPTION, KEEP_GOING_ARGP_OPTION, {0}};
	static const struct argp argp = {
		option_list,
		render_output__parse_report,
		"JOB|FILE",
		"Draws the grain graph of a job or trace file, makes its HTML report, or "
		"writes it as DOT, GraphML, JSON or CSV. Without -o the picture becomes "
		"job-N.svg, the HTML report job-N.html in the current directory, and its "
		"name is printed; the other formats go to stdout.\v"
		"Examples:\n"
		"  grainctl report 1 --format html\n"
		"  grainctl report 1 -o fib.svg\n"
		"  grainctl report 1 --view all -o views.svg\n"
		"  grainctl report 1 --open-depth 3 --filter -o groups.svg\n"
		"  grainctl report 1 --format json | head -3",
		NULL,
		NULL,
		NULL};
	struct report_options options = {.format = REPORT_SVG};

	ctl__parse(ctl, &argp, argc, argv, &options);
	return render_output__run(ctl, &options, false);
}
