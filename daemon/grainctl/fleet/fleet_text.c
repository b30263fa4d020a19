/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/fleet/fleet.h"
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/terminal/table.h"
#include "daemon/grainctl/terminal/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The largest number of problems of a job that one line names. */
#define NAMED 3

static void put_count(char *out, size_t size, double value)
{
	if (isfinite(value))
		text__count(out, size, value);
	else
		snprintf(out, size, "-");
}

static void put_real(char *out, size_t size, int digits, double value, const char *unit)
{
	if (isfinite(value))
		snprintf(out, size, "%.*f%s", digits, value, unit);
	else
		snprintf(out, size, "-");
}

static void put_age(char *out, size_t size, double now, double since)
{
	if (isfinite(since) && since <= now && now - since < 1e9)
		text__duration(out, size, (uint64_t)((now - since) * 1e9));
	else
		snprintf(out, size, "-");
}

static double lost_part(const struct fleet_node *node)
{
	double all = node->events_per_s + node->lost_per_s;

	return all > 0 ? node->lost_per_s / all : isfinite(all) ? 0 : NAN;
}

static int add_node(struct table *table, const struct fleet *fleet, const struct fleet_node *node)
{
	char state[64] = "up", jobs[24], events[24], lost[24], cpus[24], memory[24], since[24];

	put_age(since, sizeof(since), fleet->now, node->since);
	if (!node->up && since[0] != '-')
		snprintf(state, sizeof(state), "down for %s", since);
	else if (!node->up)
		snprintf(state, sizeof(state), "down");
	put_count(jobs, sizeof(jobs), node->jobs);
	put_count(events, sizeof(events), node->events_per_s);
	put_real(lost, sizeof(lost), 2, lost_part(node) * 100, "%");
	put_real(cpus, sizeof(cpus), 3, node->cpus, "");
	put_real(memory, sizeof(memory), 0, node->memory / 1e6, " MB");
	return table__add(table, (const char *const[]){node->name, state, jobs, events, lost, cpus, memory,
						       node->version[0] ? node->version : "-"});
}

static void name_problems(const struct fleet_job *job, char *out, size_t size)
{
	size_t used = 0;

	snprintf(out, size, "-");
	for (size_t i = 0; i < job->problem_count && i < NAMED && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s %.0f%%", i ? ", " : "",
					 job->problems[i].name, job->problems[i].share * 100);
	job__shorten(out);
}

static int add_job(struct table *table, const struct fleet *fleet, const struct fleet_job *job)
{
	char threads[24], parallelism[24], grains[24], overhead[24], since[24], problems[256];

	put_real(threads, sizeof(threads), 0, job->threads, "");
	put_real(parallelism, sizeof(parallelism), 1, job->parallelism, "");
	put_count(grains, sizeof(grains), job->grains_per_s);
	put_real(overhead, sizeof(overhead), 1, job->overhead * 100, "%");
	put_age(since, sizeof(since), fleet->now, job->since);
	name_problems(job, problems, sizeof(problems));
	return table__add(table, (const char *const[]){job->node, job->number, job->user, job->command,
						       job->running == 1 ? "runs" : "ended", threads,
						       parallelism, grains, overhead, since, problems});
}

static void say_more(FILE *out, size_t count, size_t shown, const char *what)
{
	if (count > shown)
		fprintf(out, "and %zu %s more; --all shows them\n", count - shown, what);
}

static int print_nodes(const struct fleet *fleet, size_t most, unsigned width, FILE *out)
{
	static const struct table_column columns[] = {
		{"NODE", false, 12}, {"STATE", false, 0}, {"JOBS", true, 0},   {"EV/S", true, 0},
		{"LOST", true, 0},   {"CPUS", true, 0},	  {"MEMORY", true, 0}, {"GRAIND", false, 0},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t shown = most && most < fleet->node_count ? most : fleet->node_count;
	int error = table ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < shown; i++)
		error = add_node(table, fleet, &fleet->nodes[i]);
	if (!error)
		table__print(table, width, out);
	table__free(table);
	say_more(out, fleet->node_count, shown, "nodes");
	return error;
}

