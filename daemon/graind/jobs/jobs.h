/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry of the jobs that this graind runs. Any thread may call these functions. */
#ifndef GRAIND_JOBS_H
#define GRAIND_JOBS_H

#include "daemon/common/job_store/job_store.h"
#include "daemon/graind/base/failure.h"

#include <stdbool.h>

struct jobs;

/*
 * `store` must outlive the jobs. `socket` is where this graind listens. `idle_fd` is an eventfd that is
 * signalled whenever the last job has ended.
 */
int jobs__new(struct job_store *store, const char *socket, int idle_fd, struct jobs **out);
/*
 * Ends all jobs properly, accepts no new jobs and returns when all have ended. Waits at most 80 s. Returns
 * how many jobs have not ended by then, for example because their thread waits in the kernel for a file
 * server. If it is not 0, nothing that these jobs use may be freed.
 */
size_t jobs__end(struct jobs *jobs);
void jobs__free(struct jobs *jobs); /* accepts NULL */

size_t jobs__running(struct jobs *jobs);

/* The absolute path of the state directory; valid as long as the jobs. */
const char *jobs__state_dir(const struct jobs *jobs);

/*
 * Ends all jobs of this user's processes. Returns their number at once, without waiting until they have
 * ended.
 */
size_t jobs__stop_user(struct jobs *jobs, uid_t uid);

/* Tells how probes are attached: "uprobe_multi" or "perf"; "auto" before the first probes. */
void jobs__method(struct jobs *jobs, char method[32]);

#endif
