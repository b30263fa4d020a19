// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/jobs/job_index.h"
#include "daemon/common/job_store/job_space.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Refreshing may take 1/REFRESH_SHARE of the time. The other value is the shortest time between two
 * refreshes.
 */
#define REFRESH_SHARE 20
#define REFRESH_LEAST_NS UINT64_C(200000000)

struct job_index {
	struct job_store *store;
	pthread_mutex_t lock;
	struct indexed_job *jobs; /* sorted by number */
	size_t count, room;
	/* Held while refreshing: only one thread at a time does so. */
	pthread_mutex_t refreshing;
	struct timespec changed; /* modification time of jobs/ at the last refresh */
	uint64_t rests_until_ns;
};

int job_index__new(struct job_store *store, struct job_index **out)
{
	struct job_index *index = calloc(1, sizeof(*index));

	if (!index)
		return -ENOMEM;
	index->store = store;
	pthread_mutex_init(&index->lock, NULL);
	pthread_mutex_init(&index->refreshing, NULL);
	*out = index;
	return 0;
}

void job_index__free(struct job_index *index)
{
	if (!index)
		return;
	pthread_mutex_destroy(&index->lock);
	pthread_mutex_destroy(&index->refreshing);
	free(index->jobs);
	free(index);
}

/* ---- with the lock held ------------------------------------------------- */

