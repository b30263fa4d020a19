/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state directory has one directory for each job, named by the job's number.
 *
 * STATE/last             the largest number ever claimed
 *   STATE/jobs             mode 0700; it and its content belong to the graind that serves it
 *   STATE/jobs/.lock       held while a number is claimed
 *   STATE/jobs/N/job.json  the job, see daemon/README.md
 *   STATE/jobs/N/...       trace.grt, summary.json
 *   STATE/jobs/N/.job.json.spare   while the job runs: room for its last job.json on a full disk
 *   STATE/jobs/.deleted-*  what is left of deleted jobs (job_store__clear)
 *   STATE/jobs/.taken-*, .new-*   while directories are taken back (job_adopt.h)
 *
 * Nobody else can write in jobs/. So names do not change there, and graind has written everything in a
 * job's directory. Directories that an older graind gave to users do not count as jobs for the serving
 * graind until they are taken back. A client also reads other users' state directories. It does not believe
 * what they say about their owner, and does not follow links or open other users' files.
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

/*
 * Prefix of the name that a deleted job has in jobs/; the job's number, "-" and the directory's owner follow.
 */
#define JOB_STORE_DELETED ".deleted-"

struct job_store;

struct job_store_error {
	char text[512]; /* one line */
};

/*
 * Opens the state directory. With `serve`, makes missing directories, and requires that they are writable
 * and that jobs/ belongs to this user, root or the user graind (-EPERM if not). 0, or a negative errno with
 * *err set.
 */
int job_store__open(const char *state_dir, bool serve, struct job_store **out, struct job_store_error *err);
void job_store__close(struct job_store *store); /* accepts NULL */
const char *job_store__path(const struct job_store *store);
/* The descriptor of jobs/, owned by the store; -1: there is none. */
int job_store__jobs_fd(const struct job_store *store);
/* Finds the owner of jobs/. Returns false if this user's files are not trusted. */
bool job_store__is_trusted(const struct job_store *store, uid_t *owner);
/* From now on trusts the owner of jobs/, but only for files that belong to this user. */
void job_store__trust(struct job_store *store);
/* Whether a directory in jobs/ that belongs to `owner` is graind's. */
bool job_store__trusts(const struct job_store *store, uid_t owner);

/*
 * Claims the next number and makes its directory. The caller owns *dirfd. -EBUSY: other processes held the
 * lock for five seconds.
 */
int job_store__claim(struct job_store *store, uint64_t *number, int *dirfd);

/*
 * Opens the directory of a job; -ENOENT: no such job. *owner (may be NULL) is the job's user. It comes from
 * the file system and graind only, so the user cannot fake it.
 */
int job_store__open_job(const struct job_store *store, uint64_t number, int *dirfd, uid_t *owner);

/*
 * Reads job.json: an object whose "job" is `number` and whose "uid" is the owner's. -ENOENT no such job,
 * -EACCES not permitted, -EBADMSG not written by graind.
 */
int job_store__read(const struct job_store *store, uint64_t number, json_t **out);

/* Lists the jobs' numbers in ascending order. The caller frees *numbers. */
int job_store__list(const struct job_store *store, uint64_t **numbers, size_t *count);

/*
 * Deletes a job. When this returns 0, nobody can find the job any more. Files that cannot be deleted at
 * once are left to job_store__clear().
 */
int job_store__delete(struct job_store *store, uint64_t number);
/*
 * Deletes what is left of deleted jobs, in about `steps` steps. Returns 0 when nothing is left, -EAGAIN
 * when more steps are needed, or another negative errno if something cannot be deleted.
 */
int job_store__clear(struct job_store *store, size_t steps);

/* ---- files of a job: job_store_files.c ------------------------------------------ */

/* Replaces job.json as a whole. */
int job_store__write(int dirfd, const json_t *job);

/*
 * Reserves disk space for the last job.json. job_store__write_last() uses it if the disk is full, and
 * releases it in any case.
 */
int job_store__reserve(int dirfd);
int job_store__write_last(int dirfd, const json_t *job);

/* Replaces the content of the file `name` in the directory with `size` bytes. */
int job_store__write_file(int dirfd, const char *name, const void *data, size_t size);

/* Opens a regular file of the directory's owner for reading. -EBADMSG: it is not such a file. */
int job_store__open_file(int dirfd, const char *name, int *fd);

/* Reads job.json of this directory. -EBADMSG: it is not an object, or is larger than JOB_JSON_MAX bytes. */
int job_store__read_object(int dirfd, json_t **out);

#endif
