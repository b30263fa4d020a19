// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/rate.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#define SECOND_NS 1000000000.0

struct allowance {
	uid_t account;
	uint64_t asked_ns; /* 0: unused */
	double left;	   /* at the time asked_ns */
};

/* An account with a full allowance need not be remembered, so another account may get its place. */
static struct {
	pthread_mutex_t lock;
	struct allowance known[RATE_ACCOUNTS], others;
} rates[RATE_KINDS] = {{.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER}};

static const struct {
	double per_second, at_once;
} limits[RATE_KINDS] = {{RATE_PER_SECOND, RATE_AT_ONCE}, {RATE_CONNECTIONS_PER_SECOND, RATE_AT_ONCE}};

static double left_of(enum rate_of what, const struct allowance *allowance, uint64_t now_ns)
{
	double left = allowance->left;

	if (!allowance->asked_ns)
		return limits[what].at_once;
	if (now_ns > allowance->asked_ns)
		left += (double)(now_ns - allowance->asked_ns) / SECOND_NS * limits[what].per_second;
	return left < limits[what].at_once ? left : limits[what].at_once;
}

static struct allowance *find(enum rate_of what, uid_t account, uint64_t now_ns)
{
	struct allowance *forgotten = NULL;

	for (size_t i = 0; i < RATE_ACCOUNTS; i++) {
		struct allowance *allowance = &rates[what].known[i];

		if (allowance->asked_ns && allowance->account == account)
			return allowance;
		if (!forgotten && left_of(what, allowance, now_ns) >= limits[what].at_once)
			forgotten = allowance;
	}
	if (!forgotten)
		return &rates[what].others;
	*forgotten = (struct allowance){.account = account};
	return forgotten;
}

bool rate__allows(enum rate_of what, uid_t account, uint64_t now_ns)
{
	struct allowance *allowance;
	bool allowed;

	pthread_mutex_lock(&rates[what].lock);
	allowance = find(what, account, now_ns);
	allowance->left = left_of(what, allowance, now_ns);
	if (now_ns > allowance->asked_ns)
		allowance->asked_ns = now_ns;
	allowed = allowance->left >= 1;
	if (allowed)
		allowance->left--;
	pthread_mutex_unlock(&rates[what].lock);
	return allowed;
}

bool rate__is_seldom(enum rate_of what, uid_t account, uint64_t now_ns)
{
	bool rare;

	pthread_mutex_lock(&rates[what].lock);
	rare = left_of(what, find(what, account, now_ns), now_ns) >= limits[what].at_once - RATE_RARE;
	pthread_mutex_unlock(&rates[what].lock);
	return rare;
}
