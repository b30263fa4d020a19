// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/cpu_budget.h"
#include "daemon/graind/base/clock.h"

#include <pthread.h>
#include <stddef.h>

#define ACCOUNTS 256
#define SECOND_NS 1000000000.0

struct budget {
	uid_t account;
	uint64_t since_ns; /* 0: unused */
	double left;	   /* seconds that were left at that time */
};

static const struct {
	double share, seconds;
} limits[CPU_BUDGETS] = {
	[CPU_OF_WORKERS] = {CPU_BUDGET_SHARE, CPU_BUDGET_SECONDS},
	[CPU_OF_CHILDREN] = {CPU_BUDGET_CHILDREN_SHARE, CPU_BUDGET_CHILDREN_SECONDS},
};

/* An account with a full budget may be forgotten. Accounts for which there is no place share one budget. */
static struct {
	pthread_mutex_t lock; /* guards what follows */
	struct budget known[CPU_BUDGETS][ACCOUNTS], others[CPU_BUDGETS];
} budgets = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double left_of(enum cpu_budget_of what, const struct budget *budget, uint64_t now)
{
	const double most = limits[what].seconds;
	double left = budget->left + (double)(now - budget->since_ns) / SECOND_NS * limits[what].share;

	return budget->since_ns && left < most ? left : most;
}

static struct budget *find(enum cpu_budget_of what, uid_t account, uint64_t now)
{
	struct budget *free_one = NULL;

	for (size_t i = 0; i < ACCOUNTS; i++) {
		struct budget *budget = &budgets.known[what][i];

		if (budget->since_ns && budget->account == account)
			return budget;
		if (!free_one && left_of(what, budget, now) >= limits[what].seconds)
			free_one = budget;
	}
	if (!free_one)
		return &budgets.others[what];
	*free_one = (struct budget){.account = account};
	return free_one;
}

static struct budget *settle(enum cpu_budget_of what, uid_t account)
{
	uint64_t now = clock__now_ns();
	struct budget *budget = find(what, account, now);

	budget->left = left_of(what, budget, now);
	budget->since_ns = now;
	return budget;
}

bool cpu_budget__allows(enum cpu_budget_of what, uid_t account, unsigned int *wait)
{
	double left;

	pthread_mutex_lock(&budgets.lock);
	left = settle(what, account)->left;
	pthread_mutex_unlock(&budgets.lock);
	*wait = left > 0 ? 0 : 1 + (unsigned int)(-left / limits[what].share);
	return left > 0;
}

void cpu_budget__spend(enum cpu_budget_of what, uid_t account, uint64_t cpu_ns)
{
	pthread_mutex_lock(&budgets.lock);
	settle(what, account)->left -= (double)cpu_ns / SECOND_NS;
	pthread_mutex_unlock(&budgets.lock);
}
