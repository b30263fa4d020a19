// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/keeper.h"
#include "daemon/common/job_space.h"
#include "daemon/graind/job.h"
#include "daemon/graind/log.h"
#include "daemon/graind/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUSY_S 1
#define IDLE_S 600
#define RETRY_S 60
/* What users put into directories of jobs that are over is seen so late. */
#define SWEEP_NS (UINT64_C(60) * 1000000000)

/* A job in the state directory. */
struct stored {
	uint64_t number, bytes;
	uid_t uid;
	time_t ended; /* of one that is over */
	bool over, newest;
};

struct keeper {
	struct jobs *jobs;
	pthread_t thread;
	bool with_session;
	bool stop, changed; /* under the registry's lock */
	struct failure why; /* the session could not begin */
	/* As of the last sweep, by number. */
	struct stored *stored;
	size_t count;
	uint64_t swept_ns; /* when all were looked at; 0: they have to be */
};

/* ---- what there is ------------------------------------------------------ */

static uint64_t jobs_ended(const struct jobs *jobs)
{
	return jobs->metrics.finished + jobs->metrics.failed;
}

static bool is_over(const struct job_store *store, uint64_t number)
{
	json_t *job;
	const char *state;
	bool over;

	if (job_store__read(store, number, &job) != 0)
		return false;
	state = json_string_value(json_object_get(job, "state"));
	over = state && (!strcmp(state, "finished") || !strcmp(state, "failed"));
	json_decref(job);
	return over;
}

/* Handed over to its user it is over, whatever is written there. */
static bool look_at(const struct job_store *store, uint64_t number, struct stored *out)
{
	struct stat st;
	int fd;

	*out = (struct stored){.number = number};
	if (job_store__open_job(store, number, &fd, &out->uid) != 0)
		return false;
	out->bytes = job_space__bytes(fd);
	if (fstat(fd, &st) == 0) {
		out->ended = st.st_mtime;
		out->over = st.st_uid != geteuid() || is_over(store, number);
	}
	close(fd);
	return true;
}

/* Those that were over are looked at again only if `at_all`. What runs is asked for after the list was read:
 * what has ended by then is over. */
static void look_everywhere(struct keeper *keeper, bool at_all)
{
	const struct job_store *store = keeper->jobs->store;
	struct stored *stored = NULL;
	uint64_t *numbers = NULL;
	size_t count = 0, found = 0, known = 0;

	if (job_store__list(store, &numbers, &count) == 0)
		stored = calloc(count + 1, sizeof(*stored));
	for (size_t i = 0; stored && i < count; i++) {
		while (known < keeper->count && keeper->stored[known].number < numbers[i])
			known++;
		if (!at_all && known < keeper->count && keeper->stored[known].number == numbers[i] &&
		    keeper->stored[known].over)
			stored[found++] = keeper->stored[known];
		else if (look_at(store, numbers[i], &stored[found]))
			found++;
	}
	free(numbers);
	free(keeper->stored);
	keeper->stored = stored;
	keeper->count = found;
	pthread_mutex_lock(&keeper->jobs->lock);
	for (size_t i = 0; i < keeper->count; i++)
		for (const struct job *job = keeper->jobs->first; job; job = job->next)
			if (job->number == keeper->stored[i].number)
				keeper->stored[i].over = false;
	pthread_mutex_unlock(&keeper->jobs->lock);
	for (size_t i = keeper->count; i > 0; i--) {
		bool later = false;

		for (size_t k = i; k < keeper->count && !later; k++)
			later = keeper->stored[k].uid == keeper->stored[i - 1].uid;
		keeper->stored[i - 1].newest = !later;
	}
}

/* ---- what goes ---------------------------------------------------------- */

static bool drop(struct keeper *keeper, struct stored *stored, enum metrics_deletion why, const char *text)
{
	struct job_store *store = keeper->jobs->store;
	int fd, error = job_store__open_job(store, stored->number, &fd, NULL);

	stored->over = false;
	if (!error) {
		error = job_space__empty(fd);
		close(fd);
	}
	if (!error)
		error = job_store__delete(store, stored->number);
	if (error) {
		log__line(LOG_WARNING, "job %llu: cannot delete it: %s", (unsigned long long)stored->number,
			  strerror(-error));
		return false;
	}
	log__line(LOG_INFO, "job %llu: deleted: %s", (unsigned long long)stored->number, text);
	pthread_mutex_lock(&keeper->jobs->lock);
	keeper->jobs->metrics.deleted[why]++;
	pthread_mutex_unlock(&keeper->jobs->lock);
	stored->bytes = 0;
	return true;
}

static void drop_old(struct keeper *keeper, const struct policy_limits *limits)
{
	time_t now = time(NULL);

	for (size_t i = 0; limits->keep_seconds && i < keeper->count; i++)
		if (keeper->stored[i].over && now > keeper->stored[i].ended &&
		    (uint64_t)(now - keeper->stored[i].ended) > limits->keep_seconds)
			drop(keeper, &keeper->stored[i], DELETED_AGE, "older than keep-days");
}

static void drop_beyond(struct keeper *keeper, const struct policy_limits *limits)
{
	uint64_t all = 0;

	for (size_t i = 0; i < keeper->count; i++)
		all += keeper->stored[i].over ? keeper->stored[i].bytes : 0;
	for (size_t i = 0; limits->keep_bytes && all > limits->keep_bytes && i + 1 < keeper->count; i++) {
		uint64_t bytes = keeper->stored[i].bytes;

		if (keeper->stored[i].over &&
		    drop(keeper, &keeper->stored[i], DELETED_BYTES, "all jobs take more than keep-bytes"))
			all -= bytes;
	}
}

