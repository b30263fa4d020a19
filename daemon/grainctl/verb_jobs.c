/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl jobs: one line a job, of graind's and of those in the state directory. */
#include "daemon/grainctl/job.h"
#include "daemon/grainctl/server.h"
#include "daemon/grainctl/table.h"
#include "daemon/grainctl/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static bool wanted(const json_t *json, bool all)
{
	struct job job;

	return job__parse(json, &job) && (all || !job__is_over(&job));
}

static bool known(const json_t *list, uint64_t number)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if ((uint64_t)json_integer_value(json_object_get(json_array_get(list, i), "job")) == number)
			return true;
	}
	return false;
}

/* Those of the graind at ctl->socket. */
static enum ctl_exit add_served(const struct ctl *ctl, bool all, json_t *list, char *why)
{
	json_t *answer = NULL;
	enum ctl_exit result = server__call(ctl->socket, "GET", all ? "/v1/jobs?all=1" : "/v1/jobs", NULL,
					    &answer, NULL, why);
	json_t *served = json_object_get(answer, "jobs");

	for (size_t i = 0; i < json_array_size(served); i++) {
		json_t *job = json_array_get(served, i);

		if (wanted(job, all))
			json_array_append(list, job);
	}
	json_decref(answer);
	return result;
}

/* Those that only the state directory knows: finished, or of a private graind. */
static int add_stored(const struct ctl *ctl, bool all, json_t *list)
{
	uint64_t *numbers = NULL;
	size_t count = 0;
	int error = ctl->store ? job_store__list(ctl->store, &numbers, &count) : ctl->store_error;

	for (size_t i = 0; i < count; i++) {
		char socket[108], why[512];
		json_t *json = NULL;

		if (known(list, numbers[i]))
			continue;
		/* Other users' jobs are not readable, and not for this list. */
		if (job_store__read(ctl->store, numbers[i], &json))
			continue;
		if (wanted(json, false)) {
			json_decref(json);
			json = NULL;
			if (job__find(ctl, numbers[i], &json, socket, why) != CTL_DONE)
				continue;
		}
		if (wanted(json, all))
			json_array_append(list, json);
		json_decref(json);
	}
	free(numbers);
	return error;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct job *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

/* "parallel_benefit" is said in one word where lines are short. */
static void shorten(char *problems)
{
	static const char *const endings[] = {"parallel_", "instantaneous_", "memory_hierarchy_", "load_",
					      "work_"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		char *found;

		while ((found = strstr(problems, endings[i]))) {
			size_t length = strlen(endings[i]);

			memmove(found, found + length, strlen(found + length) + 1);
		}
	}
}

/* The command line, its program without the directory. */
static const char *command_of(const struct job *job)
{
	const char *command = job->cmd[0] ? job->cmd : job->exe, *name = command;

	for (const char *c = command; *c && *c != ' '; c++) {
		if (*c == '/')
			name = c + 1;
	}
	return *name ? name : command;
}

static uint64_t ran_for(const struct job *job)
{
	struct timespec time;
	uint64_t end = job->end_ns;

	if (!job__is_over(job)) {
		clock_gettime(CLOCK_MONOTONIC, &time);
		end = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	}
	return end > job->start_ns ? end - job->start_ns : 0;
}

static int add_row(struct table *table, struct job *job)
{
	char number[24], pid[24], time[24], threads[24], grains[24], rate[24] = "-", overhead[24] = "-";

	snprintf(number, sizeof(number), "%llu", (unsigned long long)job->number);
	snprintf(pid, sizeof(pid), "%lld", (long long)job->pid);
	text__duration(time, sizeof(time), ran_for(job));
	snprintf(threads, sizeof(threads), "%llu", (unsigned long long)job->threads);
	text__count(grains, sizeof(grains), (double)job->grains);
	if (job->events_per_s >= 0)
		text__count(rate, sizeof(rate), job->events_per_s);
	if (job->overhead_percent >= 0)
		snprintf(overhead, sizeof(overhead), job->overhead_percent < 9.95 ? "%.1f%%" : "%.0f%%",
			 job->overhead_percent);
	shorten(job->problems);
	return table__add(table, (const char *const[]){number, job->user[0] ? job->user : "-",
						       job->pid > 0 ? pid : "-", command_of(job), job->state,
						       time, job->threads ? threads : "-", grains, rate,
						       overhead, job->problems[0] ? job->problems : "-"});
}

static int print_table(const json_t *list)
{
	static const struct table_column columns[] = {
		{"JOB", true, 0},    {"USER", false, 6}, {"PID", true, 0},	 {"COMMAND", false, 8},
		{"STATE", false, 0}, {"TIME", true, 0},	 {"THR", true, 0},	 {"GRAINS", true, 0},
		{"EV/S", true, 0},   {"OVERH", true, 0}, {"PROBLEMS", false, 8},
	};
	size_t count = json_array_size(list);
	struct table *table = table__new(columns, sizeof(columns) / sizeof(columns[0]));
	struct job *jobs = calloc(count ? count : 1, sizeof(*jobs));
	int error = table && jobs ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < count; i++)
		job__parse(json_array_get(list, i), &jobs[i]);
	if (!error)
		qsort(jobs, count, sizeof(*jobs), compare_jobs);
	for (size_t i = 0; !error && i < count; i++)
		error = add_row(table, &jobs[i]);
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
					 "command, state, time observed, "
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
	served = add_served(ctl, options.all, list, why);
	stored = add_stored(ctl, options.all, list);
	if (served != CTL_DONE && stored) {
		json_decref(list);
		if (served == CTL_DENIED || stored != -ENOENT)
			return ctl__fail(ctl,
					 served == CTL_DENIED || stored == -EACCES ? CTL_DENIED : CTL_FAILED,
					 "%s; and the jobs in %.200s: %s", why, ctl->state_dir,
					 strerror(-stored));
		return ctl__fail(ctl, CTL_FAILED, "%s; and there are no jobs in %.200s", why, ctl->state_dir);
	}
	if (options.json) {
		json_t *all = json_pack("{s:O}", "jobs", list);

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
