// SPDX-License-Identifier: BSD-2-Clause
/* Users who take all places that they get, one after the other. */
#include "daemon/graind/limits/fair_share.h"
#include "tests/unit/check.h"

#include <stdint.h>

#define ALL 256

static size_t takes_all(uid_t uid, size_t left)
{
	size_t taken = 0;

	while (fair_share__allow(uid, taken, left - taken))
		taken++;
	return taken;
}

int main(void)
{
	size_t left = ALL, taken, users = 0;

	CHECK(takes_all(1000, ALL) == ALL / 2, "a user alone gets half of them");
	CHECK(takes_all(0, ALL) == ALL, "root gets all");
	for (uid_t uid = 1000; left > 2; uid++) {
		taken = takes_all(uid, left);
		CHECK(taken == left / 2, "then half of what is left: %zu of %zu", taken, left);
		left -= taken;
		users++;
	}
	CHECK(users == 7 && fair_share__allow(2000, 0, left),
	      "after seven who take all there is one for the next");
	CHECK(!fair_share__allow(2000, 0, 0) && !fair_share__allow(0, 0, 0),
	      "where none is left nobody gets one");
	CHECK(fair_share__left(ALL, 0, 32) == 224 && fair_share__left(ALL, 200, 32) == 24,
	      "users get what is not reserved");
	CHECK(fair_share__left(ALL, 224, 32) == 0 && fair_share__left(ALL, 250, 32) == 0 &&
		      fair_share__left(ALL, SIZE_MAX, 0) == 0,
	      "and nothing of what is");
	CHECK(fair_share__allow(0, 0, ALL - 224), "which root gets");
	CHECK_DONE();
}