/* Returns the index of the first job whose number is at least `number`. */
static size_t place_of(const struct job_index *index, uint64_t number)
{
	size_t low = 0, high = index->count;

	/* The usual case: the new number is the highest one. */
	if (high && index->jobs[high - 1].number < number)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->jobs[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct indexed_job *find(const struct job_index *index, uint64_t number)
{
	size_t at = place_of(index, number);

	return at < index->count && index->jobs[at].number == number ? &index->jobs[at] : NULL;
}

/* Adds the job or replaces its entry. */
static void put(struct job_index *index, const struct indexed_job *job)
{
	size_t at = place_of(index, job->number);

	if (at < index->count && index->jobs[at].number == job->number) {
		index->jobs[at] = *job;
		return;
	}
	if (index->count == index->room) {
		size_t room = index->room ? 2 * index->room : 256;
		struct indexed_job *grown = reallocarray(index->jobs, room, sizeof(*grown));

		if (!grown)
			return;
		index->jobs = grown;
		index->room = room;
	}
	memmove(&index->jobs[at + 1], &index->jobs[at], (index->count - at) * sizeof(*index->jobs));
	index->jobs[at] = *job;
	index->count++;
}

static void take_out(struct job_index *index, uint64_t number)
{
	size_t at = place_of(index, number);

	if (at == index->count || index->jobs[at].number != number)
		return;
	index->count--;
	memmove(&index->jobs[at], &index->jobs[at + 1], (index->count - at) * sizeof(*index->jobs));
}

/* ---- what this graind does ---------------------------------------------- */

void job_index__begun(struct job_index *index, uint64_t number, uid_t uid, uid_t account)
{
	const struct indexed_job job = {.number = number, .uid = uid, .account = account, .here = true};

	pthread_mutex_lock(&index->lock);
	put(index, &job);
	pthread_mutex_unlock(&index->lock);
}

void job_index__ended(struct job_index *index, uint64_t number, int64_t ended_s, uint64_t bytes)
{
	struct indexed_job *job;

	pthread_mutex_lock(&index->lock);
	job = find(index, number);
	if (job) {
		job->ended_s = ended_s;
		job->bytes = bytes;
		job->over = true;
	}
	pthread_mutex_unlock(&index->lock);
}

void job_index__measured(struct job_index *index, uint64_t number, uint64_t bytes)
{
	struct indexed_job *job;

	pthread_mutex_lock(&index->lock);
	job = find(index, number);
	if (job)
		job->bytes = bytes;
	pthread_mutex_unlock(&index->lock);
}

void job_index__forget(struct job_index *index, uint64_t number)
{
	pthread_mutex_lock(&index->lock);
	take_out(index, number);
	pthread_mutex_unlock(&index->lock);
}

bool job_index__find(struct job_index *index, uint64_t number, struct indexed_job *out)
{
	const struct indexed_job *job;

	pthread_mutex_lock(&index->lock);
	job = find(index, number);
	if (job)
		*out = *job;
	pthread_mutex_unlock(&index->lock);
	return job != NULL;
}

/* ---- what there is ------------------------------------------------------ */

/*
 * Returns when the job ended. If "ended_s" is missing (an older graind did not write it), returns the time
 * when job.json was written. The result is never in the future.
 */
static int64_t end_of(const json_t *json, int dirfd)
{
	const json_t *ended = json_object_get(json, "ended_s");
	int64_t now = (int64_t)time(NULL);
	struct stat st;

	if (json_is_integer(ended) && json_integer_value(ended) > 0)
		return json_integer_value(ended);
	if (fstatat(dirfd, JOB_FILE, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_mtime > now)
		return now;
	return st.st_mtime;
}

/* Reads the job.json of a job. If *json is NULL, *error says why. -ENOENT: it is not a job of graind. */
static int look_at(struct job_index *index, uint64_t number, struct indexed_job *out, json_t **json,
		   int *error)
{
	const char *state;
	int fd;

	*out = (struct indexed_job){.number = number};
	*json = NULL;
	if (job_store__open_job(index->store, number, &fd, NULL) != 0)
		return -ENOENT;
	*error = job_store__read(index->store, number, json);
	out->uid = (uid_t)json_integer_value(json_object_get(*json, "uid"));
	out->account = account__of(out->uid);
	out->bytes = job_space__bytes(fd);
	out->unknown = *json == NULL;
	state = json_string_value(json_object_get(*json, "state"));
	out->over = state && (!strcmp(state, "finished") || !strcmp(state, "failed"));
	out->ended_s = out->over ? end_of(*json, fd) : 0;
	close(fd);
	return 0;
}

static bool holds(const uint64_t *numbers, size_t count, uint64_t number)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (numbers[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && numbers[low] == number;
}

/*
 * Forgets jobs that other processes removed. A job of this graind stays: its directory may be newer than
 * the list.
 */
static void forget_missing(struct job_index *index, const uint64_t *numbers, size_t count)
{
	size_t kept = 0;

	pthread_mutex_lock(&index->lock);
	for (size_t i = 0; i < index->count; i++) {
		const struct indexed_job *job = &index->jobs[i];

		if ((job->here && !job->over) || holds(numbers, count, job->number))
			index->jobs[kept++] = *job;
	}
	index->count = kept;
	pthread_mutex_unlock(&index->lock);
}

/* Needs `refreshing`. */
static void read_directory(struct job_index *index, job_index_fn each, void *ctx)
{
	uint64_t *numbers = NULL;
	size_t count = 0;

	if (job_store__list(index->store, &numbers, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		struct indexed_job known, job;
		json_t *json;
		int error;

		if (job_index__find(index, numbers[i], &known) && (known.here || known.over))
			continue;
		if (look_at(index, numbers[i], &job, &json, &error) != 0)
			continue;
		pthread_mutex_lock(&index->lock);
		/* This graind may have begun the job in between. */
		if (!find(index, job.number) || !find(index, job.number)->here)
			put(index, &job);
		pthread_mutex_unlock(&index->lock);
		if (each)
			each(ctx, &job, json, error);
		json_decref(json);
	}
	forget_missing(index, numbers, count);
	free(numbers);
}

static bool has_changed(struct job_index *index)
{
	struct stat st;
	bool changed =
		fstat(job_store__jobs_fd(index->store), &st) == 0 &&
		(st.st_mtim.tv_sec != index->changed.tv_sec || st.st_mtim.tv_nsec != index->changed.tv_nsec);

	if (changed)
		index->changed = st.st_mtim;
	return changed;
}

void job_index__refresh(struct job_index *index, bool all)
{
	uint64_t began = clock__now_ns(), took;

	/* Without `all`, a thread uses the old content if another thread is refreshing. */
	if (all)
		pthread_mutex_lock(&index->refreshing);
	else if (pthread_mutex_trylock(&index->refreshing) != 0)
		return;
	if (all || (began >= index->rests_until_ns && has_changed(index))) {
		read_directory(index, NULL, NULL);
		took = clock__now_ns() - began;
		took = took * REFRESH_SHARE > REFRESH_LEAST_NS ? took * REFRESH_SHARE : REFRESH_LEAST_NS;
		index->rests_until_ns = began + took;
	}
	pthread_mutex_unlock(&index->refreshing);
}

void job_index__build(struct job_index *index, job_index_fn each, void *ctx)
{
	pthread_mutex_lock(&index->refreshing);
	has_changed(index);
	read_directory(index, each, ctx);
	pthread_mutex_unlock(&index->refreshing);
}

struct indexed_job *job_index__copy(struct job_index *index, size_t *count)
{
	struct indexed_job *copy;

	pthread_mutex_lock(&index->lock);
	copy = calloc(index->count + 1, sizeof(*copy));
	if (copy && index->count)
		memcpy(copy, index->jobs, index->count * sizeof(*copy));
	*count = copy ? index->count : 0;
	pthread_mutex_unlock(&index->lock);
	return copy;
}

uint64_t *job_index__numbers(struct job_index *index, uid_t uid, size_t most, size_t *count, size_t *left_out)
{
	size_t all = 0, at = 0;
	uint64_t *numbers;

	pthread_mutex_lock(&index->lock);
	for (size_t i = 0; i < index->count; i++)
		all += uid == 0 || (index->jobs[i].uid == uid && !index->jobs[i].unknown);
	*left_out = all > most ? all - most : 0;
	*count = all - *left_out;
	numbers = calloc(*count + 1, sizeof(*numbers));
	for (size_t i = 0, skip = *left_out; numbers && i < index->count; i++) {
		if (uid != 0 && (index->jobs[i].uid != uid || index->jobs[i].unknown))
			continue;
		if (skip)
			skip--;
		else
			numbers[at++] = index->jobs[i].number;
	}
	pthread_mutex_unlock(&index->lock);
	return numbers;
}
