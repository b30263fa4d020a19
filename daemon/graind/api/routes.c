// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/api/routes.h"
#include "daemon/graind/summary/deliver.h"
#include "daemon/graind/requests/job_requests.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/metrics/metrics.h"
#include "daemon/graind/metrics/metrics_server.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/requests/past_job.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/policy/privileges.h"
#include "daemon/graind/api/reports.h"
#include "daemon/common/programs/defaults.h"
#include "daemon/common/programs/version.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS "/v1/jobs"
#define METRICS "/metrics"
#define STATUS "/v1/status"
#define OPTOUT "/v1/optout"
#define REPORT "/report"

void answer__fail(struct answer *answer, int status, const char *text)
{
	json_decref(answer->json);
	answer->status = status;
	answer->json = json_pack("{s:s}", "error", text);
	if (!answer->json)
		answer->json = json_pack("{s:s}", "error", "the reason cannot be told as text");
}

static void fail_with(struct answer *answer, const struct failure *failure)
{
	answer__fail(answer, failure->status, failure->text);
}

static void get_status(struct jobs *jobs, const struct request *request, struct answer *answer)
{
	char method[32], why[400];

	jobs__method(jobs, method);
	answer->status = 200;
	answer->json = json_pack("{s:s, s:i, s:i, s:s, s:I, s:s, s:o, s:o, s:b}", "version", GRAIND_VERSION,
				 "pid", (int)getpid(), "uid", (int)getuid(), "state_dir",
				 jobs__state_dir(jobs), "jobs_running", (json_int_t)jobs__running(jobs),
				 "method", method, "policy", policy__json(), "capabilities",
				 privileges__json(), "metrics", metrics_server__serves());
	/* If a file server hangs, only this request waits for it. */
	if (answer->json && request->all && !strcmp(request->all, "1")) {
		deliver__is_open(why);
		json_object_set_new(answer->json, "report_directory_error", json_string(why));
	}
	if (answer->json)
		json_object_set_new(answer->json, "opted_out", json_boolean(optout__has(request->uid)));
	if (answer->json && request->peer == 0)
		json_object_set_new(answer->json, "optouts", optout__json());
}

static void tell_optout(const struct request *request, struct answer *answer, size_t stopped)
{
	answer->status = 200;
	answer->json = json_pack("{s:I, s:b, s:I}", "uid", (json_int_t)request->uid, "opted_out",
				 optout__has(request->uid), "stopped", (json_int_t)stopped);
}

/* Sets the opt-out of the client's own user, whom the kernel reports. No user can opt out for others. */
static void set_optout(struct jobs *jobs, const struct request *request, struct answer *answer)
{
	json_t *body = json_loadb(request->body, request->body_size, JSON_REJECT_DUPLICATES, NULL);
	const json_t *on = json_object_get(body, "on");
	bool right = json_object_size(body) == 1 && json_is_boolean(on), wanted = json_is_true(on), changed;
	size_t stopped = 0;
	char why[256];
	int error;

	json_decref(body);
	if (!right) {
		answer__fail(answer, 400, "the request's body is {\"on\":true} or {\"on\":false}");
		return;
	}
	error = optout__set(request->uid, wanted, &changed);
	if (error) {
		snprintf(why, sizeof(why),
			 "cannot keep that in the state directory: %s; %s=1 in a process' "
			 "environment keeps it out of sessions",
			 error == -EUSERS ? "too many have opted out whom this machine does not know"
					  : strerror(-error),
			 ENV_OFF);
		answer__fail(answer, 503, why);
		return;
	}
	if (wanted)
		stopped = jobs__stop_user(jobs, request->uid);
	if (changed)
		log__line(LOG_INFO, "user %u has opted %s; recordings that end: %zu",
			  (unsigned int)request->uid, wanted ? "out" : "in again", stopped);
	tell_optout(request, answer, stopped);
}

static void get_metrics(struct jobs *jobs, const struct request *request, struct answer *answer)
{
	answer->status = 200;
	answer->text = metrics__text(jobs, request->peer);
	answer->type = METRICS_TYPE;
}

static void list_jobs(struct jobs *jobs, const struct request *request, struct answer *answer)
{
	bool all = request->all && strcmp(request->all, "0") != 0;
	struct failure failure;
	json_t *list;

	int error = all ? job_list__open(jobs, request->peer, request->uid, &answer->list, &failure)
			: jobs__list(jobs, request->peer, &list, &failure);

	if (error) {
		fail_with(answer, &failure);
		return;
	}
	answer->status = 200;
	if (!all)
		answer->json = json_pack("{s:o}", "jobs", list);
}