static uint64_t bytes_of_user(const struct keeper *keeper, uid_t uid)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < keeper->count; i++)
		bytes += keeper->stored[i].uid == uid ? keeper->stored[i].bytes : 0;
	return bytes;
}

static void end_largest(struct keeper *keeper, uid_t uid, const struct policy_limits *limits)
{
	const struct stored *largest = NULL;
	struct jobs *jobs = keeper->jobs;

	pthread_mutex_lock(&jobs->lock);
	for (size_t i = 0; i < keeper->count; i++) {
		const struct stored *stored = &keeper->stored[i];
		const struct job *job = jobs->first;

		while (job && job->number != stored->number)
			job = job->next;
		if (job && job->view.uid == uid && job->view.pid && job->stop == JOB_GOES_ON &&
		    (!largest || stored->bytes > largest->bytes))
			largest = stored;
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
		jobs->metrics.ended_by_quota++;
	}
	pthread_mutex_unlock(&jobs->lock);
}

static void keep_user(struct keeper *keeper, uid_t uid, const struct policy_limits *limits)
{
	uint64_t bytes = bytes_of_user(keeper, uid);

	for (size_t i = 0; bytes > limits->user_bytes && i < keeper->count; i++) {
		struct stored *stored = &keeper->stored[i];
		uint64_t was = stored->bytes;

		if (stored->uid == uid && stored->over && !stored->newest &&
		    drop(keeper, stored, DELETED_QUOTA, "its user's jobs take more than user-bytes"))
			bytes -= was;
	}
	if (bytes > limits->user_bytes)
		end_largest(keeper, uid, limits);
}

static void keep_users(struct keeper *keeper, const struct policy_limits *limits)
{
	for (size_t i = 0; limits->user_bytes && i < keeper->count; i++)
		if (keeper->stored[i].newest && keeper->stored[i].uid != 0)
			keep_user(keeper, keeper->stored[i].uid, limits);
}

/* ---- the thread --------------------------------------------------------- */

/* Until something may have to be done; false at the end. */
static bool sleep_long(struct keeper *keeper, const struct policy_limits *limits, uint64_t ended)
{
	struct jobs *jobs = keeper->jobs;
	bool limited = limits->keep_seconds || limits->keep_bytes || limits->user_bytes, late = false,
	     goes_on;
	struct timespec since;

	clock_gettime(CLOCK_MONOTONIC, &since);
	pthread_mutex_lock(&jobs->lock);
	while (!keeper->stop && !keeper->changed && !late && (!limited || ended == jobs_ended(jobs))) {
		struct timespec until = since;

		until.tv_sec += limits->user_bytes && jobs->count ? BUSY_S
				: keeper->why.status		  ? RETRY_S
								  : IDLE_S;
		if (limited)
			late = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until) != 0;
		else
			pthread_cond_wait(&jobs->changed, &jobs->lock);
	}
	keeper->swept_ns = keeper->changed ? 0 : keeper->swept_ns;
	keeper->changed = false;
	goes_on = !keeper->stop;
	pthread_mutex_unlock(&jobs->lock);
	return goes_on;
}

/* A reason is logged once. */
static void follow_policy(struct keeper *keeper)
{
	struct failure why = {.status = 0};

	if (keeper->with_session && jobs__follow_policy(keeper->jobs, &why) != 0 &&
	    strcmp(why.text, keeper->why.text))
		log__line(LOG_WARNING, "the processes that are always to be profiled are not: %s", why.text);
	keeper->why = why;
}

static void *keep(void *argument)
{
	struct keeper *keeper = argument;
	struct policy_limits limits;
	uint64_t ended;

	do {
		uint64_t now = job__now_ns();

		follow_policy(keeper);
		policy__limits(&limits);
		pthread_mutex_lock(&keeper->jobs->lock);
		ended = jobs_ended(keeper->jobs);
		pthread_mutex_unlock(&keeper->jobs->lock);
		if (!limits.keep_seconds && !limits.keep_bytes && !limits.user_bytes)
			continue;
		if (now - keeper->swept_ns > SWEEP_NS)
			keeper->swept_ns = 0;
		look_everywhere(keeper, !keeper->swept_ns);
		keeper->swept_ns = keeper->swept_ns ? keeper->swept_ns : now;
		drop_old(keeper, &limits);
		drop_beyond(keeper, &limits);
		keep_users(keeper, &limits);
	} while (sleep_long(keeper, &limits, ended));
	return NULL;
}

int keeper__start(struct jobs *jobs, bool with_session, struct keeper **out)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	int error;

	if (!keeper)
		return -ENOMEM;
	keeper->jobs = jobs;
	keeper->with_session = with_session;
	error = pthread_create(&keeper->thread, NULL, keep, keeper);
	if (error) {
		free(keeper);
		return -error;
	}
	*out = keeper;
	return 0;
}

void keeper__wake(struct keeper *keeper)
{
	pthread_mutex_lock(&keeper->jobs->lock);
	keeper->changed = true;
	pthread_cond_broadcast(&keeper->jobs->changed);
	pthread_mutex_unlock(&keeper->jobs->lock);
}

void keeper__stop(struct keeper *keeper)
{
	if (!keeper)
		return;
	pthread_mutex_lock(&keeper->jobs->lock);
	keeper->stop = true;
	pthread_cond_broadcast(&keeper->jobs->changed);
	pthread_mutex_unlock(&keeper->jobs->lock);
	pthread_join(keeper->thread, NULL);
	free(keeper->stored);
	free(keeper);
}
