/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state directory: one directory a job, named by its number.
 *
 *   STATE/last             the largest number ever claimed
 *   STATE/jobs/N/job.json  the job, see daemon/README.md
 *   STATE/jobs/N/...       trace.grt, summary.json
 *
 * While a job runs its directory belongs to the graind that runs it; at the
 * end job_store__hand_over gives it to the job's user. From then on its
 * content is the user's: everything read from it is checked, nothing is
 * written through its names, and symbolic links are not followed.
 *
 * Several processes may use one state directory at a time.
 */
#ifndef GRAIND_JOB_STORE_H
#define GRAIND_JOB_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JOB_FILE "job.json"
#define TRACE_FILE "trace.grt"
#define SUMMARY_FILE "summary.json"

#define JOB_JSON_MAX (256u << 10)

struct job_store;

struct job_store_error {
	char text[512]; /* one line */
};

/* With `create` the directories are made and must be writable. */
int job_store__open(const char *state_dir, bool create, struct job_store **out, struct job_store_error *err);
void job_store__close(struct job_store *store); /* accepts NULL */
const char *job_store__path(const struct job_store *store);

/* Claims the next number and makes its directory; *dirfd is the caller's. */
int job_store__claim(struct job_store *store, uint64_t *number, int *dirfd);

/*
 * Opens the directory of a job: -ENOENT no such job. *owner (may be NULL) is
 * the user whose job it is, as only the file system and graind can say.
 */
int job_store__open_job(const struct job_store *store, uint64_t number, int *dirfd, uid_t *owner);

/*
 * Reads job.json: an object whose "job" is `number` and whose "uid" is the
 * owner's. -ENOENT no such job, -EACCES, -EBADMSG not what graind wrote.
 */
int job_store__read(const struct job_store *store, uint64_t number, json_t **out);

/* Replaces job.json as a whole. */
int job_store__write(int dirfd, const json_t *job);

/* Replaces the file `name` in the directory by `size` bytes. */
int job_store__write_file(int dirfd, const char *name, const void *data, size_t size);

/* Opens a regular file of the directory's owner for reading; -EBADMSG for anything else. */
int job_store__open_file(int dirfd, const char *name, int *fd);

/* Gives the directory and graind's files in it to the user. */
int job_store__hand_over(int dirfd, uid_t uid, gid_t gid);

/* Numbers in ascending order; the caller frees *numbers. */
int job_store__list(const struct job_store *store, uint64_t **numbers, size_t *count);

/* Removes the job's directory; -ENOTEMPTY when there is a directory in it. */
int job_store__delete(struct job_store *store, uint64_t number);

#endif
