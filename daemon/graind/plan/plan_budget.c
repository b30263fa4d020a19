// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/plan/plan_budget.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/deadline.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define ACCOUNTS 1024

/* An account's share. It is in use while the account has workers or owes CPU time. */
struct share {
	uid_t account;
	unsigned int workers;
	uint64_t owed_ns, counted_ns; /* CPU time owed at the time counted_ns */
};

static struct {
	pthread_once_t once;
	pthread_mutex_t lock;	/* guards what follows */
	pthread_cond_t changed; /* made once */
	struct share shares[ACCOUNTS];
	unsigned int workers; /* running workers of all accounts */
} budget = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void begin(void)
{
	deadline__make(&budget.changed);
}

/* Reduces the debt by the CPU time that was granted since. */
static void pay(struct share *share, uint64_t now)
{
	uint64_t paid = (now - share->counted_ns) / PLAN_BUDGET_PART;

	share->owed_ns = share->owed_ns > paid ? share->owed_ns - paid : 0;
	share->counted_ns = now;
}

/* Needs the lock. Returns the account's share, or a free one for it. NULL: too many accounts owe time. */
static struct share *share_of(uid_t account, uint64_t now)
{
	struct share *unused = NULL;

	for (size_t i = 0; i < ACCOUNTS; i++) {
		struct share *share = &budget.shares[i];

		if (share->workers || share->owed_ns)
			pay(share, now);
		if (share->workers || share->owed_ns) {
			if (share->account == account)
				return share;
		} else if (!unused) {
			unused = share;
		}
	}
	if (unused)
		*unused = (struct share){.account = account, .counted_ns = now};
	return unused;
}

static bool has_place(const struct share *share)
{
	return share && budget.workers < PLAN_BUDGET_ALL &&
	       (!share->workers ||
		(share->workers < PLAN_BUDGET_WORKERS && budget.workers < PLAN_BUDGET_CROWDED));
}

int plan_budget__enter(uid_t account, unsigned int wait_ms, const atomic_bool *unwanted,
		       unsigned int *again_s)
{
	uint64_t now = clock__now_ns(), until = now + wait_ms * UINT64_C(1000000);
	struct share *share;
	int error = 0;

	pthread_once(&budget.once, begin);
	pthread_mutex_lock(&budget.lock);
	for (;;) {
		now = clock__now_ns();
		share = share_of(account, now);
		if (atomic_load(unwanted))
			error = -ECANCELED;
		else if (account && share && share->owed_ns >= PLAN_BUDGET_AT_ONCE_NS)
			error = -EDQUOT;
		else if (!has_place(share) && now >= until)
			error = -EBUSY;
		if (error || has_place(share))
			break;
		deadline__await(&budget.changed, &budget.lock, until);
	}
	if (error == -EDQUOT)
		*again_s = (unsigned int)((share->owed_ns - PLAN_BUDGET_AT_ONCE_NS) * PLAN_BUDGET_PART /
					  1000000000) +
			   1;
	if (!error) {
		share->workers++;
		budget.workers++;
	}
	pthread_mutex_unlock(&budget.lock);
	return error;
}

void plan_budget__leave(uid_t account, uint64_t spent_ns)
{
	struct share *share;

	pthread_mutex_lock(&budget.lock);
	share = share_of(account, clock__now_ns());
	share->workers--;
	share->owed_ns += spent_ns;
	budget.workers--;
	pthread_cond_broadcast(&budget.changed);
	pthread_mutex_unlock(&budget.lock);
}

void plan_budget__wake(void)
{
	pthread_once(&budget.once, begin);
	pthread_mutex_lock(&budget.lock);
	pthread_cond_broadcast(&budget.changed);
	pthread_mutex_unlock(&budget.lock);
}
