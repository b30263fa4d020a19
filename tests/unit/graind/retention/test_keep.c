// SPDX-License-Identifier: BSD-2-Clause
/* What is deleted by itself: whose job goes first, and when the clock is believed. */
#include "daemon/common/job_store/job_space.h"
#include "daemon/graind/retention/retention_choice.h"
#include "daemon/graind/retention/retention_clock.h"

#include "tests/unit/check.h"

#define DAY INT64_C(86400)

static struct indexed_job finished(uint64_t number, uid_t account, uint64_t bytes)
{
	return (struct indexed_job){
		.number = number, .uid = account, .account = account, .bytes = bytes, .over = true};
}

typedef const struct indexed_job *(*next_fn)(struct retention_choice *choice, uint64_t limit);

/* Numbers of those that go, in this order, as "1 2 ". */
static const char *gone(const struct indexed_job *jobs, size_t count, next_fn next, uint64_t limit)
{
	static char text[256];
	const struct indexed_job *job;
	struct retention_choice *choice;
	size_t used = 0;

	text[0] = 0;
	if (retention_choice__new(jobs, count, &choice) != 0)
		return "no memory";
	while ((job = next(choice, limit)) && used < sizeof(text) - 24)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%llu ",
					 (unsigned long long)job->number);
	retention_choice__free(choice);
	return text;
}

static void test_users(void)
{
	struct indexed_job jobs[] = {
		finished(1, 7, 10), finished(2, 0, 900), finished(3, 7, 10), finished(4, 8, 10),
		finished(5, 7, 10), finished(6, 0, 900), finished(7, 7, 10),
	};
	struct retention_choice *choice;
	uid_t account = 1;
	size_t at = 0;

	CHECK_STR(gone(jobs, 7, retention_choice__too_many, 2), "1 3 ", "the oldest of who has too many");
	CHECK_STR(gone(jobs, 7, retention_choice__too_many, 0), "", "0 is no limit");
	CHECK_STR(gone(jobs, 7, retention_choice__too_large, 25), "1 3 ", "the oldest of who has too much");
	CHECK_STR(gone(jobs, 7, retention_choice__too_large, 5), "1 3 5 ", "never the newest");
	jobs[6].over = false;
	CHECK_STR(gone(jobs, 7, retention_choice__too_large, 25), "1 3 ", "what runs counts");
	CHECK_STR(gone(jobs, 7, retention_choice__too_many, 1), "1 3 ", "but not as one that is kept");
	jobs[6].bytes = UINT64_MAX - 5;
	CHECK_STR(gone(jobs, 7, retention_choice__too_large, 25), "1 3 5 ",
		  "a sum beyond all numbers is no small one");
	CHECK(retention_choice__new(jobs, 7, &choice) == 0 &&
		      retention_choice__exceeds(choice, 25, &at, &account) && account == 7 &&
		      !retention_choice__exceeds(choice, 25, &at, &account),
	      "who has too much still; root may");
	retention_choice__free(choice);
	jobs[0].unknown = true;
	CHECK_STR(gone(jobs, 7, retention_choice__too_many, 1), "3 ", "what cannot be read is left alone");
}

static void test_all(void)
{
	const struct indexed_job jobs[] = {
		finished(1, 7, 10), finished(2, 7, 10), finished(3, 8, 40),
		finished(4, 8, 30), finished(5, 9, 60),
	};
	const struct indexed_job ranges[] = {
		{.number = 1, .uid = 100001, .account = 8, .bytes = 20, .over = true},
		{.number = 2, .uid = 7, .account = 7, .bytes = 30, .over = true},
		{.number = 3, .uid = 100002, .account = 8, .bytes = 20, .over = true},
	};

	CHECK_STR(gone(jobs, 5, retention_choice__beyond_all, 150), "", "within the limit");
	CHECK_STR(gone(jobs, 5, retention_choice__beyond_all, 140), "3 ", "the oldest of the heaviest");
	CHECK_STR(gone(jobs, 5, retention_choice__beyond_all, 100), "3 5 ",
		  "then of who is the heaviest then");
	CHECK_STR(gone(jobs, 5, retention_choice__beyond_all, 20), "3 5 4 ", "who has little keeps it");
	CHECK_STR(gone(jobs, 5, retention_choice__beyond_all, 1), "3 5 4 1 ", "the last there is stays");
	CHECK_STR(gone(ranges, 3, retention_choice__beyond_all, 60), "1 ",
		  "ids of a user's range are that user");
	CHECK(job_space__add(UINT64_MAX - 1, 5) == UINT64_MAX && job_space__add(3, 4) == 7,
	      "sums end somewhere");
}

