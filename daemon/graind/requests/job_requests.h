/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of clients about the jobs of this graind and the jobs in the state directory. Any thread may
 * call these functions. They check what the user `peer` may see, for whom the caller asks.
 */
#ifndef GRAIND_JOB_REQUESTS_H
#define GRAIND_JOB_REQUESTS_H

#include "daemon/graind/jobs/jobs.h"

struct job_request {
	uid_t peer;
	pid_t pid; /* 0: every process, for root */
	bool at_start;
	uint64_t duration_s;	  /* 0: until the process ends */
	const json_t *counters;	  /* array of names, or NULL */
	unsigned int sample_hz;	  /* 0: no samples */
	bool sample_optional;	  /* if the budget has no samples left, the job goes on without them */
	const char *memory_event; /* of samples with data addresses; NULL: the default; "none" */
	bool samples_only;	  /* tasks and loops are not recorded */
	bool fast;		  /* tasks and loops are recorded by libgrainshim inside the process */
	bool lossless;		  /* with `fast`: threads wait when their rings are full */
	bool by_policy;		  /* pid 0: only the processes that the policy profiles always */
	uint64_t max_bytes;	  /* limit for each job's files; 0: as the policy says */
	double ceiling_percent; /* part of the process' time that recording may cost; 0: as the policy says */
};

/* These functions return 0, or -1 with *failure set. */
int jobs__start(struct jobs *jobs, const struct job_request *request, json_t **job, struct failure *failure);
int jobs__detach(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job, struct failure *failure);
int jobs__get(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job, struct failure *failure);
/* Lists the running jobs. job_list.h lists all jobs. */
int jobs__list(struct jobs *jobs, uid_t peer, json_t **list, struct failure *failure);

/* Begins or ends the session of the always-profiled processes, as the policy requires now. */
int jobs__follow_policy(struct jobs *jobs, struct failure *failure);

#endif
