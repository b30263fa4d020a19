/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses which finished jobs to delete so that the stored jobs stay within the policy. Jobs of a user with
 * too many or too large jobs are chosen before jobs of other users.
 */
#ifndef GRAIND_RETENTION_CHOICE_H
#define GRAIND_RETENTION_CHOICE_H

#include "daemon/graind/jobs/job_index.h"

struct retention_choice;

/* `jobs` must outlive the result. Jobs that are over may be chosen. 0 or -ENOMEM. */
int retention_choice__new(const struct indexed_job *jobs, size_t count, struct retention_choice **out);
void retention_choice__free(struct retention_choice *choice); /* accepts NULL */

/*
 * Each of the following functions returns the next job to delete, or NULL. A job is chosen only once, and
 * counts as deleted from then on unless retention_choice__stays() says otherwise.
 */
/*
 * Returns the oldest finished job of a user with more than `most` finished jobs; 0: no limit. Ignores
 * root's jobs.
 */
const struct indexed_job *retention_choice__too_many(struct retention_choice *choice, uint64_t most);
/*
 * Returns the oldest finished job, but never the newest job, of a user whose finished and running jobs
 * together take more than `bytes`. Ignores root's jobs.
 */
const struct indexed_job *retention_choice__too_large(struct retention_choice *choice, uint64_t bytes);
/*
 * If all finished jobs take more than `bytes`, returns the oldest job of the user whose jobs take most.
 * Never returns the last remaining job.
 */
const struct indexed_job *retention_choice__beyond_all(struct retention_choice *choice, uint64_t bytes);
void retention_choice__stays(struct retention_choice *choice, const struct indexed_job *job);

/*
 * Iterates, from *at = 0, over the accounts whose jobs still take more than `bytes`, except root. False:
 * there are no more.
 */
bool retention_choice__exceeds(const struct retention_choice *choice, uint64_t bytes, size_t *at,
			       uid_t *account);

#endif
