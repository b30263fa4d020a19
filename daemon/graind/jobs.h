/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The jobs of this graind and, for requests, those in the state directory.
 * All calls may come from any thread. What a caller may see is decided here,
 * by the user `peer` on whose behalf it asks.
 */
#ifndef GRAIND_JOBS_H
#define GRAIND_JOBS_H

#include "daemon/common/job_store.h"

#include <stdbool.h>

struct jobs;

/* Why a request failed: an HTTP status and one line. */
struct failure {
	int status;
	char text[600];
};

/* Fills *failure and returns -1, so that it can be returned. */
int failure__set(struct failure *failure, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * `store` must outlive the jobs, `socket` is where this graind listens.
 * `idle_fd` gets an eventfd's signal whenever the last job has ended.
 */
int jobs__new(struct job_store *store, const char *socket, int idle_fd, struct jobs **out);
/* Ends all jobs properly, accepts no new ones and returns when all have ended. */
void jobs__end(struct jobs *jobs);
void jobs__free(struct jobs *jobs); /* accepts NULL */

/* Jobs that a graind at this socket left behind when it was killed are marked as failed. */
void jobs__recover(struct jobs *jobs);

size_t jobs__running(struct jobs *jobs);

struct job_request {
	uid_t peer;
	pid_t pid; /* 0: every process, for root */
	bool at_start;
	uint64_t duration_s;	  /* 0: until it ends */
	const json_t *counters;	  /* array of names, or NULL */
	unsigned int sample_hz;	  /* 0: no samples */
	const char *memory_event; /* whose samples have addresses; NULL: the processor's; "none" */
	bool samples_only;	  /* tasks and loops are not recorded */
	bool fast;		  /* they are by libgrainshim, from inside of the process */
	bool lossless;		  /* whose threads wait when their rings are full */
	bool by_policy;		  /* of every process only those that are always profiled */
	uint64_t max_bytes;	  /* of each job's files; 0: as the policy says */
	double ceiling_percent;	  /* of its time that recording may cost; 0: as the policy says */
};

/* These return 0, or -1 with *failure set. */
int jobs__start(struct jobs *jobs, const struct job_request *request, json_t **job, struct failure *failure);
int jobs__detach(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job, struct failure *failure);
int jobs__get(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job, struct failure *failure);
int jobs__list(struct jobs *jobs, uid_t peer, bool all, json_t **list, struct failure *failure);
int jobs__delete(struct jobs *jobs, uint64_t number, uid_t peer, struct failure *failure);
/* JSON text of a finished job; its file is opened for reading. */
int jobs__open_summary(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure);
int jobs__open_trace(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure);

/* Ends all that is being recorded of that user's processes; the number of jobs. Returns at once. */
size_t jobs__stop_user(struct jobs *jobs, uid_t uid);

/* Begins or ends the session of the processes that are always profiled, as the policy wants it now. */
int jobs__follow_policy(struct jobs *jobs, struct failure *failure);

/* "uprobe_multi" or "perf" once probes were attached, before that "auto". */
void jobs__method(struct jobs *jobs, char method[32]);

#endif
