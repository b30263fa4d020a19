// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/jobs/unstored.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each entry holds a descriptor. This number is enough: a disk rarely takes new jobs but not their ends. */
#define MOST_KEPT 64
/* The shortest time between two attempts, even if jobs are requested more often. */
#define RETRY_NS UINT64_C(20000000)

struct unstored {
	struct unstored *next;
	uint64_t number;
	int dirfd;
	json_t *json;
};

static void free_one(struct unstored *unstored)
{
	close(unstored->dirfd);
	json_decref(unstored->json);
	free(unstored);
}

static bool is_full(const struct jobs *jobs)
{
	size_t count = 0;

	for (const struct unstored *one = jobs->unstored; one; one = one->next)
		count++;
	return count >= MOST_KEPT;
}

void unstored__take(struct jobs *jobs, uint64_t number, int dirfd, json_t *json, int error)
{
	bool wanted = error && error != -ENOENT && json && !is_full(jobs);
	struct unstored *kept = wanted ? calloc(1, sizeof(*kept)) : NULL;

	if (error)
		log__line(LOG_WARNING, "job %llu: cannot write " JOB_FILE ": %s%s",
			  (unsigned long long)number, strerror(-error),
			  kept ? "; it is kept in memory until that can be written" : "");
	if (kept) {
		*kept = (struct unstored){jobs->unstored, number, dirfd, json};
		jobs->unstored = kept;
		return;
	}
	close(dirfd);
	json_decref(json);
}

/*
 * An entry that is being written stays in the list, and other threads do not free it. So its text can be
 * read meanwhile.
 */
struct attempt {
	struct unstored *one;
	json_t *json;
	int error;
};

/* Needs the lock. */
static size_t begin(struct jobs *jobs, struct attempt attempts[MOST_KEPT])
{
	size_t count = 0;

	for (struct unstored *one = jobs->unstored; one && count < MOST_KEPT; one = one->next)
		attempts[count++] = (struct attempt){.one = one, .json = json_deep_copy(one->json)};
	jobs->unstored_tried = true;
	jobs->unstored_rests_ns = clock__now_ns() + RETRY_NS;
	return count;
}

static void take_out(struct jobs *jobs, const struct unstored *one)
{
	struct unstored **at = &jobs->unstored;

	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
}

/* Needs the lock. A job whose directory was removed counts as deleted. */
static void finish(struct jobs *jobs, const struct attempt *attempt)
{
	struct unstored *one = attempt->one;

	json_decref(attempt->json);
	if (attempt->error && attempt->error != -ENOENT && one->number)
		return;
	if (!attempt->error && one->number)
		log__line(LOG_INFO, "job %llu: its " JOB_FILE " is written now",
			  (unsigned long long)one->number);
	take_out(jobs, one);
	free_one(one);
}

/* Needs the lock, and releases it while it writes. */
static void try_all(struct jobs *jobs)
{
	struct attempt attempts[MOST_KEPT];
	size_t count = begin(jobs, attempts);

	pthread_mutex_unlock(&jobs->lock);
	for (size_t i = 0; i < count; i++)
		attempts[i].error = attempts[i].json
					    ? job_store__write_last(attempts[i].one->dirfd, attempts[i].json)
					    : -ENOMEM;
	pthread_mutex_lock(&jobs->lock);
	for (size_t i = 0; i < count; i++)
		finish(jobs, &attempts[i]);
	jobs->unstored_tried = false;
	pthread_cond_broadcast(&jobs->changed);
}

void unstored__retry(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	if (jobs->unstored && !jobs->unstored_tried && clock__now_ns() >= jobs->unstored_rests_ns)
		try_all(jobs);
	pthread_mutex_unlock(&jobs->lock);
}

void unstored__retry_last(struct jobs *jobs, const struct timespec *until)
{
	pthread_mutex_lock(&jobs->lock);
	while (jobs->unstored_tried &&
	       pthread_cond_timedwait(&jobs->changed, &jobs->lock, until) != ETIMEDOUT)
		;
	if (jobs->unstored && !jobs->unstored_tried)
		try_all(jobs);
	pthread_mutex_unlock(&jobs->lock);
}

json_t *unstored__find(const struct jobs *jobs, uint64_t number)
{
	const struct unstored *one = jobs->unstored;

	while (one && one->number != number)
		one = one->next;
	return one ? one->json : NULL;
}

void unstored__forget(struct jobs *jobs, uint64_t number)
{
	struct unstored *one = jobs->unstored;

	while (one && one->number != number)
		one = one->next;
	if (!one)
		return;
	one->number = 0;
	/* The thread that is writing the entry removes it. */
	if (jobs->unstored_tried)
		return;
	take_out(jobs, one);
	free_one(one);
}

void unstored__free(struct jobs *jobs)
{
	while (jobs->unstored && !jobs->unstored_tried) {
		struct unstored *one = jobs->unstored;

		log__line(LOG_WARNING, "job %llu: how it ended could not be written to its " JOB_FILE,
			  (unsigned long long)one->number);
		jobs->unstored = one->next;
		free_one(one);
	}
}
