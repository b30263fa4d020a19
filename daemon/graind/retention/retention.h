/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the stored jobs within the policy's limits. Deletes finished jobs, the oldest first, and ends the
 * recording of a user whose jobs take more than is allowed. A user's newest job is never deleted for its
 * size. So a user who exceeds the quota still has what was recorded until then. Also keeps the session of
 * the always-profiled processes running while the policy names any.
 */
#ifndef GRAIND_RETENTION_H
#define GRAIND_RETENTION_H

#include "daemon/graind/jobs/jobs.h"

struct retention;

/*
 * Starts a thread for this. The thread sleeps while the policy limits nothing and wants no session. 0 or a
 * negative errno.
 */
int retention__start(struct jobs *jobs, bool with_session, struct retention **out);
/* Call this when the policy has changed. */
void retention__wake(struct retention *retention);
void retention__stop(struct retention *retention); /* accepts NULL; call this before the jobs are freed */

#endif
