// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/jobs/job_view.h"
#include "daemon/graind/base/sums.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *job_state__name(enum job_state state)
{
	static const char *const names[] = {
		[JOB_STARTING] = "starting",   [JOB_WAITING] = "waiting",   [JOB_RUNNING] = "running",
		[JOB_FINISHING] = "finishing", [JOB_FINISHED] = "finished", [JOB_FAILED] = "failed",
	};

	return names[state];
}

const char *job_reason__name(enum job_reason reason)
{
	static const char *const names[] = {
		[JOB_GOES_ON] = "",	 [JOB_EXIT] = "exit",	      [JOB_EXEC] = "exec",
		[JOB_DETACH] = "detach", [JOB_DURATION] = "duration", [JOB_SHUTDOWN] = "shutdown",
		[JOB_QUOTA] = "quota",	 [JOB_OPTOUT] = "optout",
	};

	return names[reason];
}

const char *job_loss__name(enum job_loss loss)
{
	/*
	 * The names are the same as in the trace. Losses in libgrainshim are divided by cause only in the
	 * trace.
	 */
	static const char *const names[LOST_CAUSES] = {
		[LOST_RING_FULL] = "ring-full",	      [LOST_RING_OVERWRITTEN] = "ring-overwritten",
		[LOST_THREAD_STATE] = "thread-state", [LOST_UNKNOWN_BODIES] = "unknown-bodies",
		[LOST_NOT_WRITTEN] = "not-written",   [LOST_SHIM] = "shim",
	};

	return names[loss];
}

uint64_t job_view__lost(const struct job_view *view)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < LOST_CAUSES; i++)
		sum = sums__add(sum, view->lost[i]);
	return sum;
}

/* JSON must be UTF-8, but names of files and arguments need not be. */
static json_t *text(const char *value)
{
	json_t *string = json_string(value);
	char ascii[4096];
	size_t length = 0;

	if (string)
		return string;
	for (; value[length] && length < sizeof(ascii) - 1; length++)
		ascii[length] = (signed char)value[length] < 0 ? '?' : value[length];
	ascii[length] = 0;
	return json_string(ascii);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *ceiling(const struct job_ceiling *ceiling)
{
	if (!(ceiling->percent > 0) && !ceiling->windows)
		return json_null();
	return json_pack("{s:o, s:s, s:I, s:o, s:o}", "percent",
			 real(ceiling->percent > 0 ? ceiling->percent : NAN), "mode", ceiling->mode,
			 "windows", (json_int_t)ceiling->windows, "recorded_percent",
			 real(ceiling->recorded_percent), "cost_percent", real(ceiling->cost_percent));
}

/* Causes without losses are left out. */
static json_t *losses(const uint64_t lost[LOST_CAUSES])
{
	json_t *by = json_object();

	for (enum job_loss i = 0; i < LOST_CAUSES && by; i++)
		if (lost[i])
			json_object_set_new(by, job_loss__name(i), json_integer((json_int_t)lost[i]));
	return by;
}

json_t *job_view__json(const struct job_view *view)
{
	return json_pack(
		"{s:I, s:I, s:s, s:o, s:i, s:I, s:o, s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, "
		"s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o}",
		"job", (json_int_t)view->number, "parent_job", (json_int_t)view->parent, "state",
		job_state__name(view->state), "error", text(view->error), "pid", (int)view->pid, "uid",
		(json_int_t)view->uid, "user", text(view->user), "exe", text(view->exe), "cmd",
		text(view->cmd), "runtime", view->runtime, "method", view->method, "threads",
		(json_int_t)view->threads, "start_ns", (json_int_t)view->start_ns, "end_ns",
		(json_int_t)view->end_ns, "ended_s", (json_int_t)view->ended_s, "grains",
		(json_int_t)view->grains, "events", (json_int_t)view->events, "events_per_s",
		real(view->events_per_s), "lost", (json_int_t)job_view__lost(view), "lost_by",
		losses(view->lost), "overhead_percent", real(view->overhead_percent), "ns_per_event",
		real(view->ns_per_event), "busy_threads", real(view->live.busy_threads), "preempted_percent",
		real(100 * view->live.preempted_share), "average_parallelism",
		real(view->measures.average_parallelism), "ceiling", ceiling(&view->ceiling), "problems",
		view->problems ? json_deep_copy(view->problems) : json_array(), "notes",
		view->notes ? json_deep_copy(view->notes) : json_array(), "reason",
		job_reason__name(view->reason), "batch", view->batch, "mpi", mpi_rank__json(&view->mpi));
}

void job_view__name_user(struct job_view *view)
{
	struct passwd entry, *found = NULL;
	char buffer[4096];

	if (getpwuid_r(view->uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		snprintf(view->user, sizeof(view->user), "%.63s", found->pw_name);
	else
		snprintf(view->user, sizeof(view->user), "%u", (unsigned int)view->uid);
}

/* Returns the preempted time as a part of the lifetime of all threads. */
static double preempted_share(const json_t *threads)
{
	double preempted = 0, there = 0;
	const json_t *thread;
	size_t i;

	json_array_foreach((json_t *)threads, i, thread)
	{
		preempted += json_number_value(json_object_get(thread, "preempted_ns"));
		there += json_number_value(json_object_get(thread, "last_ns")) -
			 json_number_value(json_object_get(thread, "first_ns"));
	}
	return there > 0 ? preempted / there : NAN;
}

static void take_measures(struct job_measures *measures, const json_t *summary)
{
	const json_t *parallelism = json_object_get(summary, "average_parallelism"), *value;
	const char *name;

	measures->average_parallelism = json_is_number(parallelism) ? json_number_value(parallelism) : NAN;
	measures->preempted_share =
		preempted_share(json_object_get(json_object_get(summary, "scheduler"), "threads"));
	measures->problem_count = 0;
	json_object_foreach(json_object_get(summary, "problems"), name, value)
	{
		const json_t *percent = json_object_get(value, "percent");
		size_t at = measures->problem_count;

		if (!json_is_true(json_object_get(value, "available")) || !json_is_number(percent) ||
		    at == JOB_PROBLEMS || strlen(name) >= sizeof(measures->problems[at].name))
			continue;
		strcpy(measures->problems[at].name, name);
		measures->problems[at].share = json_number_value(percent) / 100;
		measures->problem_count++;
	}
}

static void take_problems(struct job_view *view, const json_t *summary)
{
	json_t *problems = json_object_get(summary, "problems"), *names = json_array(), *value;
	const char *name;

	if (!names)
		return;
	json_object_foreach(problems, name, value)
	{
		if (json_is_true(json_object_get(value, "available")) &&
		    json_number_value(json_object_get(value, "grains")) > 0 && json_array_size(names) < 16 &&
		    strlen(name) < 64)
			json_array_append_new(names, json_string(name));
	}
	json_decref(view->problems);
	view->problems = names;
}

void job_view__take_analysis(struct job_view *view, const json_t *answer)
{
	take_measures(&view->measures, answer);
	take_problems(view, answer);
}

void job_view__take_summary(struct job_view *view, const json_t *summary)
{
	json_t *value;

	take_measures(&view->measures, summary);
	take_problems(view, summary);
	job_account__take(&view->account, summary,
			  view->end_ns > view->start_ns ? (double)(view->end_ns - view->start_ns) / 1e9 : 0,
			  sysconf(_SC_NPROCESSORS_CONF));
	value = json_object_get(json_object_get(summary, "overhead"), "percent");
	if (json_is_number(value))
		view->overhead_percent = json_number_value(value);
}
