// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/turns.h"
#include "daemon/graind/base/deadline.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* How long it may take until a thread notices that its turn is unwanted. */
#define LOOK_NS 200000000

void turns__init(struct turns *turns, size_t most, size_t reserved, size_t of_account,
		 size_t asked_of_account)
{
	memset(turns, 0, sizeof(*turns));
	turns->most = most;
	turns->reserved = reserved;
	turns->of_account = of_account;
	turns->asked_of_account = asked_of_account;
	urgency__make_lock(&turns->lock);
	deadline__make(&turns->changed);
}

static size_t count_of(const struct turn *list, uid_t account)
{
	size_t count = 0;

	for (; list; list = list->next)
		count += list->account == account;
	return count;
}

static void take_out(struct turn **list, const struct turn *turn)
{
	while (*list != turn)
		list = &(*list)->next;
	*list = turn->next;
}

static bool may_begin(const struct turns *turns, uid_t account)
{
	if (account == 0)
		return turns->count < turns->most;
	return fair_share__left(turns->most, turns->count, turns->reserved) &&
	       count_of(turns->going_on, account) < turns->of_account;
}

static bool is_before(const struct turns *turns, const struct turn *one, const struct turn *other)
{
	size_t ones = count_of(turns->going_on, one->account),
	       others = count_of(turns->going_on, other->account);
	size_t one_since = recent__since(&turns->recent, one->account),
	       other_since = recent__since(&turns->recent, other->account);

	if (ones != others)
		return ones < others;
	return one_since != other_since ? one_since > other_since : one->came < other->came;
}

static const struct turn *next(const struct turns *turns)
{
	const struct turn *chosen = NULL;

	for (const struct turn *turn = turns->waiting; turn; turn = turn->next)
		if (may_begin(turns, turn->account) && (!chosen || is_before(turns, turn, chosen)))
			chosen = turn;
	return chosen;
}

static int await(struct turns *turns, const struct turn *turn, unsigned int seconds,
		 const atomic_bool *unwanted)
{
	struct timespec now, until;

	clock_gettime(CLOCK_MONOTONIC, &now);
	until = (struct timespec){.tv_sec = now.tv_sec + seconds, .tv_nsec = now.tv_nsec};
	while (next(turns) != turn) {
		struct timespec look;

		if (unwanted && atomic_load(unwanted))
			return -ECANCELED;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec))
			return -ETIMEDOUT;
		look = (struct timespec){.tv_sec = now.tv_sec + (now.tv_nsec + LOOK_NS >= 1000000000),
					 .tv_nsec = (now.tv_nsec + LOOK_NS) % 1000000000};
		pthread_cond_timedwait(&turns->changed, &turns->lock, &look);
	}
	return 0;
}

int turns__enter(struct turns *turns, uid_t account, struct turn *turn, unsigned int seconds,
		 const atomic_bool *unwanted)
{
	int error = 0;

	pthread_mutex_lock(&turns->lock);
	*turn = (struct turn){.account = account, .came = ++turns->came, .next = turns->waiting};
	if (count_of(turns->waiting, account) + count_of(turns->going_on, account) >= turns->asked_of_account)
		error = -EUSERS;
	if (!error) {
		turns->waiting = turn;
		error = await(turns, turn, seconds, unwanted);
		take_out(&turns->waiting, turn);
	}
	if (!error) {
		recent__note(&turns->recent, account);
		turn->next = turns->going_on;
		turns->going_on = turn;
		turns->count++;
	}
	/* Another turn may be the next one now. */
	pthread_cond_broadcast(&turns->changed);
	pthread_mutex_unlock(&turns->lock);
	return error;
}

void turns__leave(struct turns *turns, struct turn *turn)
{
	pthread_mutex_lock(&turns->lock);
	take_out(&turns->going_on, turn);
	turns->count--;
	pthread_cond_broadcast(&turns->changed);
	pthread_mutex_unlock(&turns->lock);
}
