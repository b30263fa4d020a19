// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/retention/retention.h"
#include "daemon/common/job_store/job_space.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/requests/job_requests.h"
#include "daemon/graind/retention/retention_choice.h"
#include "daemon/graind/retention/retention_clock.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/retention/recovery.h"
#include "daemon/graind/jobs/unstored.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUSY_S 1
#define IDLE_S 600
#define RETRY_S 60
/*
 * How often all jobs are measured again: root may have added files, and former owners may still write to
 * files that they have open.
 */
#define SWEEP_NS (UINT64_C(600) * 1000000000)
/* How long one step of the work on what an older graind left may take. */
#define RECOVERY_MS 500
#define CLOCK_FILE "clock"
#define CLOCK_TEXT 64

struct retention {
	struct jobs *jobs;
	pthread_t thread;
	bool with_session;
	bool stop, changed;  /* guarded by the registry's lock */
	struct failure why;  /* why the session could not begin */
	uint64_t swept_ns;   /* when all jobs were measured; 0: they must be measured */
	unsigned int more_s; /* seconds until the next recovery__go_on(); 0: nothing is left to do */
	bool clock_begun, told_rest;
	enum retention_clock_says says; /* the last state that was logged */
	struct retention_clock clock;
};

/* ---- the clock ---------------------------------------------------------- */

static int open_state(const struct retention *retention)
{
	return open(job_store__path(retention->jobs->store), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Reads this from a file that only graind and root can write. */
static struct retention_clock_seen read_seen(const struct retention *retention)
{
	struct retention_clock_seen seen = {.wall_s = 0};
	int state = open_state(retention), fd = -1;
	char text[CLOCK_TEXT] = "";
	struct stat st;

	if (state >= 0) {
		fd = openat(state, CLOCK_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		close(state);
	}
	if (fd < 0)
		return seen;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	    job_store__trusts(retention->jobs->store, st.st_uid) && read(fd, text, sizeof(text) - 1) > 0 &&
	    sscanf(text, "%" SCNd64 " %" SCNd64, &seen.wall_s, &seen.rest_left_s) != 2)
		seen = (struct retention_clock_seen){.wall_s = 0};
	close(fd);
	return seen;
}

static void write_seen(const struct retention *retention)
{
	int state = open_state(retention);
	char text[CLOCK_TEXT];
	int length = snprintf(text, sizeof(text), "%" PRId64 " %" PRId64 "\n", retention->clock.wall_s,
			      retention_clock__rest(&retention->clock));

	if (state < 0)
		return;
	job_store__write_file(state, CLOCK_FILE, text, (size_t)length);
	close(state);
}

/* Logs once why no job is deleted for its age, if some job would be. */
static void tell_rest(struct retention *retention)
{
	static const char *const why[] = {
		[RETENTION_CLOCK_GOES] = "not long ago the clock was set, or graind began to look at it",
		[RETENTION_CLOCK_UNKNOWN] = "graind has not looked at the clock here before",
		[RETENTION_CLOCK_ABSENT] = "by the clock no graind has run here for more than a day",
		[RETENTION_CLOCK_JUMPED] = "the clock has been set forward",
		[RETENTION_CLOCK_TURNED] = "the clock has been set back",
	};

	if (!retention_clock__rest(&retention->clock)) {
		retention->told_rest = false;
		return;
	}
	if (!retention->told_rest)
		log__line(LOG_INFO,
			  "no job is deleted for its age for %.0f hours, as the clock may be wrong: %s",
			  ceil((double)retention_clock__rest(&retention->clock) / 3600),
			  why[retention->says]);
	retention->told_rest = true;
}

static void look_at_clock(struct retention *retention)
{
	struct timespec running;
	struct retention_clock_seen seen;
	enum retention_clock_says says;
	int64_t wall = (int64_t)time(NULL);

	clock_gettime(CLOCK_BOOTTIME, &running);
	if (!retention->clock_begun) {
		seen = read_seen(retention);
		says = retention_clock__begin(&retention->clock, &seen, wall, running.tv_sec);
	} else {
		says = retention_clock__look(&retention->clock, wall, running.tv_sec);
	}
	retention->clock_begun = true;
	if (says != RETENTION_CLOCK_GOES) {
		retention->says = says;
		retention->told_rest = false;
	}
	write_seen(retention);
}

/* ---- what there is ------------------------------------------------------ */

static uint64_t jobs_ended(const struct jobs *jobs)
{
	return jobs->totals.finished + jobs->totals.failed;
}

static void measure(struct retention *retention, const struct indexed_job *job)
{
	int fd;

	if (job_store__open_job(retention->jobs->store, job->number, &fd, NULL) != 0)
		return;
	job_index__measured(retention->jobs->index, job->number, job_space__bytes(fd));
	close(fd);
}

/* Examines all jobs. Those that are over are examined only with `at_all`. */
static struct indexed_job *look_everywhere(struct retention *retention, bool at_all, size_t *count)
{
	struct indexed_job *jobs;

	job_index__refresh(retention->jobs->index, at_all);
	jobs = job_index__copy(retention->jobs->index, count);
	for (size_t i = 0; i < *count; i++)
		if (at_all || !jobs[i].over)
			measure(retention, &jobs[i]);
	free(jobs);
	return job_index__copy(retention->jobs->index, count);
}

/* ---- what goes ---------------------------------------------------------- */

static bool drop(struct retention *retention, const struct indexed_job *job, enum job_deletion why,
		 const char *text)
{
	int error = jobs__drop(retention->jobs, job->number);

	if (error == -ENOENT)
		return true;
	if (error) {
		log__line(LOG_WARNING, "job %llu: cannot delete it: %s", (unsigned long long)job->number,
			  strerror(-error));
		return false;
	}
	log__line(LOG_INFO, "job %llu: deleted: %s", (unsigned long long)job->number, text);
	pthread_mutex_lock(&retention->jobs->lock);
	retention->jobs->totals.deleted[why]++;
	pthread_mutex_unlock(&retention->jobs->lock);
	return true;
}

/* Deletes jobs for their age. */
static void drop_old(struct retention *retention, const struct policy_limits *limits,
		     struct indexed_job *jobs, size_t *count)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		bool old = limits->keep_seconds && jobs[i].over && !jobs[i].unknown &&
			   (uint64_t)retention_clock__age(&retention->clock, jobs[i].ended_s) >
				   limits->keep_seconds;

		if (!old || !drop(retention, &jobs[i], DELETED_AGE, "older than keep-days"))
			jobs[kept++] = jobs[i];
	}
	*count = kept;
}

