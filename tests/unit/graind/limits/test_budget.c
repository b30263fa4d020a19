// SPDX-License-Identifier: BSD-2-Clause
/* What users may take together: each a part, all together not what is root's, and no sum is too large. */
#include "daemon/graind/limits/budget.h"
#include "tests/unit/check.h"

#include <errno.h>
#include <string.h>

#define ANN 1001
#define BOB 1002

static struct budget *budget;
static char why[400];

static int take(struct budget_share *share, enum budget_resource resource, uint64_t amount)
{
	return budget__take(budget, share, resource, amount, why, sizeof(why));
}

static void test_user(void)
{
	struct budget_share a = {.account = ANN}, b = {.account = ANN}, other = {.account = BOB};

	CHECK(take(&a, BUDGET_SAMPLES, 60) == 0 && take(&b, BUDGET_SAMPLES, 40) == 0, "a user gets his part");
	CHECK(take(&b, BUDGET_SAMPLES, 1) == -EDQUOT, "and no more");
	CHECK(strstr(why, "your jobs take 100 of at most 100 samples a second already, and 1 more"),
	      "which is said: %s", why);
	CHECK(b.taken[BUDGET_SAMPLES] == 40 && budget__of(budget, ANN, BUDGET_SAMPLES) == 100,
	      "what is refused is not taken");
	CHECK(take(&b, BUDGET_EVENTS, 5) == 0, "each resource is counted by itself");
	CHECK(take(&other, BUDGET_SAMPLES, 100) == 0, "another user has a part of his own");
	budget__give_back(budget, &a);
	CHECK(budget__of(budget, ANN, BUDGET_SAMPLES) == 40, "what a recording had is given back");
	budget__give_back(budget, &a);
	CHECK(budget__of(budget, ANN, BUDGET_SAMPLES) == 40, "once");
	CHECK(take(&a, BUDGET_SAMPLES, 60) == 0, "and can be taken again");
	budget__give_back(budget, &a);
	budget__give_back(budget, &b);
	budget__give_back(budget, &other);
	CHECK(budget__of(budget, ANN, BUDGET_EVENTS) == 0 && budget__of(budget, BOB, BUDGET_SAMPLES) == 0,
	      "all of it");
}

static void test_host(void)
{
	struct budget_share users[4] = {{.account = 1}, {.account = 2}, {.account = 3}, {.account = 4}};
	struct budget_share root = {.account = 0}, more = {.account = 0};

	for (int i = 0; i < 3; i++)
		CHECK(take(&users[i], BUDGET_SAMPLES, 80) == 0, "user %d gets his part", i + 1);
	CHECK(take(&users[3], BUDGET_SAMPLES, 11) == -EBUSY,
	      "all together get no more than is there for them");
	CHECK(strstr(why, "all users' jobs together take 240 of at most 250 "), "which is said: %s", why);
	CHECK(take(&users[3], BUDGET_SAMPLES, 10) == 0, "what is left can be had");
	CHECK(take(&root, BUDGET_SAMPLES, 150) == 0, "the rest is root's, whose part has no other bound");
	CHECK(take(&more, BUDGET_SAMPLES, 1) == -EBUSY && strstr(why, "take 400 of at most 400 "),
	      "but that of the machine: %s", why);
	for (int i = 0; i < 4; i++)
		budget__give_back(budget, &users[i]);
	CHECK(take(&more, BUDGET_SAMPLES, 200) == 0, "root may have what users do not use");
	CHECK(take(&users[0], BUDGET_SAMPLES, 51) == -EBUSY, "which they cannot have then");
	CHECK(take(&users[0], BUDGET_SAMPLES, 50) == 0, "but the rest");
	budget__give_back(budget, &users[0]);
	budget__give_back(budget, &root);
	budget__give_back(budget, &more);
	CHECK(budget__of(budget, 0, BUDGET_SAMPLES) == 0, "in the end nothing is taken");
}

static void test_sums(void)
{
	struct budget_share user = {.account = ANN}, root = {.account = 0};

	CHECK(take(&user, BUDGET_SAMPLES, 10) == 0 && take(&user, BUDGET_SAMPLES, UINT64_MAX) == -EDQUOT &&
		      take(&user, BUDGET_SAMPLES, UINT64_MAX - 5) == -EDQUOT,
	      "sums do not overflow");
	CHECK(take(&root, BUDGET_SAMPLES, 10) == 0 && take(&root, BUDGET_SAMPLES, UINT64_MAX) == -EBUSY,
	      "those of root neither");
	CHECK(take(&user, BUDGET_EVENTS, 0) == 0 && take(&user, BUDGET_SESSIONS, 1) == -EDQUOT,
	      "nothing of what there is nothing of");
	budget__give_back(budget, &user);
	budget__give_back(budget, &root);
	for (uid_t uid = 1; uid < 200; uid++) {
		struct budget_share share = {.account = uid};

		CHECK(take(&share, BUDGET_EVENTS, 1) == 0, "user %u", uid);
		budget__give_back(budget, &share);
	}
}

int main(void)
{
	const struct budget_limits limits[BUDGET_RESOURCES] = {
		[BUDGET_SAMPLES] = {.user = 100, .host = 400, .reserve = 150},
		[BUDGET_EVENTS] = {.user = 10, .host = 20, .reserve = 5},
	};
	struct budget_share share = {.account = ANN};

	CHECK(budget__new(limits, &budget) == 0, "a budget");
	test_user();
	test_host();
	test_sums();
	budget__free(budget);
	CHECK(budget__take(budget__host(), &share, BUDGET_SAMPLES, 10000, why, sizeof(why)) == 0,
	      "this machine's has room for one who samples as often as is possible: %s", why);
	budget__give_back(budget__host(), &share);
	CHECK_DONE();
}
