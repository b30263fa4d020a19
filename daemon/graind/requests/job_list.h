/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer {"jobs":[JOB,...]} with all jobs that a user may see. It is generated while it is sent, so
 * only the numbers and one job are in memory. A user may have one such list at a time, as generating it
 * keeps a CPU busy. Root may have any number.
 */
#ifndef GRAIND_JOB_LIST_H
#define GRAIND_JOB_LIST_H

#include "daemon/graind/jobs/jobs.h"

/* The list has at most this many jobs, the newest ones; "left_out" says how many older jobs there are. */
#define JOB_LIST_MOST 10000

struct job_list;

/*
 * Opens a list of the jobs that `peer` may see, for the user `uid` who asks. If the same user has an
 * earlier list, waits a while for its end, then fails with 429. 0, or -1 with *failure set.
 */
int job_list__open(struct jobs *jobs, uid_t peer, uid_t uid, struct job_list **out, struct failure *failure);
void job_list__close(struct job_list *list); /* accepts NULL; any thread may call it */

/* Estimates the size of the text in bytes. */
uint64_t job_list__bytes(const struct job_list *list);

/*
 * Reads the next bytes of the text, at least one and at most `room`. Returns their number, 0 at the end, or
 * -ENOMEM.
 */
ssize_t job_list__read(struct job_list *list, char *bytes, size_t room);

#endif