static void end_largest(struct retention *retention, uid_t account, const struct policy_limits *limits,
			const struct indexed_job *stored, size_t count)
{
	const struct indexed_job *largest = NULL;
	struct jobs *jobs = retention->jobs;

	pthread_mutex_lock(&jobs->lock);
	for (size_t i = 0; i < count; i++) {
		const struct job *job = jobs->first;

		if (stored[i].over || stored[i].account != account)
			continue;
		while (job && job->number != stored[i].number)
			job = job->next;
		if (job && job->view.pid && job->stop == JOB_GOES_ON &&
		    (!largest || stored[i].bytes > largest->bytes))
			largest = &stored[i];
	}
	for (struct job *job = jobs->first; largest && job; job = job->next) {
		if (job->number != largest->number)
			continue;
		snprintf(job->view.error, sizeof(job->view.error),
			 "the recording ended early: the jobs of %s take more than the %llu bytes of "
			 "user-bytes; delete some, or ask for more",
			 job->view.user, (unsigned long long)limits->user_bytes);
		log__line(LOG_INFO, "job %llu: %s", (unsigned long long)job->number, job->view.error);
		job__stop(job, JOB_QUOTA);
		jobs->totals.ended_by_quota++;
	}
	pthread_mutex_unlock(&jobs->lock);
}

static void drop_beyond(struct retention *retention, const struct policy_limits *limits,
			struct retention_choice *choice)
{
	const struct indexed_job *job;

	while ((job = retention_choice__too_many(choice, limits->user_jobs)))
		if (!drop(retention, job, DELETED_QUOTA, "its user has more jobs than user-jobs"))
			retention_choice__stays(choice, job);
	while ((job = retention_choice__too_large(choice, limits->user_bytes)))
		if (!drop(retention, job, DELETED_QUOTA, "its user's jobs take more than user-bytes"))
			retention_choice__stays(choice, job);
	while ((job = retention_choice__beyond_all(choice, limits->keep_bytes)))
		if (!drop(retention, job, DELETED_BYTES,
			  "all jobs take more than keep-bytes, and its user's most of it"))
			retention_choice__stays(choice, job);
}

