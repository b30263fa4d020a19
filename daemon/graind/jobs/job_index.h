/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An index of the jobs in the state directory: their users, when they ended and how many bytes they take.
 * It is built at the start and updated with everything that this graind does. job_index__refresh() finds
 * changes that other processes make in the directory. Any thread may call these functions. The index' lock
 * is held only for short computations, so calls are allowed with the registry's lock held.
 */
#ifndef GRAIND_JOB_INDEX_H
#define GRAIND_JOB_INDEX_H

#include "daemon/common/job_store/job_store.h"

struct job_index;

struct indexed_job {
	uint64_t number, bytes;
	uid_t uid, account; /* account__of(uid) */
	int64_t ended_s;    /* seconds of the wall clock, as graind wrote it; 0 while the job runs */
	bool over;
	bool here;    /* this graind runs or has run the job */
	bool unknown; /* the job is graind's, but its job.json cannot be read, so its user is unknown */
};

int job_index__new(struct job_store *store, struct job_index **out);
void job_index__free(struct job_index *index); /* accepts NULL */

/* A job of this graind begins. If memory is short, the next refresh finds the job. */
void job_index__begun(struct job_index *index, uint64_t number, uid_t uid, uid_t account);
/* A job has ended. `bytes` is its final size. */
void job_index__ended(struct job_index *index, uint64_t number, int64_t ended_s, uint64_t bytes);
void job_index__measured(struct job_index *index, uint64_t number, uint64_t bytes);
void job_index__forget(struct job_index *index, uint64_t number);

bool job_index__find(struct job_index *index, uint64_t number, struct indexed_job *out);

/*
 * Finds what other processes have changed in the directory: new jobs, deleted jobs, and jobs of another
 * graind that have ended. Reads one file for each of them. With `all`, does so at once. Otherwise only if
 * jobs/ has changed and enough time has passed, so that this takes a small share of a CPU.
 */
void job_index__refresh(struct job_index *index, bool all);

/*
 * Called for each job that is new to the index. `error`: 0, or a negative errno if its job.json cannot be
 * used.
 */
typedef void (*job_index_fn)(void *ctx, const struct indexed_job *job, const json_t *json, int error);
/* Fills the index at the start. */
void job_index__build(struct job_index *index, job_index_fn each, void *ctx);

/*
 * Returns a copy of the index in ascending order of job numbers, which the caller frees. NULL: out of
 * memory.
 */
struct indexed_job *job_index__copy(struct job_index *index, size_t *count);

/*
 * Returns the numbers of the newest `most` jobs of `uid` (0: of all users) in ascending order. The caller
 * frees them. *left_out: how many older jobs there are. NULL: out of memory.
 */
uint64_t *job_index__numbers(struct job_index *index, uid_t uid, size_t most, size_t *count,
			     size_t *left_out);

#endif
