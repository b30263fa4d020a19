/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/client/job.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/grainctl/client/server.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

static void get_string(const json_t *json, const char *key, char *out, size_t size)
{
	const char *value = json_string_value(json_object_get(json, key));

	snprintf(out, size, "%s", value ? value : "");
}

static uint64_t get_count(const json_t *json, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(json, key));

	return value > 0 ? (uint64_t)value : 0;
}

static double get_number(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

bool job__parse(const json_t *json, struct job *out)
{
	const json_t *problems = json_object_get(json, "problems"), *pid = json_object_get(json, "pid");
	size_t used = 0;

	*out = (struct job){.number = get_count(json, "job")};
	if (!out->number)
		return false;
	out->pid = json_is_integer(pid) ? json_integer_value(pid) : -1;
	out->threads = get_count(json, "threads");
	out->start_ns = get_count(json, "start_ns");
	out->end_ns = get_count(json, "end_ns");
	out->grains = get_count(json, "grains");
	out->events = get_count(json, "events");
	out->lost = get_count(json, "lost");
	out->events_per_s = get_number(json, "events_per_s");
	out->overhead_percent = get_number(json, "overhead_percent");
	out->average_parallelism = get_number(json, "average_parallelism");
	get_string(json, "state", out->state, sizeof(out->state));
	get_string(json, "error", out->error, sizeof(out->error));
	get_string(json, "user", out->user, sizeof(out->user));
	get_string(json, "exe", out->exe, sizeof(out->exe));
	get_string(json, "cmd", out->cmd, sizeof(out->cmd));
	get_string(json, "runtime", out->runtime, sizeof(out->runtime));
	get_string(json, "batch", out->batch, sizeof(out->batch));
	get_string(json, "reason", out->reason, sizeof(out->reason));
	for (size_t i = 0; i < json_array_size(problems); i++) {
		const char *name = json_string_value(json_array_get(problems, i));
		int length = name ? snprintf(out->problems + used, sizeof(out->problems) - used, "%s%s",
					     used ? "," : "", name)
				  : 0;

		if (length < 0 || (size_t)length >= sizeof(out->problems) - used) {
			out->problems[used] = 0;
			break;
		}
		used += (size_t)length;
	}
	return true;
}

bool job__is_over(const struct job *job)
{
	return !strcmp(job->state, "finished") || !strcmp(job->state, "failed");
}

const char *job__command(const struct job *job)
{
	const char *command = job->cmd[0] ? job->cmd : job->exe, *name = command;

	for (const char *c = command; *c && *c != ' '; c++) {
		if (*c == '/')
			name = c + 1;
	}
	return *name ? name : command;
}

void job__shorten(char *problems)
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

uint64_t job__ran_for(const struct job *job)
{
	struct timespec time;
	uint64_t end = job->end_ns;

	if (!job__is_over(job)) {
		clock_gettime(CLOCK_MONOTONIC, &time);
		end = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	}
	return end > job->start_ns ? end - job->start_ns : 0;
}

/* Marks a job whose graind is gone as failed: no process can end it any more. */
static void mark_abandoned(json_t *json)
{
	json_object_set_new(json, "state", json_string("failed"));
	json_object_set_new(
		json, "error",
		json_string("its graind ended before the job did; what was recorded until then is kept"));
}

enum ctl_exit job__find(const struct ctl *ctl, uint64_t number, json_t **out, char socket[108], char why[512])
{
	char path[64];
	json_t *stored = NULL;
	struct job job;
	const char *owner;
	enum ctl_exit result;
	int error = ctl->store ? job_store__read(ctl->store, number, &stored) : ctl->store_error, reachable;

	socket[0] = 0;
	snprintf(path, sizeof(path), "/v1/jobs/%llu", (unsigned long long)number);
	if (!error && job__parse(stored, &job) && job__is_over(&job)) {
		*out = stored;
		return CTL_DONE;
	}
	owner = error ? NULL : json_string_value(json_object_get(stored, "socket"));
	if (!owner || !*owner)
		owner = ctl->socket;
	reachable = server__reachable(owner);
	if (!reachable) {
		json_t *fresh = NULL;

		result = server__call(owner, "GET", path, NULL, &fresh, why);
		if (result == CTL_DONE && fresh) {
			snprintf(socket, 108, "%s", owner);
			json_decref(stored);
			*out = fresh;
			return CTL_DONE;
		}
		json_decref(fresh);
		if (error)
			return result == CTL_DONE ? CTL_FAILED : result;
	}
	if (!error) {
		if (reachable == -ENOENT || reachable == -ECONNREFUSED)
			mark_abandoned(stored);
		*out = stored;
		return CTL_DONE;
	}
	if (error == CTL_ASK_GRAIND)
		snprintf(why, 512,
			 "no graind listens at %.200s; start it, or say where its jobs are with --state-dir "
			 "DIR",
			 ctl->socket);
	else if (error == -ENOENT)
		snprintf(why, 512, "there is no job %llu in %.200s; grainctl jobs --all lists them",
			 (unsigned long long)number, ctl->state_dir);
	else if (error == -EBADMSG)
		snprintf(why, 512, "the description of job %llu in %.200s is damaged; delete that job",
			 (unsigned long long)number, ctl->state_dir);
	else if (error == -EACCES || error == -EPERM)
		snprintf(why, 512,
			 "only root may look for job %llu in %.150s, and no graind answers at %.100s; start "
			 "it "
			 "(systemctl start graind), or ask root",
			 (unsigned long long)number, ctl->state_dir, ctl->socket);
	else
		snprintf(why, 512, "job %llu in %.200s: %s; ask an administrator", (unsigned long long)number,
			 ctl->state_dir, strerror(-error));
	return error == -EACCES || error == -EPERM ? CTL_DENIED : CTL_FAILED;
}
