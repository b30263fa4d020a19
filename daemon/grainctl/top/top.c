/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/top/top.h"
#include "daemon/grainctl/client/jobs_list.h"
#include "daemon/grainctl/client/server.h"
#include "daemon/grainctl/top/top_threads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The screen must not stand still for longer than this. */
#define SILENCE_SECS 5
/* A job is idle if it uses less than this part of the CPU time that its threads could use. */
#define IDLE_PART 0.5

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Sums all samples of a name in OpenMetrics text, with any labels. NAN: there are none. */
static double sample(const char *text, const char *name)
{
	size_t length = strlen(name);
	double sum = NAN;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) || !strchr(" {", line[length]))
			continue;
		sum = (isnan(sum) ? 0 : sum) + strtod(line + strcspn(line, " \n"), NULL);
	}
	return sum;
}

static void ask_graind(const struct ctl *ctl, struct top_graind *out)
{
	const char *version;
	char *text = NULL;
	json_t *status;

	*out = (struct top_graind){.cpu_seconds = NAN,
				   .worker_seconds = NAN,
				   .memory = NAN,
				   .lost = NAN,
				   .cpu_percent = NAN,
				   .worker_percent = NAN};
	if (server__text(ctl->socket, "/v1/status", SILENCE_SECS, &text, out->why) != CTL_DONE)
		return;
	status = json_loads(text, 0, NULL);
	free(text);
	text = NULL;
	version = json_string_value(json_object_get(status, "version"));
	snprintf(out->version, sizeof(out->version), "%s", version ? version : "");
	json_decref(status);
	if (!out->version[0]) {
		snprintf(out->why, sizeof(out->why), "what listens at %.200s is not graind", ctl->socket);
		return;
	}
	out->answers = true;
	if (server__text(ctl->socket, "/metrics", SILENCE_SECS, &text, out->why) == CTL_DONE) {
		out->cpu_seconds = sample(text, "graind_cpu_seconds_total{of=\"graind\"}");
		out->worker_seconds = sample(text, "graind_cpu_seconds_total{of=\"workers\"}");
		out->memory = sample(text, "graind_resident_memory_bytes");
		out->lost = sample(text, "graind_lost_events_total");
	}
	free(text);
}

static struct top_job *find(const struct top *top, uint64_t number)
{
	for (size_t i = 0; i < top->count; i++) {
		if (top->jobs[i].job.number == number)
			return &top->jobs[i];
	}
	return NULL;
}

/* Lists the jobs. For jobs that have ended since the last update, tells how they ended. */
static json_t *list_jobs(const struct ctl *ctl, const struct top *before, bool served)
{
	json_t *list = json_array();
	size_t ended = 0;
	char why[512];

	if (served)
		jobs_list__add_served(ctl, false, list, why);
	else
		jobs_list__add_stored(ctl, false, list);
	for (size_t i = before->count; i-- > 0 && ended < TOP_ENDED;) {
		const struct top_job *old = &before->jobs[i];
		bool listed = false;
		char socket[108];
		json_t *json = NULL;
		struct job now;

		for (size_t k = 0; k < json_array_size(list) && !listed; k++)
			listed = job__parse(json_array_get(list, k), &now) && now.number == old->job.number;
		if (listed)
			continue;
		if (job__is_over(&old->job))
			json = json_incref(old->json);
		else if (job__find(ctl, old->job.number, &json, socket, why) != CTL_DONE)
			continue;
		json_array_append_new(list, json);
		ended++;
	}
	return list;
}

static void judge(struct top_job *job)
{
	double ran = 0, waited = 0;

	for (size_t i = 0; i < job->thread_count; i++) {
		if (isfinite(job->threads[i].cpu_percent)) {
			ran += job->threads[i].cpu_percent;
			waited += job->threads[i].wait_percent;
		}
	}
	job->live[0] = 0;
	if (job->job.lost)
		strcat(job->live, ",lost events");
	if (waited > 10 && waited > ran / 10)
		strcat(job->live, ",preempted");
	if (job->job.threads > 1 && isfinite(job->cpus) && job->cpus < (double)job->job.threads * IDLE_PART)
		strcat(job->live, ",idle threads");
	memmove(job->live, job->live + (job->live[0] != 0), strlen(job->live) + (job->live[0] == 0));
}

