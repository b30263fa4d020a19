// SPDX-License-Identifier: BSD-2-Clause
/* Requests for the files that jobs have left. */
#include "daemon/graind/requests/past_job.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/base/listen.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/jobs/unstored.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int no_such_job(uint64_t number, struct failure *failure)
{
	return failure__set(failure, 404, "there is no job %llu; grainctl jobs --all lists yours",
			    (unsigned long long)number);
}

static bool is_over(const json_t *job)
{
	const char *state = json_string_value(json_object_get(job, "state"));

	return state && (!strcmp(state, "finished") || !strcmp(state, "failed"));
}

/* Whether the description says that the graind at this socket runs the job and the job has not ended. */
static bool is_ours(const struct jobs *jobs, const json_t *job)
{
	const char *socket = json_string_value(json_object_get(job, "socket"));

	return !is_over(job) && socket && strcmp(socket, jobs->socket) == 0;
}

static void mark_failed(json_t *job, const char *why)
{
	json_object_set_new(job, "state", json_string("failed"));
	json_object_set_new(job, "error", json_string(why));
}

/* Reads the description of a job that does not run here. */
static int read_over(struct jobs *jobs, uint64_t number, json_t **out)
{
	json_t *unstored, *copy = NULL;

	unstored__retry(jobs);
	pthread_mutex_lock(&jobs->lock);
	unstored = unstored__find(jobs, number);
	if (unstored)
		copy = json_deep_copy(unstored);
	pthread_mutex_unlock(&jobs->lock);
	if (!unstored)
		return job_store__read(jobs->store, number, out);
	*out = copy;
	return copy ? 0 : -ENOMEM;
}

int past_job__read(struct jobs *jobs, uint64_t number, uid_t peer, json_t **out, struct failure *failure)
{
	json_t *json;
	int error = read_over(jobs, number, &json);

	if (!error && peer != 0 && json_integer_value(json_object_get(json, "uid")) != (json_int_t)peer) {
		json_decref(json);
		error = -ENOENT;
	}
	if (error == -EBADMSG)
		return failure__set(failure, 404, "the description of job %llu is damaged",
				    (unsigned long long)number);
	if (error)
		return no_such_job(number, failure);
	/* No other graind could end this job, and clients must not wait for ever. */
	if (is_ours(jobs, json))
		mark_failed(json, "how it ended could not be written; what was recorded until then is kept");
	json_object_del(json, "socket");
	*out = json;
	return 0;
}

static bool is_running(struct jobs *jobs, uint64_t number, uid_t peer)
{
	bool running;

	pthread_mutex_lock(&jobs->lock);
	running = jobs__find_running(jobs, number, peer) != NULL;
	pthread_mutex_unlock(&jobs->lock);
	return running;
}

/* Opens the directory of a job that `peer` may see. Returns a descriptor, or -1 with *failure set. */
static int open_directory(struct jobs *jobs, uint64_t number, uid_t peer, struct failure *failure)
{
	uid_t owner;
	int fd;

	if (job_store__open_job(jobs->store, number, &fd, &owner) != 0)
		return no_such_job(number, failure);
	if (peer == 0 || peer == owner)
		return fd;
	close(fd);
	return no_such_job(number, failure);
}

/* The same for a job that does not run. `but`: the message if it does run. */
static int open_directory_at_rest(struct jobs *jobs, uint64_t number, uid_t peer, const char *but,
				  struct failure *failure)
{
	if (is_running(jobs, number, peer))
		return failure__set(failure, 409, "job %llu %s; detach it first", (unsigned long long)number,
				    but);
	return open_directory(jobs, number, peer, failure);
}

/* Whether another graind runs the job. */
static bool runs_elsewhere(struct jobs *jobs, uint64_t number)
{
	const char *socket;
	json_t *job;
	bool alive;

	if (job_store__read(jobs->store, number, &job) != 0)
		return false;
	socket = json_string_value(json_object_get(job, "socket"));
	alive = !is_over(job) && socket && strcmp(socket, jobs->socket) != 0 && listen__answers(socket);
	json_decref(job);
	return alive;
}

int jobs__delete(struct jobs *jobs, uint64_t number, uid_t peer, struct failure *failure)
{
	int error, fd;

	fd = open_directory_at_rest(jobs, number, peer, "is running", failure);
	if (fd < 0)
		return -1;
	close(fd);
	if (runs_elsewhere(jobs, number))
		return failure__set(failure, 409, "job %llu is run by another graind; detach it first",
				    (unsigned long long)number);
	error = jobs__drop(jobs, number);
	if (error == -ENOENT)
		return no_such_job(number, failure);
	if (error)
		return failure__set(failure, 503, "cannot delete job %llu: %s", (unsigned long long)number,
				    strerror(-error));
	return 0;
}

int jobs__open_summary(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure)
{
	const char *why;
	json_t *job;
	int directory, error;

	directory = open_directory_at_rest(jobs, number, peer, "has not finished", failure);
	if (directory < 0)
		return -1;
	error = job_store__open_file(directory, SUMMARY_FILE, fd);
	close(directory);
	if (!error)
		return 0;
	if (past_job__read(jobs, number, peer, &job, failure) != 0)
		return -1;
	why = json_string_value(json_object_get(job, "error"));
	if (!is_over(job))
		failure__set(failure, 409, "job %llu has not finished", (unsigned long long)number);
	else
		failure__set(failure, 422, "job %llu has no summary: %.400s", (unsigned long long)number,
			     why && *why ? why : strerror(-error));
	json_decref(job);
	return -1;
}

int jobs__open_trace(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure)
{
	int directory = open_directory(jobs, number, peer, failure), error;

	if (directory < 0)
		return -1;
	error = job_store__open_file(directory, TRACE_FILE, fd);
	close(directory);
	if (error)
		return failure__set(failure, 404, "job %llu has no trace: %s", (unsigned long long)number,
				    strerror(-error));
	return 0;
}
