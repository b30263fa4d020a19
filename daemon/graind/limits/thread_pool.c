// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/thread_pool.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/limits/recent.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct queue {
	struct pool_work *first, **end;
};

/* A group of threads that share queues: the ordinary ones or the patient ones. */
struct crew {
	struct thread_pool *pool;
	struct queue unnamed; /* work whose account is not known yet */
	struct queue urgent, other;
	struct pool_work *working;
	struct recent recent; /* accounts whose work began last */
	unsigned int threads, busy;
	int asked_fd; /* readable when there may be work for one of the threads */
};

struct thread_pool {
	pthread_mutex_t lock; /* guards everything except the descriptors; not held during work */
	struct crew ordinary, patient;
	struct queue done;
	bool ending;
	int done_fd;
	pool_account_fn account_of;
	unsigned int count;
	pthread_t threads[];
};

static void push(struct queue *queue, struct pool_work *work)
{
	work->next = NULL;
	if (!queue->first)
		queue->end = &queue->first;
	*queue->end = work;
	queue->end = &work->next;
}

static struct pool_work *take(struct queue *queue, struct pool_work **at)
{
	struct pool_work *work = *at;

	*at = work->next;
	if (queue->end == &work->next)
		queue->end = at;
	return work;
}

static struct pool_work *pop(struct queue *queue)
{
	return queue->first ? take(queue, &queue->first) : NULL;
}

/* ---- whose turn it is --------------------------------------------------- */

static unsigned int count_of(const struct crew *crew, uid_t account)
{
	unsigned int count = 0;

	for (const struct pool_work *work = crew->working; work; work = work->next)
		count += work->account == account;
	return count;
}

static bool is_before(const struct crew *crew, uid_t one, uid_t other)
{
	unsigned int ones = count_of(crew, one), others = count_of(crew, other);

	if (ones != others)
		return ones < others;
	return recent__since(&crew->recent, one) > recent__since(&crew->recent, other);
}

/*
 * Chooses work of the account with the fewest busy threads. If there are several such accounts, chooses the
 * one whose last work began longest ago. NULL: no account may begin more work.
 */
static struct pool_work *choose(const struct crew *crew, struct queue *queue)
{
	struct pool_work **best = NULL;

	for (struct pool_work **at = &queue->first; *at; at = &(*at)->next) {
		uid_t account = (*at)->account;

		if (best && account == (*best)->account)
			continue;
		if (fair_share__allow(account, count_of(crew, account), crew->threads - crew->busy) &&
		    (!best || is_before(crew, account, (*best)->account)))
			best = at;
	}
	return best ? take(queue, best) : NULL;
}

/* Finds the accounts of new work. Needs the lock, and releases it in between. */
static void name(struct crew *crew)
{
	struct thread_pool *pool = crew->pool;
	struct pool_work *work;

	while (!pool->ending && (work = pop(&crew->unnamed))) {
		pthread_mutex_unlock(&pool->lock);
		work->account = pool->account_of(work);
		pthread_mutex_lock(&pool->lock);
		push(work->turn == POOL_URGENT ? &crew->urgent : &crew->other, work);
	}
}

static struct pool_work *begin(struct crew *crew)
{
	struct pool_work *work = choose(crew, &crew->urgent);

	if (!work)
		work = choose(crew, &crew->other);
	if (!work)
		return NULL;
	recent__note(&crew->recent, work->account);
	work->next = crew->working;
	crew->working = work;
	crew->busy++;
	return work;
}

static void finish(struct crew *crew, struct pool_work *work)
{
	struct pool_work **at = &crew->working;

	while (*at != work)
		at = &(*at)->next;
	*at = work->next;
	crew->busy--;
	push(&crew->pool->done, work);
}

/* ---- the threads -------------------------------------------------------- */

/* Waits for work. NULL: the pool ends. */
static struct pool_work *next(struct crew *crew)
{
	struct thread_pool *pool = crew->pool;

	for (;;) {
		struct pool_work *work = NULL;
		bool ending, others;
		eventfd_t ignored;

		pthread_mutex_lock(&pool->lock);
		name(crew);
		ending = pool->ending;
		if (!ending)
			work = begin(crew);
		others = ending || (work && (crew->urgent.first || crew->other.first));
		pthread_mutex_unlock(&pool->lock);
		/* A thread that has found work wakes the next one. */
		if (others)
			eventfd_write(crew->asked_fd, 1);
		if (work || ending)
			return work;
		eventfd_read(crew->asked_fd, &ignored);
	}
}

