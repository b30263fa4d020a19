// SPDX-License-Identifier: BSD-2-Clause
/*
 * Written by hand: Debian has no C library that writes OpenMetrics. Tests parse the output with Prometheus'
 * own parser.
 */
#include "daemon/graind/metrics/metrics.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/worker/runtime_finders.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/common/programs/version.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Series of a job, running or not: those of `told`, its problems, what it is and how it is recorded. Lost
 * events are divided by cause only for the whole node.
 */
#define MEASURES 14
#define SINGLE 2
#define NODE_SERIES 55
_Static_assert(MEASURES + JOB_PROBLEMS + SINGLE <= METRICS_JOB_MAX, "series of a job");
_Static_assert(NODE_SERIES + JOB_TOTALS_ENDED * (MEASURES + JOB_PROBLEMS + SINGLE) <= METRICS_NODE_MAX,
	       "series of a node");

static const char *const refusal_names[REFUSALS] = {
	[REFUSED_DENIED] = "denied",	     [REFUSED_GONE] = "no_process", [REFUSED_BUSY] = "busy",
	[REFUSED_UNSUITABLE] = "unsuitable", [REFUSED_OTHER] = "other",
};

static const char *const deletion_names[DELETIONS] = {
	[DELETED_AGE] = "age", [DELETED_BYTES] = "bytes", [DELETED_QUOTA] = "quota"};

enum { MODES = 3 };
static const char *const mode_names[MODES] = {"all", "windows", "samples"};

/* Jobs that have not ended, by state. Jobs with a ceiling are also counted by how they are recorded. */
struct running {
	size_t states[JOB_FAILED + 1], modes[MODES];
};

/*
 * Writes text in a label: UTF-8 with three characters escaped. File names may contain other bytes, which
 * are not text.
 */
static void put_text(FILE *out, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '\\' || *c == '"')
			fprintf(out, "\\%c", *c);
		else
			putc(*c < ' ' || *c >= 0x7f ? '?' : *c, out);
	}
}