static bool is_name(const json_t *value)
{
	return json_is_string(value) && !strpbrk(json_string_value(value), "\n") &&
	       strlen(json_string_value(value)) == json_string_length(value);
}

static bool is_list_of_names(const json_t *value)
{
	const json_t *name;
	size_t i;

	if (!json_is_array(value))
		return false;
	json_array_foreach((json_t *)value, i, name)
	{
		if (!is_name(name))
			return false;
	}
	return true;
}

/* Returns 0, or -1 with the reason. Unknown keys are refused, so that the user notices misspelt keys. */
static int parse_start(const json_t *body, struct job_request *out, char why[256])
{
	json_t *value;
	const char *key;
	bool all = false;

	json_object_foreach((json_t *)body, key, value)
	{
		if (!strcmp(key, "pid") && json_is_integer(value) && json_integer_value(value) > 0 &&
		    json_integer_value(value) <= INT_MAX) {
			out->pid = (pid_t)json_integer_value(value);
		} else if (!strcmp(key, "at_start") && json_is_boolean(value)) {
			out->at_start = json_is_true(value);
		} else if (!strcmp(key, "all") && json_is_boolean(value)) {
			all = json_is_true(value);
		} else if (!strcmp(key, "duration_s") && json_is_integer(value) &&
			   json_integer_value(value) >= 0) {
			out->duration_s = (uint64_t)json_integer_value(value);
		} else if (!strcmp(key, "sample_hz") && json_is_integer(value) &&
			   json_integer_value(value) >= 0 && json_integer_value(value) <= INT_MAX) {
			out->sample_hz = (unsigned int)json_integer_value(value);
		} else if (!strcmp(key, "sample_optional") && json_is_boolean(value)) {
			out->sample_optional = json_is_true(value);
		} else if (!strcmp(key, "memory_event") && is_name(value)) {
			out->memory_event = json_string_value(value);
		} else if (!strcmp(key, "tasks") && json_is_boolean(value)) {
			out->samples_only = json_is_false(value);
		} else if (!strcmp(key, "fast") && json_is_boolean(value)) {
			out->fast = json_is_true(value);
		} else if (!strcmp(key, "max_bytes") && json_is_integer(value) &&
			   json_integer_value(value) > 0) {
			out->max_bytes = (uint64_t)json_integer_value(value);
		} else if (!strcmp(key, "lossless") && json_is_boolean(value)) {
			out->lossless = json_is_true(value);
		} else if (!strcmp(key, "ceiling_percent") && json_is_number(value) &&
			   json_number_value(value) >= 0.1 && json_number_value(value) <= 100) {
			out->ceiling_percent = json_number_value(value);
		} else if (!strcmp(key, "counters") && is_list_of_names(value)) {
			out->counters = value;
		} else {
			snprintf(why, 256, "cannot use \"%.40s\" as it is given; see the API's description",
				 key);
			return -1;
		}
	}
	if (all == (out->pid != 0)) {
		snprintf(why, 256, "give either \"pid\" or \"all\":true");
		return -1;
	}
	return 0;
}

static void start_job(struct jobs *jobs, const struct request *request, struct answer *answer)
{
	struct job_request wanted = {.peer = request->peer};
	json_error_t error;
	json_t *body = json_loadb(request->body, request->body_size, JSON_REJECT_DUPLICATES, &error);
	struct failure failure;
	char why[256];

	if (!json_is_object(body)) {
		snprintf(why, sizeof(why), "the request's body is not a JSON object%s%.160s",
			 body ? "" : ": ", body ? "" : error.text);
		answer__fail(answer, 400, why);
	} else if (parse_start(body, &wanted, why) != 0) {
		answer__fail(answer, 400, why);
	} else if (jobs__start(jobs, &wanted, &answer->json, &failure) != 0) {
		fail_with(answer, &failure);
	} else {
		answer->status = 201;
	}
	json_decref(body);
}

/* Splits "/v1/jobs/17/trace" into 17 and "/trace". */
static bool parse_job_path(const char *path, uint64_t *number, const char **rest)
{
	uint64_t value = 0;

	if (strncmp(path, JOBS "/", sizeof(JOBS)) != 0)
		return false;
	path += sizeof(JOBS);
	if (*path < '1' || *path > '9')
		return false;
	for (; *path >= '0' && *path <= '9'; path++) {
		if (value > (uint64_t)INT64_MAX / 10 - 1)
			return false;
		value = value * 10 + (uint64_t)(*path - '0');
	}
	*number = value;
	*rest = path;
	return *path == 0 || *path == '/';
}

