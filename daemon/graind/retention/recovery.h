/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles what an earlier graind has left in the state directory. */
#ifndef GRAIND_RECOVERY_H
#define GRAIND_RECOVERY_H

#include "daemon/graind/jobs/jobs.h"

/*
 * Call this at the start. Makes graind the owner of directories that belong to users. Marks jobs as failed
 * that a graind at this socket left unfinished when it was killed.
 */
void jobs__recover(struct jobs *jobs);

/*
 * For this long, continues to take back directories that an older graind gave to users, and to remove what
 * deleted jobs have left. Returns 0 when everything is done, or else after how many seconds to call it
 * again.
 */
unsigned int recovery__go_on(struct jobs *jobs, unsigned int milliseconds);

#endif
