// SPDX-License-Identifier: BSD-2-Clause
/* Who has the capture that is loaded in advance, when several users ask. */
#include "daemon/graind/attach/spare_askers.h"
#include "tests/unit/check.h"

#define ANN 1000
#define BOB 1001
#define MS UINT64_C(1000000)

static void alone(void)
{
	struct spare_askers askers = {.taken = false};
	int had = 0;

	for (uint64_t ms = 1; ms < 100; ms++) {
		had += spare_askers__may_take(&askers, ANN, ms * MS);
		spare_askers__note(&askers, ANN, true, ms * MS);
	}
	CHECK(had == 99, "one user has each capture");
	CHECK(!spare_askers__more_come(&askers, 100 * MS), "nothing is loaded while jobs run");
}

/* Ann begins a job each 10 ms, Bob one each second. A capture is loaded 100 ms after one was taken. */
static void beside_many(void)
{
	struct spare_askers askers = {.taken = false};
	uint64_t there_ms = 0;
	int had = 0, bobs = 0;

	for (uint64_t ms = 10; ms < 20000; ms += 10) {
		uid_t account = ms % 1000 == 500 ? BOB : ANN;
		bool there = ms >= there_ms;

		bobs += account == BOB;
		if (!spare_askers__may_take(&askers, account, ms * MS))
			continue;
		spare_askers__note(&askers, account, there, ms * MS);
		if (!there)
			continue;
		had += account == BOB;
		there_ms = ms + 100;
	}
	CHECK(had >= bobs - 1, "bob has one each time but the first, perhaps: %d of %d", had, bobs);
	CHECK(spare_askers__may_take(&askers, ANN, 20000 * MS + SPARE_ASKERS_EXPECTED_NS),
	      "when he asks no more, ann has all again");
}

static void while_jobs_run(void)
{
	struct spare_askers askers = {.taken = false};

	spare_askers__note(&askers, ANN, true, 1 * MS);
	CHECK(!spare_askers__more_come(&askers, 2 * MS), "one job needs no second capture");
	spare_askers__note(&askers, BOB, false, 3 * MS);
	CHECK(spare_askers__more_come(&askers, 4 * MS), "but a job that finds none does");
	CHECK(!spare_askers__more_come(&askers, 3 * MS + SPARE_ASKERS_EXPECTED_NS), "for some seconds");
}

int main(void)
{
	alone();
	beside_many();
	while_jobs_run();
	CHECK_DONE();
}
