// SPDX-License-Identifier: BSD-2-Clause
/* What a job lost, from the account in a summary: it is never more than the cores had, whatever is claimed.
 */
#include "daemon/graind/jobs/job_account.h"
#include "tests/unit/check.h"

#include <math.h>
#include <string.h>

static struct job_account take(const char *text, double wall_s, long cpus)
{
	struct job_account account;
	json_t *summary = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);

	memset(&account, 0x7f, sizeof(account));
	job_account__take(&account, summary, wall_s, cpus);
	json_decref(summary);
	return account;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9 * fmax(1, fabs(b));
}

static double sum(const struct job_account *account)
{
	double all = 0;

	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		all += account->cause_s[i];
	return all;
}

static void check_true(void)
{
	struct job_account a = take("{\"account\":{\"threads\":2,\"causes_ns\":{\"useful\":6000000000,"
				    "\"imbalance\":1000000000,\"serial\":1000000000}}}",
				    4.5, 8),
			   total = {0};

	CHECK(near(a.core_s, 8) && near(a.cause_s[GRAIN_CAUSE_USEFUL], 6) &&
		      near(a.cause_s[GRAIN_CAUSE_IMBALANCE], 1) && a.cause_s[GRAIN_CAUSE_LOCKS] == 0,
	      "an account is taken as it is");
	CHECK(near(job_account__lost_share(&a), 0.25), "the part that is lost");
	job_account__add(&total, &a);
	job_account__add(&total, &a);
	CHECK(near(total.core_s, 16) && near(total.cause_s[GRAIN_CAUSE_SERIAL], 2), "accounts add up");
	a = take("{\"account\":{\"threads\":8,\"causes_ns\":{\"useful\":20e9,\"preempted\":60e9}}}", 10, 2);
	CHECK(near(a.core_s, 20) && near(a.cause_s[GRAIN_CAUSE_PREEMPTED], 15),
	      "threads that share CPUs count with the CPUs");
}

static void check_none(void)
{
	static const char *const none[] = {"{}",
					   "[]",
					   "{\"account\":null}",
					   "{\"account\":{\"why\":\"windows\"}}",
					   "{\"account\":{\"threads\":2}}",
					   "{\"account\":{\"threads\":2,\"causes_ns\":[1]}}",
					   "{\"account\":{\"causes_ns\":{\"useful\":5}}}"};
	int wrong = 0;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct job_account a = take(none[i], 10, 4);

		wrong += a.core_s != 0 || sum(&a) != 0 || !isnan(job_account__lost_share(&a));
	}
	CHECK(wrong == 0, "no account: nothing is counted (%d are)", wrong);
}

static void check_hostile(void)
{
	static const char *const hostile[] = {
		"{\"account\":{\"threads\":1e300,\"causes_ns\":{\"locks\":1e308,\"useful\":1e308}}}",
		"{\"account\":{\"threads\":4,\"causes_ns\":{\"locks\":1e30,\"serial\":-1e30}}}",
		"{\"account\":{\"threads\":4,\"causes_ns\":{\"locks\":-5,\"serial\":\"x\",\"useful\":true}}}",
		"{\"account\":{\"threads\":-4,\"causes_ns\":{\"locks\":5e9}}}",
		"{\"account\":{\"threads\":1,\"causes_ns\":{\"locks\":1e11,\"no such cause\":1e300}}}",
	};
	int wrong = 0;

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct job_account a = take(hostile[i], 10, 4);

		wrong += !(a.core_s >= 0 && a.core_s <= 40) || !near(sum(&a), a.core_s);
		for (int c = 0; c < GRAIN_CAUSE_COUNT; c++)
			wrong += !(a.cause_s[c] >= 0 && a.cause_s[c] <= 40);
	}
	CHECK(wrong == 0, "no claim is counted beyond cores x wall time (%d wrong)", wrong);
	CHECK(near(take(hostile[4], 10, 4).core_s, 10), "one thread has one core");
	CHECK(take(hostile[0], 0, 4).core_s == 0, "no time: nothing");
}

int main(void)
{
	check_true();
	check_none();
	check_hostile();
	CHECK_DONE();
}