typedef int (*job_call)(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job,
			struct failure *failure);
typedef int (*file_call)(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure);

struct job_route {
	const char *method, *rest;
	job_call json;
	file_call file;
	const char *type;
};

static int delete_job(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job, struct failure *failure)
{
	*job = NULL;
	return jobs__delete(jobs, number, peer, failure);
}

static const struct job_route job_routes[] = {
	{"GET", "", jobs__get, NULL, NULL},
	{"DELETE", "", delete_job, NULL, NULL},
	{"POST", "/detach", jobs__detach, NULL, NULL},
	{"GET", "/summary", NULL, jobs__open_summary, "application/json"},
	{"GET", "/trace", NULL, jobs__open_trace, "application/octet-stream"},
};

static void make_report(struct jobs *jobs, const struct request *request, uint64_t number,
			struct answer *answer)
{
	const struct report_order order = {.format = request->format, .view = request->view};
	struct failure failure;

	if (strcmp(request->method, "GET")) {
		answer__fail(answer, 405, "this method does not go with this path");
	} else if (reports__make(jobs, number, request->peer, &order, answer, &failure) != 0) {
		fail_with(answer, &failure);
	} else {
		answer->status = 200;
		answer->page = true;
	}
}

static void serve_job(struct jobs *jobs, const struct request *request, uint64_t number, const char *rest,
		      struct answer *answer)
{
	bool known = false;

	if (!strcmp(rest, REPORT)) {
		make_report(jobs, request, number, answer);
		return;
	}
	for (size_t i = 0; i < sizeof(job_routes) / sizeof(job_routes[0]); i++) {
		const struct job_route *route = &job_routes[i];
		struct failure failure;
		int error;

		if (strcmp(rest, route->rest) != 0)
			continue;
		known = true;
		if (strcmp(request->method, route->method) != 0)
			continue;
		error = route->json ? route->json(jobs, number, request->peer, &answer->json, &failure)
				    : route->file(jobs, number, request->peer, &answer->fd, &failure);
		if (error) {
			fail_with(answer, &failure);
			return;
		}
		answer->type = route->type;
		answer->status = route->json && !answer->json ? 204 : 200;
		return;
	}
	if (known)
		answer__fail(answer, 405, "this method does not go with this path");
	else
		answer__fail(answer, 404, "there is nothing at this path");
}

bool routes__takes_time(const struct request *request)
{
	size_t length = strlen(request->path);

	/* These requests read or change jobs that are over, so they may have to wait for a file server. */
	return strcmp(request->method, "GET") != 0 || request->all ||
	       (length >= sizeof(REPORT) && !strcmp(request->path + length - (sizeof(REPORT) - 1), REPORT));
}

void routes__serve(struct jobs *jobs, const struct request *request, struct answer *answer)
{
	bool get = !strcmp(request->method, "GET"), post = !strcmp(request->method, "POST");
	const char *rest;
	uint64_t number;

	*answer = (struct answer){.fd = -1};
	if (!strcmp(request->path, STATUS) && get)
		get_status(jobs, request, answer);
	else if (!strcmp(request->path, METRICS) && get)
		get_metrics(jobs, request, answer);
	else if (!strcmp(request->path, JOBS) && get)
		list_jobs(jobs, request, answer);
	else if (!strcmp(request->path, JOBS) && post)
		start_job(jobs, request, answer);
	else if (!strcmp(request->path, OPTOUT) && get)
		tell_optout(request, answer, 0);
	else if (!strcmp(request->path, OPTOUT) && post)
		set_optout(jobs, request, answer);
	else if (!strcmp(request->path, JOBS) || !strcmp(request->path, STATUS) ||
		 !strcmp(request->path, METRICS) || !strcmp(request->path, OPTOUT))
		answer__fail(answer, 405, "this method does not go with this path");
	else if (parse_job_path(request->path, &number, &rest))
		serve_job(jobs, request, number, rest, answer);
	else
		answer__fail(answer, 404, "there is nothing at this path");
	if (!answer->json && !answer->text && !answer->list && answer->fd < 0 && answer->status != 204)
		answer__fail(answer, 503, "graind is out of memory");
}
