/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs that have ended but whose last job.json could not be written, because the disk is full or read-only.
 * Their descriptions are kept in memory, guarded by the registry's lock, and written when there is room.
 * The lock is not held during writing.
 */
#ifndef GRAIND_UNSTORED_H
#define GRAIND_UNSTORED_H

#include "daemon/graind/jobs/jobs.h"

#include <time.h>

/*
 * Needs the lock. Reports the result of writing a job's last description, which has "socket"; error 0: it
 * is written. Takes over `dirfd` and `json`, and logs a failure. `json` is NULL if memory was short. If too
 * many descriptions are kept already, or memory is short, this one is not kept; past_job__read() then shows
 * the job as failed.
 */
void unstored__take(struct jobs *jobs, uint64_t number, int dirfd, json_t *json, int error);

/*
 * Call this without the lock. Tries again to write the kept descriptions, unless a thread is doing so or
 * has just done so.
 */
void unstored__retry(struct jobs *jobs);
/*
 * Like unstored__retry(), for the end of graind. Waits until `until` for a thread that is writing. Then
 * tries in any case, unless that thread is still busy.
 */
void unstored__retry_last(struct jobs *jobs, const struct timespec *until);

/*
 * Needs the lock. Returns the kept description as it must be written; the registry keeps it. NULL: none is
 * kept, which is usual.
 */
json_t *unstored__find(const struct jobs *jobs, uint64_t number);

/* Needs the lock. Drops the description of a job that is being deleted. */
void unstored__forget(struct jobs *jobs, uint64_t number);

/* For the end of graind: logs which descriptions could not be written. */
void unstored__free(struct jobs *jobs);

#endif
