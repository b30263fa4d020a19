/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl detach, delete, status: small requests to graind. */
#include "daemon/common/job_store/job_store.h"
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/client/server.h"
#include "daemon/grainctl/verbs/status_text.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <string.h>

static error_t parse_job(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "one job at a time");
		*(uint64_t *)state->input = ctl__parse_job(state, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which job? grainctl jobs lists them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Deletes a stored job. If no graind runs, the permissions of the state directory decide. */
static enum ctl_exit delete_stored(struct ctl *ctl, uint64_t number)
{
	int error = ctl->store ? job_store__delete(ctl->store, number) : ctl->store_error;

	if (!error)
		return CTL_DONE;
	return ctl__fail(ctl, error == -EACCES || error == -EPERM ? CTL_DENIED : CTL_FAILED,
			 "cannot remove job %llu from %s: %s; ask graind to (systemctl start graind)",
			 (unsigned long long)number, ctl->state_dir, strerror(-error));
}

/*
 * Whether the graind at the socket has a running job with this number. That graind may keep its jobs
 * elsewhere.
 */
static bool runs_at(const char *socket, uint64_t number)
{
	json_t *answer = NULL;
	char path[64], why[512];
	struct job job;
	bool runs;

	snprintf(path, sizeof(path), "/v1/jobs/%llu", (unsigned long long)number);
	runs = !server__reachable(socket) &&
	       server__call(socket, "GET", path, NULL, &answer, why) == CTL_DONE &&
	       job__parse(answer, &job) && !job__is_over(&job);
	json_decref(answer);
	return runs;
}

/*
 * Makes a request about a job: to the job's own graind while it runs, otherwise to the graind at
 * ctl->socket. A job that runs there is preferred to an earlier job with the same number in the state
 * directory.
 */
static enum ctl_exit ask(struct ctl *ctl, uint64_t number, const char *method, const char *suffix)
{
	char path[96], why[512], socket[108];
	json_t *json = NULL, *answer = NULL;
	enum ctl_exit result = job__find(ctl, number, &json, socket, why);
	struct job job;

	/* A job whose description is damaged can still be removed. */
	if (result != CTL_DONE && strcmp(method, "DELETE") != 0)
		return ctl__fail(ctl, result, "%s", why);
	if (!job__parse(json, &job))
		memset(&job, 0, sizeof(job));
	json_decref(json);
	if (job__is_over(&job) && !strcmp(method, "POST") && !runs_at(ctl->socket, number)) {
		if (!strcmp(job.state, "failed"))
			ctl__say(ctl, "job %llu has ended already: %s", (unsigned long long)number,
				 job.error);
		return CTL_DONE;
	}
	if (!socket[0] && server__reachable(ctl->socket) && job__is_over(&job))
		return delete_stored(ctl, number);
	snprintf(path, sizeof(path), "/v1/jobs/%llu%s", (unsigned long long)number, suffix);
	result = server__call(socket[0] ? socket : ctl->socket, method, path, NULL, &answer, why);
	json_decref(answer);
	return result == CTL_DONE ? CTL_DONE : (enum ctl_exit)ctl__fail(ctl, result, "%s", why);
}

int verb__detach(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		NULL,
		parse_job,
		"JOB",
		"Stops profiling. The process runs on without probes; the trace is complete "
		"when this returns. On a finished job it does nothing.\v"
		"Example:\n"
		"  grainctl detach 1 && grainctl summary 1",
		NULL,
		NULL,
		NULL};
	uint64_t job = 0;

	ctl__parse(ctl, &argp, argc, argv, &job);
	return ask(ctl, job, "POST", "/detach");
}

int verb__delete(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		NULL,
		parse_job,
		"JOB",
		"Removes a finished job and all that was recorded of it; a running one "
		"is to be detached first. Its number is not used again.\v"
		"Example:\n"
		"  grainctl delete 1",
		NULL,
		NULL,
		NULL};
	uint64_t job = 0;

	ctl__parse(ctl, &argp, argc, argv, &job);
	return ask(ctl, job, "DELETE", "");
}

static error_t parse_status(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'j':
		*(bool *)state->input = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int verb__status(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {{"json", 'j', NULL, 0, "As graind says it", 0}, {0}};
	static const struct argp argp = {option_list,
					 parse_status,
					 NULL,
					 "Says whether graind runs, its version and what it does.\v"
					 "Example:\n"
					 "  grainctl status",
					 NULL,
					 NULL,
					 NULL};
	const char *version, *method;
	json_t *answer = NULL;
	enum ctl_exit result;
	bool json = false;
	char why[512];

	ctl__parse(ctl, &argp, argc, argv, &json);
	result = server__call(ctl->socket, "GET", "/v1/status", NULL, &answer, why);
	if (result != CTL_DONE)
		return ctl__fail(ctl, result, "%s", why);
	version = json_string_value(json_object_get(answer, "version"));
	method = json_string_value(json_object_get(answer, "method"));
	if (json) {
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (!version || strspn(version, "0123456789.abcdefghijklmnopqrstuvwxyz-") != strlen(version)) {
		result = (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "what listens at %s is not graind",
						  ctl->socket);
	} else {
		json_int_t jobs = json_integer_value(json_object_get(answer, "jobs_running"));

		printf("graind %s at %s, process %lld, user %lld\n%lld %s, probes by %s\n", version,
		       ctl->socket, (long long)json_integer_value(json_object_get(answer, "pid")),
		       (long long)json_integer_value(json_object_get(answer, "uid")), (long long)jobs,
		       jobs == 1 ? "job runs" : "jobs run",
		       method && !strcmp(method, "perf")	   ? "perf events"
		       : method && !strcmp(method, "uprobe_multi") ? "uprobe_multi"
								   : "a method not known yet");
		status_text__print_policy(json_object_get(answer, "policy"));
		status_text__print_optouts(answer);
	}
	json_decref(answer);
	return result;
}