static void fill(struct top_job *out, json_t *json, const struct top *before, double seconds,
		 bool with_threads)
{
	const struct top_job *old = find(before, out->job.number);
	bool over = job__is_over(&out->job);

	out->json = json_incref(json);
	out->grains_per_s = out->cpus = NAN;
	if (over)
		return;
	out->ran_ns = top_threads__process_ns(out->job.pid);
	if (old && seconds > 0) {
		if (out->job.grains >= old->job.grains)
			out->grains_per_s = (double)(out->job.grains - old->job.grains) / seconds;
		if (out->ran_ns >= old->ran_ns && old->ran_ns)
			out->cpus = (double)(out->ran_ns - old->ran_ns) / 1e9 / seconds;
	}
	if (with_threads && top_threads__read(out->job.pid, &out->threads, &out->thread_count) == 0 && old)
		top_threads__rate(out->threads, out->thread_count, old->threads, old->thread_count, seconds);
	judge(out);
}

int top__look(const struct ctl *ctl, struct top *top, uint64_t chosen)
{
	struct top now = {.now_ns = now_ns()};
	double seconds = top->now_ns ? (double)(now.now_ns - top->now_ns) / 1e9 : 0;
	size_t threads = 0;
	json_t *list;

	ask_graind(ctl, &now.graind);
	if (seconds > 0) {
		now.graind.cpu_percent = (now.graind.cpu_seconds - top->graind.cpu_seconds) / seconds * 100;
		now.graind.worker_percent =
			(now.graind.worker_seconds - top->graind.worker_seconds) / seconds * 100;
	}
	list = list_jobs(ctl, top, now.graind.answers);
	now.jobs = calloc(json_array_size(list) + 1, sizeof(*now.jobs));
	for (size_t i = 0; now.jobs && i < json_array_size(list); i++) {
		json_t *json = json_array_get(list, i);

		if (!job__parse(json, &now.jobs[now.count].job))
			continue;
		fill(&now.jobs[now.count], json, top, seconds,
		     threads < TOP_THREADS || now.jobs[now.count].job.number == chosen);
		threads += now.jobs[now.count++].thread_count;
	}
	json_decref(list);
	if (!now.jobs)
		return -ENOMEM;
	top__free(top);
	*top = now;
	return 0;
}

void top__free(struct top *top)
{
	for (size_t i = 0; i < top->count; i++) {
		json_decref(top->jobs[i].json);
		free(top->jobs[i].threads);
	}
	free(top->jobs);
	*top = (struct top){0};
}

static int by_number(const void *a, const void *b)
{
	const struct top_job *left = a, *right = b;

	return left->job.number < right->job.number ? -1 : left->job.number > right->job.number;
}

static int by_user(const void *a, const void *b)
{
	int order = strcmp(((const struct top_job *)a)->job.user, ((const struct top_job *)b)->job.user);

	return order ? order : by_number(a, b);
}

static int by_command(const void *a, const void *b)
{
	int order = strcmp(job__command(&((const struct top_job *)a)->job),
			   job__command(&((const struct top_job *)b)->job));

	return order ? order : by_number(a, b);
}

/* Sorts the largest value first and unknown values last. */
static int by_value(double left, double right, const void *a, const void *b)
{
	left = isfinite(left) ? left : -1;
	right = isfinite(right) ? right : -1;
	return left > right ? -1 : left < right ? 1 : by_number(a, b);
}

static int by_grains(const void *a, const void *b)
{
	return by_value(((const struct top_job *)a)->grains_per_s, ((const struct top_job *)b)->grains_per_s,
			a, b);
}

static int by_events(const void *a, const void *b)
{
	return by_value(((const struct top_job *)a)->job.events_per_s,
			((const struct top_job *)b)->job.events_per_s, a, b);
}

static int by_cost(const void *a, const void *b)
{
	return by_value(((const struct top_job *)a)->job.overhead_percent,
			((const struct top_job *)b)->job.overhead_percent, a, b);
}

static const struct {
	const char *name;
	int (*compare)(const void *a, const void *b);
} orders[TOP_ORDERS] = {
	[TOP_BY_NUMBER] = {"job", by_number},	    [TOP_BY_USER] = {"user", by_user},
	[TOP_BY_COMMAND] = {"command", by_command}, [TOP_BY_GRAINS] = {"grains", by_grains},
	[TOP_BY_EVENTS] = {"events", by_events},    [TOP_BY_COST] = {"overhead", by_cost},
};

const char *top_order__name(enum top_order order)
{
	return orders[order].name;
}

void top__sort(struct top *top, enum top_order order, bool reverse)
{
	qsort(top->jobs, top->count, sizeof(*top->jobs), orders[order].compare);
	for (size_t i = 0; reverse && i < top->count / 2; i++) {
		struct top_job other = top->jobs[i];

		top->jobs[i] = top->jobs[top->count - 1 - i];
		top->jobs[top->count - 1 - i] = other;
	}
}