static int print_jobs(const struct fleet *fleet, size_t most, unsigned width, FILE *out)
{
	static const struct table_column columns[] = {
		{"NODE", false, 8},  {"JOB", true, 0},	{"USER", false, 4},	{"COMMAND", false, 8},
		{"STATE", false, 0}, {"THR", true, 0},	{"PAR", true, 0},	{"GRN/S", true, 0},
		{"OVERH", true, 0},  {"SEEN", true, 0}, {"PROBLEMS", false, 8},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t shown = most && most < fleet->job_count ? most : fleet->job_count;
	int error = table ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < shown; i++)
		error = add_job(table, fleet, &fleet->jobs[i]);
	if (!error)
		table__print(table, width, out);
	table__free(table);
	say_more(out, fleet->job_count, shown, "jobs");
	return error;
}

int fleet__print(const struct fleet *fleet, const char *shown_url, size_t most, unsigned width, FILE *out)
{
	size_t down = 0, running = 0;
	double events = 0;
	char rate[24], url[256];
	int error;

	for (size_t i = 0; i < fleet->node_count; i++) {
		down += !fleet->nodes[i].up;
		if (isfinite(fleet->nodes[i].events_per_s))
			events += fleet->nodes[i].events_per_s;
	}
	for (size_t i = 0; i < fleet->job_count; i++)
		running += fleet->jobs[i].running == 1;
	text__count(rate, sizeof(rate), events);
	text__clean(url, sizeof(url), shown_url);
	fprintf(out, "%zu node%s, %zu down; %zu job%s, %s events/s; by %s\n\n", fleet->node_count,
		fleet->node_count == 1 ? "" : "s", down, running, running == 1 ? " runs" : "s run", rate,
		url);
	error = print_nodes(fleet, most, width, out);
	if (error || !fleet->job_count)
		return error;
	fputs("\nJobs that run or ended within ten minutes, worst first:\n", out);
	return print_jobs(fleet, most, width, out);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *node_json(const struct fleet_node *node)
{
	return json_pack("{s:s, s:b, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "node", node->name, "up", node->up,
			 "down_since", real(node->since), "version", node->version, "jobs", real(node->jobs),
			 "events_per_s", real(node->events_per_s), "lost_ratio", real(lost_part(node)),
			 "cpus", real(node->cpus), "memory_bytes", real(node->memory));
}

static json_t *job_json(const struct fleet_job *job)
{
	json_t *problems = json_array();

	for (size_t i = 0; i < job->problem_count; i++)
		json_array_append_new(problems, json_pack("{s:s, s:f}", "name", job->problems[i].name,
							  "share", job->problems[i].share));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "node", job->node, "job", job->number, "user", job->user, "command", job->command,
			 "runtime", job->runtime, "running", job->running == 1, "threads", real(job->threads),
			 "average_parallelism", real(job->parallelism), "preempted_ratio",
			 real(job->preempted), "grains_per_s", real(job->grains_per_s), "events_per_s",
			 real(job->events_per_s), "overhead_ratio", real(job->overhead), "lost_events",
			 real(job->lost), "seen_since", real(job->since), "problems", problems);
}

json_t *fleet__json(const struct fleet *fleet, const char *shown_url)
{
	json_t *nodes = json_array(), *jobs = json_array();

	for (size_t i = 0; i < fleet->node_count; i++)
		json_array_append_new(nodes, node_json(&fleet->nodes[i]));
	for (size_t i = 0; i < fleet->job_count; i++)
		json_array_append_new(jobs, job_json(&fleet->jobs[i]));
	return json_pack("{s:s, s:o, s:o}", "prometheus", shown_url, "nodes", nodes, "jobs", jobs);
}