static void keep(struct retention *retention, const struct policy_limits *limits, struct indexed_job *jobs,
		 size_t count)
{
	struct retention_choice *choice;
	uid_t account;
	size_t at = 0;

	if (limits->keep_seconds)
		tell_rest(retention);
	if (!retention_clock__rest(&retention->clock))
		drop_old(retention, limits, jobs, &count);
	if (retention_choice__new(jobs, count, &choice) != 0)
		return;
	drop_beyond(retention, limits, choice);
	while (retention_choice__exceeds(choice, limits->user_bytes, &at, &account))
		end_largest(retention, account, limits, jobs, count);
	retention_choice__free(choice);
}

/* ---- the thread --------------------------------------------------------- */

/* Sleeps until there may be something to do. False: graind ends. */
static bool sleep_long(struct retention *retention, const struct policy_limits *limits, uint64_t ended)
{
	struct jobs *jobs = retention->jobs;
	bool limited = limits->keep_seconds || limits->keep_bytes || limits->user_bytes || limits->user_jobs,
	     late = false, missing, goes_on;
	struct timespec since;

	clock_gettime(CLOCK_MONOTONIC, &since);
	unstored__retry(jobs);
	pthread_mutex_lock(&jobs->lock);
	while (!retention->stop && !retention->changed && !late) {
		struct timespec until = since;

		missing = jobs->unstored != NULL;
		/* Checks once a second, even if many jobs end. */
		until.tv_sec += (limits->user_bytes && jobs->count) || (limited && ended != jobs_ended(jobs))
					? BUSY_S
				: retention->more_s		   ? retention->more_s
				: retention->why.status || missing ? RETRY_S
								   : IDLE_S;
		if (limited || missing || retention->more_s)
			late = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until) != 0;
		else
			pthread_cond_wait(&jobs->changed, &jobs->lock);
	}
	retention->swept_ns = retention->changed ? 0 : retention->swept_ns;
	retention->changed = false;
	goes_on = !retention->stop;
	pthread_mutex_unlock(&jobs->lock);
	return goes_on;
}

/* Follows the policy. A failure with the same reason is logged once. */
static void follow_policy(struct retention *retention)
{
	struct failure why = {.status = 0};

	if (retention->with_session && jobs__follow_policy(retention->jobs, &why) != 0 &&
	    strcmp(why.text, retention->why.text))
		log__line(LOG_WARNING, "the processes that are always to be profiled are not: %s", why.text);
	retention->why = why;
}

static void *run(void *argument)
{
	struct retention *retention = argument;
	struct policy_limits limits;
	struct indexed_job *jobs;
	uint64_t ended;
	size_t count;

	pthread_setname_np(pthread_self(), "graind-retain");
	do {
		uint64_t now = clock__now_ns();

		follow_policy(retention);
		policy__limits(&limits);
		pthread_mutex_lock(&retention->jobs->lock);
		ended = jobs_ended(retention->jobs);
		pthread_mutex_unlock(&retention->jobs->lock);
		if (retention->more_s || !retention->swept_ns)
			retention->more_s = recovery__go_on(retention->jobs, RECOVERY_MS);
		if (!limits.keep_seconds && !limits.keep_bytes && !limits.user_bytes && !limits.user_jobs)
			continue;
		if (now - retention->swept_ns > SWEEP_NS)
			retention->swept_ns = 0;
		if (!retention->swept_ns)
			look_at_clock(retention);
		jobs = look_everywhere(retention, !retention->swept_ns, &count);
		retention->swept_ns = retention->swept_ns ? retention->swept_ns : now;
		if (jobs)
			keep(retention, &limits, jobs, count);
		free(jobs);
	} while (sleep_long(retention, &limits, ended));
	return NULL;
}

int retention__start(struct jobs *jobs, bool with_session, struct retention **out)
{
	struct retention *retention = calloc(1, sizeof(*retention));
	int error;

	if (!retention)
		return -ENOMEM;
	retention->jobs = jobs;
	retention->with_session = with_session;
	error = pthread_create(&retention->thread, NULL, run, retention);
	if (error) {
		free(retention);
		return -error;
	}
	*out = retention;
	return 0;
}

void retention__wake(struct retention *retention)
{
	pthread_mutex_lock(&retention->jobs->lock);
	retention->changed = true;
	pthread_cond_broadcast(&retention->jobs->changed);
	pthread_mutex_unlock(&retention->jobs->lock);
}

void retention__stop(struct retention *retention)
{
	if (!retention)
		return;
	pthread_mutex_lock(&retention->jobs->lock);
	retention->stop = true;
	pthread_cond_broadcast(&retention->jobs->changed);
	pthread_mutex_unlock(&retention->jobs->lock);
	pthread_join(retention->thread, NULL);
	free(retention);
}
