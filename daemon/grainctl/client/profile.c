/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/client/profile.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/grainctl/client/server.h"
#include "uprobes/counters/sampling.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The smallest --max-bytes of a job that graind accepts. */
#define LEAST_BYTES (UINT64_C(8) << 20)
/* profile__wait asks graind again after 2 ms, 4 ms, ... 256 ms. */
#define LONGEST_NAP_MS 256
/* A job ends soon after its process. After this time the job is detached. */
#define PATIENCE_MS 10000
#define BEGIN_PATIENCE_MS 5000
#define BEGIN_NAP_MS 2

/* Reads a number of bytes, such as 1, 1K or 1M. False: it is not a number, or it is too small. */
static bool parse_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	size_t length = strlen(text);
	const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	char digits[24];

	if (length >= sizeof(digits))
		return false;
	memcpy(digits, text, length + 1);
	if (unit)
		digits[length - 1] = '\0';
	if (!ctl__parse_number(digits, (UINT64_MAX >> 1) >> shift, out))
		return false;
	*out <<= shift;
	return *out >= LEAST_BYTES;
}

error_t profile__option(int key, char *arg, struct argp_state *state, struct profile_request *request)
{
	uint64_t hz = SAMPLE_HZ;
	char *end;

	switch (key) {
	case 'b':
		if (!parse_size(arg, &request->max_bytes))
			argp_error(state, "--max-bytes takes a size such as 64M, 8M at least, not '%s'", arg);
		return 0;
	case 'c':
		request->counters = arg;
		return 0;
	case 'S':
		request->samples_only = true;
		/* fall through */
	case 's':
		if (arg && (!ctl__parse_number(arg, SAMPLE_HZ_MAX, &hz) || !hz))
			argp_error(state, "--sample and --sample-only take 1 to %d times a second, not '%s'",
				   SAMPLE_HZ_MAX, arg);
		request->sample_hz = (unsigned int)hz;
		return 0;
	case CTL_OPTION_NO_SAMPLE:
		request->no_sample = true;
		return 0;
	case ARGP_KEY_END:
		if (request->no_sample && request->sample_hz)
			argp_error(state, "--no-sample excludes --sample and --sample-only");
		return 0;
	case CTL_OPTION_MEMORY_EVENT:
		request->memory_event = arg;
		return 0;
	case CTL_OPTION_CEILING:
		request->ceiling_percent = strtod(arg, &end);
		if (end == arg || *end || !(request->ceiling_percent >= 0.1) ||
		    request->ceiling_percent > 100)
			argp_error(state, "--ceiling takes 0.1 to 100 percent, not '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Adds the names to `body` as a list. -1: a name is not in UTF-8. */
static int add_names(json_t *body, const char *names)
{
	json_t *list = json_array();
	int error = 0;

	for (const char *end; !error; names = end + 1) {
		end = strchrnul(names, ',');
		error = json_array_append_new(list, json_stringn(names, (size_t)(end - names)));
		if (!*end)
			break;
	}
	return json_object_set_new(body, "counters", list) || error ? -1 : 0;
}

/* Adds what graind should sample. Returns false if memory is short. */
static bool add_samples(json_t *body, const struct profile_request *request)
{
	if (request->sample_hz)
		return !json_object_set_new(body, "sample_hz", json_integer(request->sample_hz)) &&
		       (!request->samples_only || !json_object_set_new(body, "tasks", json_false()));
	/* An event for memory without --sample is an error that graind explains. */
	if (!request->from_begin || request->no_sample || request->memory_event)
		return true;
	return !json_object_set_new(body, "sample_hz", json_integer(PROFILE_SAMPLE_HZ)) &&
	       !json_object_set_new(body, "sample_optional", json_true()) &&
	       !json_object_set_new(body, "memory_event", json_string("none"));
}

enum ctl_exit profile__start(const char *socket, const struct profile_request *request, struct job *out,
			     char why[512])
{
	json_t *body = json_pack("{s:i, s:b, s:I}", "pid", (int)request->pid, "at_start", request->at_start,
				 "duration_s", (json_int_t)request->duration_s);
	json_t *answer = NULL;
	enum ctl_exit result;

	if (body && request->counters && add_names(body, request->counters)) {
		json_decref(body);
		snprintf(why, 512, "the names of counters are no text in UTF-8");
		return CTL_USAGE;
	}
	if (body && request->fast &&
	    (json_object_set_new(body, "fast", json_true()) ||
	     (request->lossless && json_object_set_new(body, "lossless", json_true())))) {
		json_decref(body);
		body = NULL;
	}
	if (body && !add_samples(body, request)) {
		json_decref(body);
		body = NULL;
	}
	if (body && request->memory_event &&
	    json_object_set_new(body, "memory_event", json_string(request->memory_event))) {
		json_decref(body);
		snprintf(why, 512, "the name of the event is no text in UTF-8");
		return CTL_USAGE;
	}
	if (body && request->max_bytes &&
	    json_object_set_new(body, "max_bytes", json_integer((json_int_t)request->max_bytes))) {
		json_decref(body);
		body = NULL;
	}
	if (body && request->ceiling_percent > 0 &&
	    json_object_set_new(body, "ceiling_percent", json_real(request->ceiling_percent))) {
		json_decref(body);
		body = NULL;
	}
	if (!body) {
		snprintf(why, 512, "out of memory");
		return CTL_FAILED;
	}
	result = server__ask_for(socket, "/v1/jobs", body, &answer, why);
	json_decref(body);
	if (result == CTL_DONE && !job__parse(answer, out)) {
		snprintf(why, 512, "graind did not say which job it made");
		result = CTL_FAILED;
	}
	json_decref(answer);
	return result;
}

/* Reads the end of a job from the state directory: a private graind is gone once its last job is over. */
static bool read_end(const struct ctl *ctl, struct job *job)
{
	struct job_store *store = NULL;
	json_t *json = NULL;
	struct job stored;
	bool over = false;

	/* graind may have made the directory just now, so it is opened again. */
	if (job_store__open(ctl->state_dir, false, &store, NULL))
		return false;
	if (!job_store__read(store, job->number, &json) && job__parse(json, &stored) &&
	    job__is_over(&stored)) {
		*job = stored;
		over = true;
	}
	json_decref(json);
	job_store__close(store);
	return over;
}

static enum ctl_exit ask(const char *socket, struct job *job, char *why)
{
	uint64_t number = job->number;
	json_t *answer = NULL;
	char path[64];
	enum ctl_exit result;

	snprintf(path, sizeof(path), "/v1/jobs/%llu", (unsigned long long)number);
	result = server__call(socket, "GET", path, NULL, &answer, why);
	if (result == CTL_DONE && (!job__parse(answer, job) || job->number != number)) {
		job->number = number;
		snprintf(why, 512, "graind no longer knows job %llu", (unsigned long long)number);
		result = CTL_FAILED;
	}
	json_decref(answer);
	return result;
}

static enum ctl_exit detach(const char *socket, const struct job *job, char *why)
{
	json_t *answer = NULL;
	char path[64];
	enum ctl_exit result;

	snprintf(path, sizeof(path), "/v1/jobs/%llu/detach", (unsigned long long)job->number);
	result = server__call(socket, "POST", path, NULL, &answer, why);
	json_decref(answer);
	return result;
}

enum ctl_exit profile__await_begin(const char *socket, struct job *job, uint64_t patience_ms, char why[512])
{
	if (patience_ms < BEGIN_PATIENCE_MS)
		patience_ms = BEGIN_PATIENCE_MS;
	for (uint64_t waited = 0; waited < patience_ms; waited += BEGIN_NAP_MS) {
		const struct timespec nap = {.tv_nsec = BEGIN_NAP_MS * 1000000};
		enum ctl_exit result = ask(socket, job, why);

		if (result != CTL_DONE || !strcmp(job->state, "running"))
			return result;
		if (job__is_over(job)) {
			snprintf(why, 512, "%s",
				 job->error[0] ? job->error : "the job ended before anything was recorded");
			return CTL_FAILED;
		}
		nanosleep(&nap, NULL);
	}
	snprintf(
		why, 512,
		"graind did not answer the process in time: it is busy; give it more (--patience), or attach "
		"without --fast");
	return CTL_FAILED;
}

void profile__drop(const char *socket, const struct job *job)
{
	json_t *answer = NULL;
	char path[64], ignored[512];

	detach(socket, job, ignored);
	snprintf(path, sizeof(path), "/v1/jobs/%llu", (unsigned long long)job->number);
	server__call(socket, "DELETE", path, NULL, &answer, ignored);
	json_decref(answer);
}

enum ctl_exit profile__wait(const struct ctl *ctl, const char *socket, struct job *job, char why[512])
{
	bool asked = false;
	long waited = 0;

	for (long nap = 2;; nap = nap < LONGEST_NAP_MS ? nap * 2 : nap) {
		const struct timespec time = {.tv_sec = nap / 1000, .tv_nsec = nap % 1000 * 1000000L};
		enum ctl_exit result = ask(socket, job, why);

		if (result != CTL_DONE && read_end(ctl, job))
			return CTL_DONE;
		if (result != CTL_DONE || job__is_over(job))
			return result;
		if (waited >= PATIENCE_MS && !asked && strcmp(job->state, "finishing")) {
			asked = true;
			result = detach(socket, job, why);
			if (result != CTL_DONE)
				return result;
			continue;
		}
		nanosleep(&time, NULL);
		waited += nap;
	}
}
