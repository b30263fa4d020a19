/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The room that a job's directory takes. A finished one is its user's, who may
 * have put anything into it: nothing is followed that leads out of it.
 */
#ifndef GRAIND_JOB_SPACE_H
#define GRAIND_JOB_SPACE_H

#include <stdint.h>

/* Of one in which there is more than can be counted in reasonable time. */
#define JOB_SPACE_BOUNDLESS (UINT64_C(1) << 60)

/* Bytes on disk of all that is in the directory. */
uint64_t job_space__bytes(int dirfd);

/*
 * Removes all that is in it, directories too, however deep; the caller must own
 * it or have CAP_CHOWN. 0 or a negative errno.
 */
int job_space__empty(int dirfd);

#endif
