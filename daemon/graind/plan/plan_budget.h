/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits what the planning of users' own files may take, by account (account.h). So a user waits only for
 * plans of the same user's files. Any thread may call these functions. The lock is never held for long.
 * Private to plan_cache.c.
 */
#ifndef GRAIND_PLAN_BUDGET_H
#define GRAIND_PLAN_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The number of workers that an account may have at a time. While all accounts together have at least
 * PLAN_BUDGET_CROWDED workers, an account may have only one.
 */
#define PLAN_BUDGET_WORKERS 2
#define PLAN_BUDGET_CROWDED 6
/* If there are this many workers in all, even an account without a worker waits. */
#define PLAN_BUDGET_ALL 32
/*
 * CPU time of an account: how much can be saved up, and which part (1/20) of each second is granted. Root
 * has no limit.
 */
#define PLAN_BUDGET_AT_ONCE_NS UINT64_C(30000000000)
#define PLAN_BUDGET_PART 20

/*
 * Call this before starting a worker. Waits at most `wait_ms` until the account may have one more. 0;
 * -EBUSY: the account may not have one yet; -EDQUOT: the account's CPU time is used up, and *again_s is the
 * number of seconds to wait; -ECANCELED: *unwanted has become true.
 */
int plan_budget__enter(uid_t account, unsigned int wait_ms, const atomic_bool *unwanted,
		       unsigned int *again_s);
/* Call this after the worker has ended. `spent_ns` is the CPU time that it used. */
void plan_budget__leave(uid_t account, uint64_t spent_ns);
/* Makes all waiting threads check whether their plan is still wanted. */
void plan_budget__wake(void);

#endif
