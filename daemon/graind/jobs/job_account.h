/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a job's threads lost, in core-seconds by cause, from the account in its summary. A worker that runs as
 * the job's user made the summary, so its numbers may be anything. They are never more than the cores had in
 * the time that the job was recorded.
 */
#ifndef GRAIND_JOB_ACCOUNT_H
#define GRAIND_JOB_ACCOUNT_H

#include "analysis/include/grain_account.h"

#include <jansson.h>

struct job_account {
	double core_s; /* threads x wall time; 0: there is no account */
	double cause_s[GRAIN_CAUSE_COUNT];
};

/*
 * Takes the account from a summary. With more threads than `cpus`, a core's second is divided among them. If
 * the causes add up to more than cores x `wall_s`, all of them become smaller in proportion.
 */
void job_account__take(struct job_account *account, const json_t *summary, double wall_s, long cpus);
void job_account__add(struct job_account *sum, const struct job_account *account);
/* The part of core_s that is lost. NAN: there is no account. */
double job_account__lost_share(const struct job_account *account);

#endif
