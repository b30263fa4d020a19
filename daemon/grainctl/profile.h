/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking a graind to profile a process, and following the job that comes of it. */
#ifndef GRAINCTL_PROFILE_H
#define GRAINCTL_PROFILE_H

#include "daemon/grainctl/job.h"

#include <sys/types.h>

/* On CTL_DONE *out is the new job; otherwise one line is in `why`. duration_s 0: until it ends. */
enum ctl_exit profile__start(const char *socket, pid_t pid, bool at_start, uint64_t duration_s,
			     struct job *out, char why[512]);

/*
 * Waits until the job of a process that has ended is over and *job describes
 * the end. Otherwise one line is in `why`.
 */
enum ctl_exit profile__wait(const struct ctl *ctl, const char *socket, struct job *job, char why[512]);

#endif