static void *serve(void *argument)
{
	struct crew *crew = argument;
	struct thread_pool *pool = crew->pool;
	struct urgency_budget budget = {0};
	struct pool_work *work;

	pthread_setname_np(pthread_self(), "graind-look");
	urgency__prefer();
	urgency__rush(&budget, URGENCY_LOOK);
	while ((work = next(crew))) {
		work->run(work);
		/*
		 * If a process has many mappings or a long environment, most of it is read at ordinary
		 * priority.
		 */
		urgency__rest(&budget);
		urgency__rush(&budget, URGENCY_LOOK);
		pthread_mutex_lock(&pool->lock);
		finish(crew, work);
		pthread_mutex_unlock(&pool->lock);
		eventfd_write(pool->done_fd, 1);
	}
	return NULL;
}

/* ---- who asks ----------------------------------------------------------- */

static uid_t root_only(struct pool_work *work)
{
	(void)work;
	return 0;
}

static void drop_all(struct queue *queue, void (*drop)(struct pool_work *work))
{
	struct pool_work *work;

	while ((work = pop(queue)))
		if (drop)
			drop(work);
}

static void dismiss(struct crew *crew, void (*drop)(struct pool_work *work))
{
	drop_all(&crew->unnamed, drop);
	drop_all(&crew->urgent, drop);
	drop_all(&crew->other, drop);
	if (crew->asked_fd >= 0)
		close(crew->asked_fd);
}

void thread_pool__free(struct thread_pool *pool, void (*drop)(struct pool_work *work))
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->ending = true;
	pthread_mutex_unlock(&pool->lock);
	if (pool->ordinary.asked_fd >= 0)
		eventfd_write(pool->ordinary.asked_fd, 1);
	if (pool->patient.asked_fd >= 0)
		eventfd_write(pool->patient.asked_fd, 1);
	for (unsigned int i = 0; i < pool->count; i++)
		pthread_join(pool->threads[i], NULL);
	dismiss(&pool->ordinary, drop);
	dismiss(&pool->patient, drop);
	drop_all(&pool->done, drop);
	if (pool->done_fd >= 0)
		close(pool->done_fd);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

static void found(struct thread_pool *pool, struct crew *crew, unsigned int threads)
{
	crew->pool = pool;
	crew->threads = threads;
	crew->asked_fd = eventfd(0, EFD_CLOEXEC);
}

int thread_pool__new(unsigned int threads, unsigned int patient, pool_account_fn account_of,
		     struct thread_pool **out)
{
	unsigned int all = threads + patient;
	struct thread_pool *pool = calloc(1, sizeof(*pool) + all * sizeof(pool->threads[0]));
	int error = 0;

	if (!pool)
		return -ENOMEM;
	urgency__make_lock(&pool->lock);
	pool->account_of = account_of ? account_of : root_only;
	found(pool, &pool->ordinary, threads);
	found(pool, &pool->patient, patient);
	pool->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pool->ordinary.asked_fd < 0 || pool->patient.asked_fd < 0 || pool->done_fd < 0)
		error = -errno;
	while (!error && pool->count < all) {
		error = -pthread_create(&pool->threads[pool->count], NULL, serve,
					pool->count < threads ? &pool->ordinary : &pool->patient);
		pool->count += !error;
	}
	if (error) {
		thread_pool__free(pool, NULL);
		return error;
	}
	*out = pool;
	return 0;
}

int thread_pool__fd(const struct thread_pool *pool)
{
	return pool->done_fd;
}

void thread_pool__ask(struct thread_pool *pool, struct pool_work *work)
{
	struct crew *crew = work->turn == POOL_PATIENT ? &pool->patient : &pool->ordinary;

	pthread_mutex_lock(&pool->lock);
	push(&crew->unnamed, work);
	pthread_mutex_unlock(&pool->lock);
	eventfd_write(crew->asked_fd, 1);
}

struct pool_work *thread_pool__take(struct thread_pool *pool)
{
	struct pool_work *work;
	eventfd_t ignored;

	/* The descriptor is cleared before the check: work that ends after this makes it readable again. */
	eventfd_read(pool->done_fd, &ignored);
	pthread_mutex_lock(&pool->lock);
	work = pop(&pool->done);
	pthread_mutex_unlock(&pool->lock);
	return work;
}
