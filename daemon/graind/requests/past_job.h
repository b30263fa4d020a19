/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that do not run in this graind: they have ended, or another graind runs them. */
#ifndef GRAIND_PAST_JOB_H
#define GRAIND_PAST_JOB_H

#include "daemon/graind/jobs/jobs.h"

/*
 * Reads the job's description without "socket": from the state directory, or the one that could not be
 * written there yet (unstored.h). A job that no graind can end any more is shown as failed. 0, or -1 with
 * *failure set.
 */
int past_job__read(struct jobs *jobs, uint64_t number, uid_t peer, json_t **out, struct failure *failure);

/* These functions return 0, or -1 with *failure set. */
int jobs__delete(struct jobs *jobs, uint64_t number, uid_t peer, struct failure *failure);
/* Opens the summary (JSON text) of a finished job for reading. The caller closes *fd. */
int jobs__open_summary(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure);
int jobs__open_trace(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure);

#endif
