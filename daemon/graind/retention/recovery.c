// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/retention/recovery.h"
#include "daemon/common/job_store/job_adopt.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/jobs/unstored.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long this may delay the start. After that the retention thread continues (retention.c). */
#define START_MS 2000
#define CLEAR_STEPS 20000
#define SOON_S 1
#define RETRY_S 60

struct tally {
	size_t taken, failed;
	uint64_t number; /* number of a job that failed */
	int error;
};

static void count(void *ctx, uint64_t number, uid_t owner, int error)
{
	struct tally *tally = ctx;

	(void)owner;
	if (!error) {
		tally->taken++;
		return;
	}
	tally->failed++;
	tally->number = number;
	tally->error = error;
}

/* The same failure is reported once, even if the work is tried often. */
static void tell(const struct tally *tally)
{
	static size_t failed_before;

	if (tally->taken)
		log__line(LOG_INFO, "jobs that an older graind gave to their users are graind's again: %zu",
			  tally->taken);
	if (tally->failed && tally->failed != failed_before)
		log__line(
			LOG_WARNING,
			"jobs that cannot be taken back from their users: %zu, job %llu among them: %s; they "
			"are kept and tried again",
			tally->failed, (unsigned long long)tally->number, strerror(-tally->error));
	failed_before = tally->failed;
}

unsigned int recovery__go_on(struct jobs *jobs, unsigned int milliseconds)
{
	struct tally tally = {.taken = 0};
	bool more = job_adopt__all(jobs->store, clock__now_ns() + milliseconds * UINT64_C(1000000), count,
				   &tally);
	int cleared;

	tell(&tally);
	if (tally.taken)
		job_index__refresh(jobs->index, true);
	cleared = job_store__clear(jobs->store, CLEAR_STEPS);
	return more || cleared == -EAGAIN ? SOON_S : cleared || tally.failed ? RETRY_S : 0;
}

static void tell_unreadable(uint64_t number, int error)
{
	log__line(LOG_WARNING,
		  "job %llu of an earlier graind cannot be read (%s): left alone; grainctl delete "
		  "%llu removes it",
		  (unsigned long long)number, error == -ENOENT ? "it has no " JOB_FILE : strerror(-error),
		  (unsigned long long)number);
}

/* Handles a job whose description says that this graind runs it. */
static void mark_failed(struct jobs *jobs, const struct indexed_job *found, const json_t *json)
{
	json_t *job = json_deep_copy(json);
	int64_t now = (int64_t)time(NULL);
	int fd, error;

	if (!job || job_store__open_job(jobs->store, found->number, &fd, NULL) != 0) {
		json_decref(job);
		return;
	}
	json_object_set_new(job, "state", json_string("failed"));
	json_object_set_new(
		job, "error",
		json_string("its graind ended before the job did; what was recorded until then is kept"));
	json_object_set_new(job, "ended_s", json_integer(now));
	log__line(LOG_WARNING, "job %llu was left unfinished by an earlier graind",
		  (unsigned long long)found->number);
	error = job_store__write_last(fd, job);
	pthread_mutex_lock(&jobs->lock);
	unstored__take(jobs, found->number, fd, job, error);
	pthread_mutex_unlock(&jobs->lock);
	job_index__ended(jobs->index, found->number, now, found->bytes);
}

static void take_up(void *ctx, const struct indexed_job *found, const json_t *json, int error)
{
	const char *socket = json_string_value(json_object_get(json, "socket"));
	struct jobs *jobs = ctx;

	if (error)
		tell_unreadable(found->number, error);
	else if (!found->over && socket && !strcmp(socket, jobs->socket))
		mark_failed(jobs, found, json);
}

void jobs__recover(struct jobs *jobs)
{
	recovery__go_on(jobs, START_MS);
	job_index__build(jobs->index, take_up, jobs);
}
