/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl merge: makes one summary of all ranks of an MPI job. */
#include "daemon/grainctl/merge/merge_input.h"
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct merge_options {
	const char **paths, *batch;
	uint64_t *numbers;
	size_t path_count, number_count;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct merge_options *options = state->input;
	uint64_t number;

	switch (key) {
	case 'b':
		if (!strchr(arg, ':') || !strchr(arg, ':')[1])
			argp_error(state, "--batch is the name of a batch job such as slurm:4711, not '%s'",
				   arg);
		options->batch = arg;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!*arg)
			argp_error(state, "an empty name");
		if (ctl__parse_number(arg, INT64_MAX, &number))
			options->numbers[options->number_count++] = number;
		else
			options->paths[options->path_count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->path_count && !options->number_count && !options->batch)
			argp_error(state, "of which ranks? Give jobs, files or directories");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int gather(const struct ctl *ctl, const struct merge_options *options, struct merge *merge)
{
	int error = 0;

	for (size_t i = 0; !error && i < options->path_count; i++)
		error = merge_input__add_path(merge, options->paths[i]);
	if (!error && (options->number_count || options->batch))
		error = merge_input__add_jobs(merge, ctl, options->numbers, options->number_count,
					      options->batch);
	return error;
}

static enum ctl_exit print(const struct ctl *ctl, const struct merge_options *options, const json_t *result)
{
	enum ctl_exit exit = CTL_DONE;
	const json_t *entry;
	int error = 0;
	size_t i;

	if (options->json) {
		error = json_dumpf(result, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15)) ? -EIO : 0;
		putchar('\n');
	} else {
		error = merge_text__print(result, text__columns(), ctl->colour, stdout);
	}
	if (error)
		return ctl__fail(ctl, CTL_FAILED, "cannot write the summary: %s", strerror(-error));
	json_array_foreach(json_object_get(result, "left_out"), i, entry)
	{
		ctl__say(ctl, "left out: %s: %s", json_string_value(json_object_get(entry, "from")),
			 json_string_value(json_object_get(entry, "why")));
		if (!json_is_true(json_object_get(entry, "again")))
			exit = CTL_FAILED;
	}
	return exit;
}

int verb__merge(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"batch", 'b', "NAME", 0,
		 "All ranks here of that batch job, such as slurm:4711 or slurm:4711.0", 0},
		{"json", 'j', NULL, 0, "The same as JSON", 0},
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse_option,
		"JOB|FILE|DIR ...",
		"Makes one summary of the ranks of an MPI job: which is the slowest, how uneven they are, "
		"where in "
		"the source, which are missing; then each rank. JOB is a rank, or what started the ranks "
		"(mpirun); FILE a job's summary.json, of any node; DIR a directory of such files, as graind "
		"fills where report-directory is set.\v"
		"Examples:\n"
		"  grainctl run -- mpirun -n 4 ./app; grainctl merge 1\n"
		"  grainctl merge --batch slurm:4711\n"
		"  grainctl merge /shared/graind/ann/slurm-4711 --json\n"
		"\n"
		"Exit status: 1 also when something of what was given could not be merged.",
		NULL,
		NULL,
		NULL};
	struct merge_options options = {.paths = calloc((size_t)argc + 1, sizeof(char *)),
					.numbers = calloc((size_t)argc + 1, sizeof(uint64_t))};
	struct merge *merge = merge__new();
	enum ctl_exit exit = CTL_FAILED;
	json_t *result = NULL;

	if (options.paths && options.numbers && merge) {
		ctl__parse(ctl, &argp, argc, argv, &options);
		if (gather(ctl, &options, merge) == 0)
			result = merge__result(merge);
	}
	if (result)
		exit = print(ctl, &options, result);
	else
		ctl__fail(ctl, CTL_FAILED, "out of memory");
	json_decref(result);
	merge__free(merge);
	free(options.paths);
	free(options.numbers);
	return exit;
}
