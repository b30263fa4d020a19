/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps what is stored within the policy: deletes finished jobs, oldest first,
 * and ends the recording of a user whose jobs take more than is allowed. The
 * newest job of a user is never deleted for its size, so that whoever exceeds
 * the quota still has what was recorded until then.
 */
#ifndef GRAIND_KEEPER_H
#define GRAIND_KEEPER_H

#include "daemon/graind/jobs.h"

struct keeper;

/* In a thread of its own, which sleeps while the policy limits nothing. */
int keeper__start(struct jobs *jobs, struct keeper **out);
/* The policy has changed. */
void keeper__wake(struct keeper *keeper);
void keeper__stop(struct keeper *keeper); /* accepts NULL; before the jobs are freed */

#endif
