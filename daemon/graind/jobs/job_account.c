// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/jobs/job_account.h"

#include <math.h>

static double number(const json_t *object, const char *key)
{
	double value = json_number_value(json_object_get(object, key));

	return value > 0 && isfinite(value) ? value : 0;
}

void job_account__take(struct job_account *account, const json_t *summary, double wall_s, long cpus)
{
	const json_t *object = json_object_get(summary, "account");
	const json_t *causes = json_object_get(object, "causes_ns");
	double cores = number(object, "threads"), claimed = 0, most;

	*account = (struct job_account){0};
	if (cpus > 0 && cores > (double)cpus)
		cores = (double)cpus;
	most = cores * (wall_s > 0 ? wall_s : 0);
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++) {
		/* No sum of so few parts is infinite. */
		account->cause_s[i] =
			fmin(number(causes, grain_cause__name((enum grain_cause)i)) / 1e9, 1e300);
		claimed += account->cause_s[i];
	}
	account->core_s = fmin(claimed, most);
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		account->cause_s[i] = claimed > 0 ? account->cause_s[i] / claimed * account->core_s : 0;
}

void job_account__add(struct job_account *sum, const struct job_account *account)
{
	sum->core_s += account->core_s;
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		sum->cause_s[i] += account->cause_s[i];
}

double job_account__lost_share(const struct job_account *account)
{
	double lost = 0;

	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++)
		if (grain_cause__lost((enum grain_cause)i))
			lost += account->cause_s[i];
	return account->core_s > 0 ? lost / account->core_s : NAN;
}