static void test_failures(void)
{
	const struct indexed_job jobs[] = {finished(1, 7, 10), finished(2, 7, 10), finished(3, 7, 10)};
	const struct indexed_job *first, *second;
	struct retention_choice *choice;

	CHECK(retention_choice__new(jobs, 3, &choice) == 0, "three jobs");
	first = retention_choice__too_large(choice, 20);
	CHECK(first && first->number == 1, "the first is to go");
	retention_choice__stays(choice, first);
	second = retention_choice__too_large(choice, 20);
	CHECK(second && second->number == 2, "if it cannot the next does");
	CHECK(!retention_choice__too_large(choice, 20), "and no more");
	retention_choice__free(choice);
}

static void test_clock(void)
{
	const int64_t now = INT64_C(1700000000);
	struct retention_clock clock;
	struct retention_clock_seen seen = {.wall_s = now - 600};

	CHECK(retention_clock__begin(&clock, &seen, now, 100) == RETENTION_CLOCK_GOES &&
		      retention_clock__rest(&clock) == 0,
	      "a graind that was away for a moment");
	CHECK(retention_clock__age(&clock, now - 5 * DAY) == 5 * DAY, "ages are what the clock says");
	CHECK(retention_clock__age(&clock, now + 5) == 0, "nothing is younger than now");
	CHECK(retention_clock__age(&clock, 0) == 0, "what has no end has no age");
	CHECK(retention_clock__look(&clock, now + 600, 700) == RETENTION_CLOCK_GOES &&
		      retention_clock__rest(&clock) == 0,
	      "ten minutes");
	CHECK(retention_clock__look(&clock, now + 4000, 800) == RETENTION_CLOCK_GOES,
	      "less than an hour too many");
	CHECK(retention_clock__look(&clock, now + 40 * DAY, 900) == RETENTION_CLOCK_JUMPED &&
		      retention_clock__rest(&clock) == RETENTION_CLOCK_REST_S,
	      "forty days in a hundred seconds");
	CHECK(retention_clock__look(&clock, now + 40 * DAY + 1000, 1900) == RETENTION_CLOCK_GOES &&
		      retention_clock__rest(&clock) == RETENTION_CLOCK_REST_S - 1000,
	      "it rests for a day");
	CHECK(retention_clock__look(&clock, now, 2000) == RETENTION_CLOCK_TURNED &&
		      retention_clock__age(&clock, now + DAY) == 0 && retention_clock__rest(&clock) > 0,
	      "back, with nothing deleted at once either");
	CHECK(retention_clock__look(&clock, now + DAY, 2000 + DAY) == RETENTION_CLOCK_GOES &&
		      !retention_clock__rest(&clock),
	      "a day that passed, asleep or not");

	seen = (struct retention_clock_seen){.wall_s = now - 2 * DAY};
	CHECK(retention_clock__begin(&clock, &seen, now, 0) == RETENTION_CLOCK_ABSENT &&
		      retention_clock__rest(&clock) == RETENTION_CLOCK_REST_S,
	      "nobody looked for two days");
	seen = (struct retention_clock_seen){.wall_s = 0};
	CHECK(retention_clock__begin(&clock, &seen, now, 0) == RETENTION_CLOCK_UNKNOWN &&
		      retention_clock__rest(&clock) == RETENTION_CLOCK_REST_S,
	      "nobody ever did");
	seen = (struct retention_clock_seen){.wall_s = now - 60, .rest_left_s = 4000};
	CHECK(retention_clock__begin(&clock, &seen, now, 50) == RETENTION_CLOCK_GOES &&
		      retention_clock__rest(&clock) == 4000,
	      "another graind goes on resting");
	seen = (struct retention_clock_seen){.wall_s = now + DAY, .rest_left_s = INT64_MAX};
	CHECK(retention_clock__begin(&clock, &seen, now, 50) == RETENTION_CLOCK_TURNED &&
		      retention_clock__rest(&clock) == RETENTION_CLOCK_REST_S,
	      "a day at most, whatever was kept");
	seen = (struct retention_clock_seen){.wall_s = now - 60, .rest_left_s = -5};
	CHECK(retention_clock__begin(&clock, &seen, now, 50) == RETENTION_CLOCK_GOES &&
		      retention_clock__rest(&clock) == 0,
	      "or not at all");
}

int main(void)
{
	test_users();
	test_all();
	test_failures();
	test_clock();
	CHECK_DONE();
}
