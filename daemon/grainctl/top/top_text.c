/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what `top` shows, as lines of text and as JSON. */
#include "daemon/grainctl/terminal/table.h"
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/top/top.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* With fewer columns, the least important columns are left out. */
#define WIDE 100

static void put_count(char *out, size_t size, double value)
{
	if (isfinite(value) && value >= 0)
		text__count(out, size, value);
	else
		snprintf(out, size, "-");
}

static void put_percent(char *out, size_t size, double value)
{
	if (isfinite(value))
		snprintf(out, size, value < 9.95 ? "%.1f%%" : "%.0f%%", value);
	else
		snprintf(out, size, "-");
}

void top__print_graind(const struct top *top, char lines[2][512])
{
	const struct top_graind *graind = &top->graind;
	size_t running = 0, waiting = 0;
	double events = 0;
	char rate[24], lost[24], cpu[24], workers[24];

	for (size_t i = 0; i < top->count; i++) {
		const struct job *job = &top->jobs[i].job;

		running += !strcmp(job->state, "running");
		waiting += !strcmp(job->state, "waiting");
		if (!job__is_over(job) && job->events_per_s > 0)
			events += job->events_per_s;
	}
	put_count(rate, sizeof(rate), events);
	put_count(lost, sizeof(lost), graind->lost);
	if (!graind->answers) {
		text__clean(lines[0], 512, graind->why);
		snprintf(lines[1], 512,
			 top->count ? "jobs of private ones, in the state directory:" : "no job runs");
		return;
	}
	snprintf(lines[0], 512, "graind %s: %zu running, %zu waiting, %s events/s, %s lost", graind->version,
		 running, waiting, rate, lost);
	put_percent(cpu, sizeof(cpu), graind->cpu_percent);
	put_percent(workers, sizeof(workers), graind->worker_percent);
	snprintf(lines[1], 512, "its own cost: %s of a CPU, its workers %s, memory %.0f MB", cpu, workers,
		 isfinite(graind->memory) ? graind->memory / 1e6 : 0);
}

/*
 * Writes a job's problems. For a job that has ended these are the problems of its summary. For a running
 * job they are those that are visible already, and those of the part that was analysed last.
 */
static void put_problems(const struct top_job *job, char *out, size_t size)
{
	bool both = job->live[0] && job->job.problems[0];

	snprintf(out, size, "%s%s%s", job->live, both ? "," : "", job->job.problems);
	if (!out[0])
		snprintf(out, size, "%s", job->job.error[0] ? job->job.error : "-");
	job__shorten(out);
}

static int add_job(struct table *table, const struct top_job *row, bool wide)
{
	char number[24], pid[24], time[24], threads[24], cpus[24] = "-", parallelism[24] = "-", grains[24],
							 rate[24], overhead[24], lost[24];
	char problems[sizeof(row->live) + sizeof(row->job.problems)];
	const struct job *job = &row->job;
	bool over = job__is_over(job);

	snprintf(number, sizeof(number), "%llu", (unsigned long long)job->number);
	snprintf(pid, sizeof(pid), "%lld", (long long)job->pid);
	snprintf(threads, sizeof(threads), "%llu", (unsigned long long)job->threads);
	if (isfinite(row->cpus))
		snprintf(cpus, sizeof(cpus), "%.1f", row->cpus);
	if (isfinite(job->average_parallelism))
		snprintf(parallelism, sizeof(parallelism), "%.1f", job->average_parallelism);
	text__duration(time, sizeof(time), job__ran_for(job));
	put_count(grains, sizeof(grains), row->grains_per_s);
	put_count(rate, sizeof(rate), over ? NAN : job->events_per_s);
	put_percent(overhead, sizeof(overhead), job->overhead_percent);
	put_count(lost, sizeof(lost), (double)job->lost);
	put_problems(row, problems, sizeof(problems));
	if (wide)
		return table__add(table,
				  (const char *const[]){number, job->user[0] ? job->user : "-",
							job->pid > 0 ? pid : "-", job__command(job),
							job->state, time, job->threads ? threads : "-", cpus,
							parallelism, grains, rate, lost, overhead, problems});
	return table__add(table, (const char *const[]){number, job->user[0] ? job->user : "-",
						       job->pid > 0 ? pid : "-", job__command(job),
						       job->state, job->threads ? threads : "-", cpus, grains,
						       rate, overhead, problems});
}

int top__print_jobs(const struct top *top, unsigned width, FILE *out)
{
	static const struct table_column all[] = {
		{"JOB", true, 0},    {"USER", false, 4},     {"PID", true, 0},	{"COMMAND", false, 8},
		{"STATE", false, 4}, {"TIME", true, 0},	     {"THR", true, 0},	{"CPUS", true, 0},
		{"PAR", true, 0},    {"GRN/S", true, 0},     {"EV/S", true, 0}, {"LOST", true, 0},
		{"OVERH", true, 0},  {"PROBLEMS", false, 8},
	};
	static const struct table_column few[] = {
		{"JOB", true, 0},    {"USER", false, 4}, {"PID", true, 0},	 {"COMMAND", false, 8},
		{"STATE", false, 4}, {"THR", true, 0},	 {"CPUS", true, 0},	 {"GRN/S", true, 0},
		{"EV/S", true, 0},   {"OVERH", true, 0}, {"PROBLEMS", false, 8},
	};
	bool wide = width >= WIDE;
	struct table *table = wide ? table__new(all, sizeof(all) / sizeof(all[0]))
				   : table__new(few, sizeof(few) / sizeof(few[0]));
	int error = table ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < top->count; i++)
		error = add_job(table, &top->jobs[i], wide);
	if (!error)
		table__print(table, width, out);
	table__free(table);
	return error;
}

