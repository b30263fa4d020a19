/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl jobs: prints one line for each job of graind and each job in the state directory. */
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/client/jobs_list.h"
#include "daemon/grainctl/client/store_choice.h"
#include "daemon/grainctl/terminal/table.h"
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct jobs_options {
	bool all, json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct jobs_options *options = state->input;

	switch (key) {
	case 'a':
		options->all = true;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much; grainctl summary JOB tells about one job", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int compare_jobs(const void *a, const void *b)
{
	const struct job *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

enum { JOB, USER, PID, COMMAND, BATCH, STATE, TIME, THR, GRAINS, RATE, OVERH, PROBLEMS, COLUMNS };

/* With fewer columns, lists with jobs of batch systems leave out the least important columns. */
#define WIDE 100

static const struct table_column all_columns[COLUMNS] = {
	[JOB] = {"JOB", true, 0},	[USER] = {"USER", false, 4},
	[PID] = {"PID", true, 0},	[COMMAND] = {"COMMAND", false, 8},
	[BATCH] = {"BATCH", false, 15}, [STATE] = {"STATE", false, 0},
	[TIME] = {"TIME", true, 0},	[THR] = {"THR", true, 0},
	[GRAINS] = {"GRAINS", true, 0}, [RATE] = {"EV/S", true, 0},
	[OVERH] = {"OVERH", true, 0},	[PROBLEMS] = {"PROBLEMS", false, 8},
};

/* The columns that are shown. */
struct shown {
	unsigned columns[COLUMNS];
	unsigned count;
};

static void choose(struct shown *shown, bool batch, unsigned width)
{
	*shown = (struct shown){.count = 0};
	for (unsigned i = 0; i < COLUMNS; i++) {
		bool fits = !batch || width >= WIDE || (i != PID && i != THR && i != RATE);

		if (i == BATCH ? batch : fits)
			shown->columns[shown->count++] = i;
	}
}

static int add_row(struct table *table, const struct shown *shown, struct job *job)
{
	char number[24], pid[24], time[24], threads[24], grains[24], rate[24] = "-", overhead[24] = "-";
	const char *cells[COLUMNS], *all[COLUMNS] = {
					    [JOB] = number,
					    [USER] = job->user[0] ? job->user : "-",
					    [PID] = job->pid > 0 ? pid : "-",
					    [COMMAND] = job__command(job),
					    [BATCH] = job->batch[0] ? job->batch : "-",
					    [STATE] = job->state,
					    [TIME] = time,
					    [THR] = job->threads ? threads : "-",
					    [GRAINS] = grains,
					    [RATE] = rate,
					    [OVERH] = overhead,
					    [PROBLEMS] = job->problems[0] ? job->problems : "-",
				    };

	snprintf(number, sizeof(number), "%llu", (unsigned long long)job->number);
	snprintf(pid, sizeof(pid), "%lld", (long long)job->pid);
	text__duration(time, sizeof(time), job__ran_for(job));
	snprintf(threads, sizeof(threads), "%llu", (unsigned long long)job->threads);
	text__count(grains, sizeof(grains), (double)job->grains);
	if (job->events_per_s >= 0)
		text__count(rate, sizeof(rate), job->events_per_s);
	if (job->overhead_percent >= 0)
		snprintf(overhead, sizeof(overhead), job->overhead_percent < 9.95 ? "%.1f%%" : "%.0f%%",
			 job->overhead_percent);
	job__shorten(job->problems);
	for (unsigned i = 0; i < shown->count; i++)
		cells[i] = all[shown->columns[i]];
	return table__add(table, cells);
}

static int print_table(const json_t *list)
{
	struct table_column columns[COLUMNS];
	size_t count = json_array_size(list);
	struct job *jobs = calloc(count ? count : 1, sizeof(*jobs));
	struct table *table = NULL;
	struct shown shown;
	bool batch = false;
	int error = 0;

	for (size_t i = 0; jobs && i < count; i++) {
		job__parse(json_array_get(list, i), &jobs[i]);
		batch |= jobs[i].batch[0] != 0;
	}
	choose(&shown, batch, text__columns());
	for (unsigned i = 0; i < shown.count; i++)
		columns[i] = all_columns[shown.columns[i]];
	table = jobs ? table__new(columns, shown.count) : NULL;
	if (!table)
		error = -ENOMEM;
	else
		qsort(jobs, count, sizeof(*jobs), compare_jobs);
	for (size_t i = 0; !error && i < count; i++)
		error = add_row(table, &shown, &jobs[i]);
	if (!error)
		table__print(table, text__columns(), stdout);
	free(jobs);
	table__free(table);
	return error;
}

int verb__jobs(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"all", 'a', NULL, 0, "Finished ones too", 0},
		{"json", 'j', NULL, 0, "{\"jobs\":[...]}, one object a job", 0},
		{0},
	};
	static const struct argp argp = {option_list,
					 parse_option,
					 NULL,
					 "Lists the jobs that run, one line each: number, user, process, "
					 "command, batch job, pod, container or unit where there is one, "
					 "state, time observed, "
					 "threads, grains, events per second, what the measuring costs of "
					 "the program's time, problems.\v"
					 "Example:\n"
					 "  grainctl jobs --all",
					 NULL,
					 NULL,
					 NULL};
	struct jobs_options options = {0};
	enum ctl_exit served;
	char why[512];
	json_t *list;
	int stored, error = 0;

	ctl__parse(ctl, &argp, argc, argv, &options);
	list = json_array();
	served = jobs_list__add_served(ctl, options.all, list, why);
	stored = jobs_list__add_stored(ctl, options.all, list);
	if (served != CTL_DONE && stored) {
		json_decref(list);
		if (stored == CTL_ASK_GRAIND)
			return ctl__fail(ctl, served, "%s", why);
		if (served == CTL_DENIED || stored != -ENOENT)
			return ctl__fail(ctl,
					 served == CTL_DENIED || stored == -EACCES ? CTL_DENIED : CTL_FAILED,
					 "%s; and the jobs in %.200s: %s", why, ctl->state_dir,
					 strerror(-stored));
		return ctl__fail(ctl, CTL_FAILED, "%s; and there are no jobs in %.200s", why, ctl->state_dir);
	}
	if (options.json) {
		json_t *all = json_pack("{s:O, s:o}", "jobs", list, "store", store_choice__json(ctl));

		error = all && !json_dumpf(all, stdout, JSON_COMPACT) ? 0 : -EIO;
		putchar('\n');
		json_decref(all);
	} else if (json_array_size(list)) {
		error = print_table(list);
	} else {
		puts(options.all ? "no jobs" : "no job runs; grainctl jobs --all lists the finished ones");
	}
	json_decref(list);
	return error ? ctl__fail(ctl, CTL_FAILED, "cannot write the list: %s", strerror(-error)) : CTL_DONE;
}
