/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounts are the users for whom resources are counted. A user may own a range of subordinate ids
 * (subuid(5), for rootless containers). Processes with any of these ids count for the account of that user.
 */
#ifndef GRAIND_ACCOUNT_H
#define GRAIND_ACCOUNT_H

#include <sys/types.h>

/*
 * Returns the account of `uid`: the owner of the subordinate range that contains it, or else `uid` itself.
 * Returns 0 only for uid 0. Any thread may call this, but not with a lock that other threads need: now and
 * then it reads the configuration again.
 */
uid_t account__of(uid_t uid);

/* account__of() the process' effective user id; (uid_t)-1: the process has ended. */
uid_t account__of_process(pid_t pid);

#endif