int top__print_threads(const struct top_job *job, unsigned width, FILE *out)
{
	static const struct table_column columns[] = {
		{"TID", true, 0},  {"NAME", false, 8}, {"STATE", false, 0},	 {"LAST CPU", true, 0},
		{"RUNS", true, 0}, {"WAITS", true, 0}, {"PREEMPTED/S", true, 0},
	};
	static const char *const states[] = {"Rready or runs", "Ssleeps", "Dwaits for I/O",
					     "Tstopped",       "ttraced", "Zgone"};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(columns[0]));
	int error = table ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < job->thread_count; i++) {
		const struct top_thread *thread = &job->threads[i];
		char tid[24], cpu[24], runs[24], waits[24], preempted[24];
		const char *state = "?";

		for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
			if (states[k][0] == thread->state)
				state = states[k] + 1;
		}
		snprintf(tid, sizeof(tid), "%d", thread->tid);
		snprintf(cpu, sizeof(cpu), "%d", thread->cpu);
		put_percent(runs, sizeof(runs), thread->cpu_percent);
		put_percent(waits, sizeof(waits), thread->wait_percent);
		put_count(preempted, sizeof(preempted), thread->preemptions_per_s);
		error = table__add(table, (const char *const[]){tid, thread->name, state, cpu, runs, waits,
								preempted});
	}
	if (!error)
		table__print(table, width, out);
	table__free(table);
	return error;
}

void top__print_problems(const struct top_job *job, char *out, size_t size)
{
	char text[256];

	if (job->job.error[0])
		snprintf(text, sizeof(text), "%s", job->job.error);
	else if (job->job.problems[0] && !job__is_over(&job->job))
		snprintf(text, sizeof(text), "as it looks now: %.60s%s%.160s", job->live,
			 job->live[0] ? "," : "", job->job.problems);
	else if (job->job.problems[0])
		snprintf(text, sizeof(text), "problems: %.240s", job->job.problems);
	else if (job->live[0])
		snprintf(text, sizeof(text), "as it looks now: %.200s", job->live);
	else
		text[0] = 0;
	text__clean(out, size, text);
}

void top__describe(const struct top_job *row, char *out, size_t size)
{
	const struct job *job = &row->job;
	char time[24], grains[24], lost[24], text[1024];

	text__duration(time, sizeof(time), job__ran_for(job));
	put_count(grains, sizeof(grains), (double)job->grains);
	put_count(lost, sizeof(lost), (double)job->lost);
	if (job__is_over(job))
		snprintf(text, sizeof(text), "job %llu %s after %s: %s grains; grainctl summary %llu",
			 (unsigned long long)job->number, job->state, time, grains,
			 (unsigned long long)job->number);
	else
		snprintf(text, sizeof(text), "job %llu for %s: %s grains, %s lost, %s; %.400s",
			 (unsigned long long)job->number, time, grains, lost,
			 job->runtime[0] ? job->runtime : "no runtime yet", job__command(job));
	text__clean(out, size, text);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *threads_json(const struct top_job *job)
{
	json_t *list = json_array();

	for (size_t i = 0; i < job->thread_count; i++) {
		const struct top_thread *thread = &job->threads[i];
		char name[sizeof(thread->name)], state[2] = {thread->state, 0};

		text__clean(name, sizeof(name), thread->name);
		json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:i, s:o, s:o, s:o}", "tid",
						      thread->tid, "name", name, "state", state, "cpu",
						      thread->cpu, "cpu_percent", real(thread->cpu_percent),
						      "wait_percent", real(thread->wait_percent),
						      "preempted_per_s", real(thread->preemptions_per_s)));
	}
	return list;
}

json_t *top__json(const struct top *top)
{
	const struct top_graind *graind = &top->graind;
	json_t *jobs = json_array();
	char why[sizeof(graind->why)];

	text__clean(why, sizeof(why), graind->answers ? "" : graind->why);
	for (size_t i = 0; i < top->count; i++) {
		json_t *job = json_copy(top->jobs[i].json);

		json_object_set_new(job, "grains_per_s", real(top->jobs[i].grains_per_s));
		json_object_set_new(job, "cpus", real(top->jobs[i].cpus));
		json_object_set_new(job, "seems", json_string(top->jobs[i].live));
		json_object_set_new(job, "thread_list", threads_json(&top->jobs[i]));
		json_array_append_new(jobs, job);
	}
	return json_pack("{s:{s:b, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}, s:o}", "graind", "answers",
			 graind->answers, "error", why, "version", graind->version, "cpu_seconds",
			 real(graind->cpu_seconds), "worker_cpu_seconds", real(graind->worker_seconds),
			 "cpu_percent", real(graind->cpu_percent), "worker_cpu_percent",
			 real(graind->worker_percent), "memory_bytes", real(graind->memory), "lost_events",
			 real(graind->lost), "jobs", jobs);
}
