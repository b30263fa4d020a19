/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes back the job directories that an older graind gave to their users. Users may have put anything into
 * them, and may still do so. Each directory is renamed to a name that is not a job's, given to graind with
 * mode 0700, and read only then. A new directory replaces it. The new directory gets the trace and the
 * summary if they are the former owner's own files, and a new job.json. The rest is deleted later
 * (job_store__clear()). A failure loses nothing, and the call can be repeated.
 */
#ifndef GRAIND_JOB_ADOPT_H
#define GRAIND_JOB_ADOPT_H

#include "daemon/common/job_store/job_store.h"

/* Called for each job that was taken back, or that could not be taken back (`error`: a negative errno). */
typedef void (*job_adopt_fn)(void *ctx, uint64_t number, uid_t owner, int error);

/*
 * Takes back directories until none is left, or until CLOCK_MONOTONIC reaches `until` (ns). Returns whether
 * some are left.
 */
bool job_adopt__all(struct job_store *store, uint64_t until, job_adopt_fn tell, void *ctx);

#endif
