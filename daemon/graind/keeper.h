/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps what is stored within the policy: deletes finished jobs, oldest first,
 * and ends the recording of a user whose jobs take more than is allowed. The
 * newest job of a user is never deleted for its size, so that whoever exceeds
 * the quota still has what was recorded until then. Sees to it that the session
 * of the processes that are always profiled runs while the policy has any.
 */
#ifndef GRAIND_KEEPER_H
#define GRAIND_KEEPER_H

#include "daemon/graind/jobs.h"

struct keeper;

/* In a thread of its own, which sleeps while the policy limits nothing and wants no session. */
int keeper__start(struct jobs *jobs, bool with_session, struct keeper **out);
/* The policy has changed. */
void keeper__wake(struct keeper *keeper);
void keeper__stop(struct keeper *keeper); /* accepts NULL; before the jobs are freed */

#endif
