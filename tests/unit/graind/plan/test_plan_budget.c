// SPDX-License-Identifier: BSD-2-Clause
/* What making plans may take of an account: places and CPU time. */
#include "daemon/graind/plan/plan_budget.h"
#include "tests/unit/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define LONG_MS 600000u /* nobody waits so long here */
#define LIKELY_US 50000 /* they wait by then, though nothing depends on it */
#define MANY 1024	/* accounts whose time is known */

static atomic_bool unwanted;

struct asker {
	pthread_t thread;
	uid_t account;
	int error;
};

static int enter(uid_t account)
{
	unsigned int again_s;

	return plan_budget__enter(account, 0, &unwanted, &again_s);
}

static void *ask(void *argument)
{
	struct asker *asker = argument;
	unsigned int again_s;

	asker->error = plan_budget__enter(asker->account, LONG_MS, &unwanted, &again_s);
	return NULL;
}

static void start(struct asker *asker, uid_t account)
{
	*asker = (struct asker){.account = account};
	pthread_create(&asker->thread, NULL, ask, asker);
}

static int result(struct asker *asker)
{
	pthread_join(asker->thread, NULL);
	return asker->error;
}

static void check_places(void)
{
	unsigned int entered = 0;

	for (uid_t account = 1000; account < 1003; account++)
		for (int i = 0; i < PLAN_BUDGET_WORKERS; i++)
			entered += enter(account) == 0 &&
				   (i < PLAN_BUDGET_WORKERS - 1 || enter(account) == -EBUSY);
	CHECK(entered == PLAN_BUDGET_CROWDED, "accounts have %d workers each, and no more",
	      PLAN_BUDGET_WORKERS);
	CHECK(enter(1003) == 0, "another one has a worker beside them");
	CHECK(enter(1003) == -EBUSY, "but one only while there are many");
	plan_budget__leave(1000, 0);
	CHECK(enter(1003) == -EBUSY, "as long as there are %d", PLAN_BUDGET_CROWDED);
	plan_budget__leave(1001, 0);
	CHECK(enter(1003) == 0, "a second one once there are fewer");
	plan_budget__leave(1003, 0);
	entered = PLAN_BUDGET_CROWDED - 1;
	for (uid_t account = 2000; entered < PLAN_BUDGET_ALL; account++)
		if (enter(account) == 0)
			entered++;
		else
			break;
	CHECK(entered == PLAN_BUDGET_ALL, "%d accounts have one at a time", PLAN_BUDGET_ALL);
	CHECK(enter(3000) == -EBUSY && enter(0) == -EBUSY, "then everybody waits");
}

/* All places are taken. */
static void check_waiting(void)
{
	struct asker one, other;

	start(&one, 3000);
	usleep(LIKELY_US);
	plan_budget__leave(2000, 0);
	CHECK(result(&one) == 0, "who waits gets the place that becomes free");
	start(&one, 3001);
	start(&other, 3002);
	usleep(LIKELY_US);
	plan_budget__leave(3000, 0);
	plan_budget__leave(2001, 0);
	CHECK(result(&one) == 0 && result(&other) == 0, "so do two");
	start(&one, 3003);
	start(&other, 3001);
	usleep(LIKELY_US);
	atomic_store(&unwanted, true);
	plan_budget__wake();
	CHECK(result(&one) == -ECANCELED && result(&other) == -ECANCELED,
	      "what becomes unwanted does not wait");
	CHECK(enter(3003) == -ECANCELED, "nor does it begin");
	atomic_store(&unwanted, false);
	plan_budget__leave(3001, 0);
	plan_budget__leave(3002, 0);
	plan_budget__leave(1000, 0);
	plan_budget__leave(1001, 0);
	for (int i = 0; i < PLAN_BUDGET_WORKERS; i++)
		plan_budget__leave(1002, 0);
	plan_budget__leave(1003, 0);
	for (uid_t account = 2002; account < 2000 + PLAN_BUDGET_ALL - PLAN_BUDGET_CROWDED + 1; account++)
		plan_budget__leave(account, 0);
}

static void check_time(void)
{
	unsigned int again_s = 0;
	int error;

	CHECK(enter(4000) == 0, "who owes nothing begins");
	plan_budget__leave(4000, PLAN_BUDGET_AT_ONCE_NS - 5 * SECOND);
	CHECK(enter(4000) == 0, "who has time left begins");
	plan_budget__leave(4000, 105 * SECOND);
	error = plan_budget__enter(4000, LONG_MS, &unwanted, &again_s);
	CHECK(error == -EDQUOT, "whose time is used up does not, and does not wait for a place");
	CHECK(again_s > 100 * PLAN_BUDGET_PART / 2 && again_s <= 100 * PLAN_BUDGET_PART + 1,
	      "and is told until when: %u s", again_s);
	CHECK(enter(4001) == 0, "another one has his own");
	plan_budget__leave(4001, 0);
	CHECK(enter(0) == 0, "root begins");
	plan_budget__leave(0, 1000 * SECOND);
	CHECK(enter(0) == 0, "whatever it took");
	plan_budget__leave(0, 0);
}

/* Three accounts owe time already, or two. */
static void check_many_accounts(void)
{
	unsigned int begun = 0;

	for (uid_t account = 10000; account < 10000 + MANY && enter(account) == 0; account++) {
		plan_budget__leave(account, PLAN_BUDGET_AT_ONCE_NS / 2);
		begun++;
	}
	CHECK(begun == MANY - 2, "those who owe time are known, %u of them", begun);
	CHECK(enter(20000) == -EBUSY, "one for whom there is no place waits until somebody owes nothing");
	CHECK(enter(4000) == -EDQUOT, "nobody is forgotten meanwhile");
	CHECK(enter(10000) == 0, "who has a place and time left begins");
	plan_budget__leave(10000, 0);
}

int main(void)
{
	check_places();
	check_waiting();
	check_time();
	check_many_accounts();
	CHECK_DONE();
}
