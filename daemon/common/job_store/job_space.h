/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The disk space of a job's directory. A directory that an older graind gave to a user may contain
 * anything, so nothing that leads out of the directory is followed.
 */
#ifndef GRAIND_JOB_SPACE_H
#define GRAIND_JOB_SPACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* a + b, or UINT64_MAX where that overflows. */
uint64_t job_space__add(uint64_t a, uint64_t b);

/* Returns the bytes on disk of the files in the directory. Counts only the first few thousand files. */
uint64_t job_space__bytes(int dirfd);

/*
 * Deletes everything in the directory, including subdirectories at any depth. Each file reduces *steps by
 * about one; -EAGAIN when no steps are left. The directories must belong to the caller, or to `owner` if
 * the caller has CAP_CHOWN. Content of other users' directories stays (-EPERM), as `owner` could not remove
 * it either.
 */
int job_space__empty(int dirfd, uid_t owner, size_t *steps);

#endif