static void head(FILE *out, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

static void node(FILE *out, const char *name, const char *type, const char *help, double value)
{
	head(out, name, type, NULL, help);
	fprintf(out, "%s%s %.17g\n", name, !strcmp(type, "counter") ? "_total" : "", value);
}

static double job_grains(const struct job_figures *job)
{
	return (double)job->grains;
}

static double job_events(const struct job_figures *job)
{
	return (double)job->events;
}

static double job_lost(const struct job_figures *job)
{
	return (double)job->lost;
}

static double job_threads(const struct job_figures *job)
{
	return job->threads;
}

static double job_runs(const struct job_figures *job)
{
	return job->ended_ns == 0;
}

static double job_rate(const struct job_figures *job)
{
	return job->events_per_s;
}

static double job_overhead(const struct job_figures *job)
{
	return job->overhead_percent / 100;
}

static double job_parallelism(const struct job_figures *job)
{
	return job->measures.average_parallelism;
}

static double job_preempted(const struct job_figures *job)
{
	return isfinite(job->measures.preempted_share) ? job->measures.preempted_share
						       : job->live.preempted_share;
}

static double job_busy(const struct job_figures *job)
{
	return job->live.busy_threads;
}

static double job_recorded(const struct job_figures *job)
{
	return job->ceiling.percent > 0 || job->ceiling.windows ? job->ceiling.recorded_percent / 100 : 1;
}

static double job_ceiling(const struct job_figures *job)
{
	return job->ceiling.percent > 0 ? job->ceiling.percent / 100 : NAN;
}

static double job_ceiling_cost(const struct job_figures *job)
{
	return job->ceiling.percent > 0 ? job->ceiling.cost_percent / 100 : NAN;
}

static double job_lost_share(const struct job_figures *job)
{
	return job_account__lost_share(&job->account);
}

/* NAN values are left out. */
static const struct {
	const char *name, *type, *help;
	double (*value)(const struct job_figures *job);
} told[] = {
	{"graind_job_running", "gauge", "1 while the job records, 0 for a while after it.", job_runs},
	{"graind_job_threads", "gauge", "Threads of the largest team so far.", job_threads},
	{"graind_job_grains", "counter", "Tasks and loop chunks.", job_grains},
	{"graind_job_events", "counter", "Events that were recorded.", job_events},
	{"graind_job_lost_events", "counter", "Events that were lost.", job_lost},
	{"graind_job_events_per_second", "gauge", "Events recorded in the last second.", job_rate},
	{"graind_job_overhead_ratio", "gauge",
	 "Part of the program's time on CPUs that recording took, estimated.", job_overhead},
	{"graind_job_average_parallelism", "gauge",
	 "Work divided by span; of a job that runs, of the part that was looked at last.", job_parallelism},
	{"graind_job_preempted_ratio", "gauge",
	 "Part of its threads' time in which they were preempted, so far.", job_preempted},
	{"graind_job_busy_threads", "gauge",
	 "Threads that executed the program's code, on average so far; average parallelism is at least that.",
	 job_busy},
	{"graind_job_recorded_ratio", "gauge",
	 "Part of the time in which it was recorded, so far; 1 unless a ceiling has it recorded in windows.",
	 job_recorded},
	{"graind_job_ceiling_ratio", "gauge",
	 "Part of its time that recording may take, of jobs that have a ceiling.", job_ceiling},
	{"graind_job_ceiling_cost_ratio", "gauge",
	 "Part of its time that recording took so far, as the ceiling reckons it.", job_ceiling_cost},
	{"graind_job_lost_ratio", "gauge",
	 "Part of threads x wall time that was no work, by the account; of a job that has ended.",
	 job_lost_share},
};
_Static_assert(sizeof(told) / sizeof(told[0]) == MEASURES, "a job's series");

struct list {
	struct job_figures *jobs;
	size_t count;
};

static void put_jobs(FILE *out, const struct list *list)
{
	head(out, "graind_job", "info", NULL, "Whose the job is and what it runs.");
	for (size_t i = 0; i < list->count; i++) {
		fprintf(out, "graind_job_info{job=\"%llu\",user=\"",
			(unsigned long long)list->jobs[i].number);
		put_text(out, list->jobs[i].user);
		fputs("\",command=\"", out);
		put_text(out, list->jobs[i].command);
		fputs("\",runtime=\"", out);
		put_text(out, list->jobs[i].runtime);
		fputs("\"} 1\n", out);
	}
	head(out, "graind_job_ceiling_mode", "gauge", NULL,
	     "1: how a job with a ceiling is recorded now, all, windows, or samples only.");
	for (size_t i = 0; i < list->count; i++)
		if (list->jobs[i].ceiling.percent > 0)
			fprintf(out, "graind_job_ceiling_mode{job=\"%llu\",mode=\"%s\"} 1\n",
				(unsigned long long)list->jobs[i].number, list->jobs[i].ceiling.mode);
	for (size_t m = 0; m < MEASURES; m++) {
		bool counts = !strcmp(told[m].type, "counter");

		head(out, told[m].name, told[m].type, NULL, told[m].help);
		for (size_t i = 0; i < list->count; i++) {
			double value = told[m].value(&list->jobs[i]);

			if (isfinite(value))
				fprintf(out, "%s%s{job=\"%llu\"} %.17g\n", told[m].name,
					counts ? "_total" : "", (unsigned long long)list->jobs[i].number,
					value);
		}
	}
	head(out, "graind_job_problem_ratio", "gauge", NULL,
	     "Part of the grains that have the problem; of a job that runs, of the part that was looked at "
	     "last.");
	for (size_t i = 0; i < list->count; i++) {
		const struct job_measures *measures = &list->jobs[i].measures;

		for (size_t k = 0; k < measures->problem_count; k++) {
			fprintf(out, "graind_job_problem_ratio{job=\"%llu\",problem=\"",
				(unsigned long long)list->jobs[i].number);
			put_text(out, measures->problems[k].name);
			fprintf(out, "\"} %.17g\n", measures->problems[k].share);
		}
	}
}

/* Returns the memory of graind itself. */
static double resident_bytes(void)
{
	unsigned long long whole, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return NAN;
	if (fscanf(file, "%llu %llu", &whole, &resident) != 2)
		resident = 0;
	fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	double count = -3; /* the count starts below 0 for ".", ".." and the directory itself */

	if (!directory)
		return NAN;
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static double cpu_seconds(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Writes the ceilings of the settings; 0: there is none. */
static void put_ceilings(FILE *out, const struct running *running)
{
	struct policy_limits limits;

	policy__limits(&limits);
	head(out, "graind_ceiling_ratio", "gauge", NULL,
	     "Part of a process' and of the machine's CPU time that recording may take; 0: there is no "
	     "limit.");
	fprintf(out, "graind_ceiling_ratio{of=\"process\"} %.17g\n", limits.process_ceiling_percent / 100);
	fprintf(out, "graind_ceiling_ratio{of=\"host\"} %.17g\n", limits.host_ceiling_percent / 100);
	head(out, "graind_jobs_ceiling", "gauge", NULL, "Jobs that run and have a ceiling.");
	for (size_t i = 0; i < MODES; i++)
		fprintf(out, "graind_jobs_ceiling{mode=\"%s\"} %zu\n", mode_names[i], running->modes[i]);
}

/* Writes where the time of ended jobs went. */
static void put_account(FILE *out, const struct job_account *account)
{
	head(out, "graind_job_core_seconds", "counter", "seconds",
	     "Threads x wall time of ended jobs that have an account, at most that of the cores.");
	fprintf(out, "graind_job_core_seconds_total %.17g\n", account->core_s);
	head(out, "graind_job_lost_core_seconds", "counter", "seconds",
	     "The part of it that was no work, by cause.");
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		if (grain_cause__lost((enum grain_cause)i))
			fprintf(out, "graind_job_lost_core_seconds_total{cause=\"%s\"} %.17g\n",
				grain_cause__name((enum grain_cause)i), account->cause_s[i]);
}

static void put_node(FILE *out, const struct job_totals *m, const struct running *running)
{
	head(out, "graind_build", "info", NULL, "The version.");
	fprintf(out, "graind_build_info{version=\"" GRAIND_VERSION "\"} 1\n");
	head(out, "graind_jobs", "gauge", NULL, "Jobs that have not ended.");
	for (enum job_state state = JOB_WAITING; state <= JOB_FINISHING; state++)
		fprintf(out, "graind_jobs{state=\"%s\"} %zu\n", job_state__name(state),
			running->states[state]);
	node(out, "graind_jobs_started", "counter", "Jobs that began.", (double)m->started);
	head(out, "graind_jobs_ended", "counter", NULL, "Jobs that ended.");
	fprintf(out, "graind_jobs_ended_total{state=\"finished\"} %llu\n", (unsigned long long)m->finished);
	fprintf(out, "graind_jobs_ended_total{state=\"failed\"} %llu\n", (unsigned long long)m->failed);
	head(out, "graind_attach_refused", "counter", NULL, "Jobs that were asked for and did not begin.");
	for (size_t i = 0; i < REFUSALS; i++)
		fprintf(out, "graind_attach_refused_total{reason=\"%s\"} %llu\n", refusal_names[i],
			(unsigned long long)m->refused[i]);
	head(out, "graind_jobs_deleted", "counter", NULL, "Finished jobs that the policy did not keep.");
	for (size_t i = 0; i < DELETIONS; i++)
		fprintf(out, "graind_jobs_deleted_total{reason=\"%s\"} %llu\n", deletion_names[i],
			(unsigned long long)m->deleted[i]);
	node(out, "graind_jobs_over_quota", "counter",
	     "Jobs whose recording ended because their user's jobs took too much.",
	     (double)m->ended_by_quota);
	node(out, "graind_unsearched_files", "counter",
	     "Files in which no OpenMP runtime was looked for, as looking into them failed or took too long.",
	     (double)runtime_finders__failed());
	node(out, "graind_grains", "counter", "Tasks and loop chunks of all jobs.", (double)m->grains);
	node(out, "graind_events", "counter", "Events of all jobs.", (double)m->events);
	head(out, "graind_lost_events", "counter", NULL, "Events of all jobs that were lost.");
	for (enum job_loss i = 0; i < LOST_CAUSES; i++)
		fprintf(out, "graind_lost_events_total{cause=\"%s\"} %llu\n", job_loss__name(i),
			(unsigned long long)m->lost[i]);
	put_account(out, &m->account);
	head(out, "graind_cpu_seconds", "counter", "seconds", "CPU time of graind and of its workers.");
	fprintf(out, "graind_cpu_seconds_total{of=\"graind\"} %.17g\n", cpu_seconds(RUSAGE_SELF));
	fprintf(out, "graind_cpu_seconds_total{of=\"workers\"} %.17g\n", cpu_seconds(RUSAGE_CHILDREN));
	head(out, "graind_resident_memory_bytes", "gauge", "bytes", "Memory of graind.");
	fprintf(out, "graind_resident_memory_bytes %.17g\n", resident_bytes());
	node(out, "graind_open_files", "gauge", "File descriptors of graind.", open_files());
	put_ceilings(out, running);
}

/* Copies the data, so that a slow reader makes nobody wait. */
static int collect(struct jobs *jobs, uid_t peer, struct list *list, struct job_totals *totals,
		   struct running *running)
{
	uint64_t now = clock__now_ns();

	pthread_mutex_lock(&jobs->lock);
	*totals = jobs->totals;
	list->jobs = calloc(jobs->count + JOB_TOTALS_ENDED, sizeof(*list->jobs));
	for (const struct job *job = jobs->first; job && list->jobs; job = job->next) {
		if (job->view.state == JOB_STARTING)
			continue;
		running->states[job->view.state]++;
		for (size_t i = 0; i < MODES && job->view.ceiling.percent > 0; i++)
			running->modes[i] += !strcmp(job->view.ceiling.mode, mode_names[i]);
		job_totals__add(totals, &job->view);
		if (peer == 0 || job->view.uid == peer)
			job_figures__take(&list->jobs[list->count++], &job->view);
	}
	pthread_mutex_unlock(&jobs->lock);
	for (size_t i = 0; i < JOB_TOTALS_ENDED && list->jobs; i++) {
		const struct job_figures *job = &totals->ended[i];

		if (job->number && now - job->ended_ns < JOB_TOTALS_ENDED_NS &&
		    (peer == 0 || job->uid == peer))
			list->jobs[list->count++] = *job;
	}
	return list->jobs ? 0 : -1;
}

char *metrics__text(struct jobs *jobs, uid_t peer)
{
	struct running running = {0};
	size_t size;
	struct list list = {0};
	struct job_totals totals;
	char *text = NULL;
	FILE *out;

	if (collect(jobs, peer, &list, &totals, &running) != 0)
		return NULL;
	out = open_memstream(&text, &size);
	if (out) {
		put_node(out, &totals, &running);
		put_jobs(out, &list);
		fputs("# EOF\n", out);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	free(list.jobs);
	return text;
}
