/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares a limited number of places between users. Pure. */
#ifndef GRAIND_FAIR_SHARE_H
#define GRAIND_FAIR_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Whether an account (account.h) that has `of_user` places may take one of the `left` free places. Only
 * root may have more places than are left for others. So a new user always finds a place.
 */
bool fair_share__allow(uid_t uid, size_t of_user, size_t left);

/*
 * Returns how many of `most` places are free for ordinary users when `taken` are taken. The last `reserved`
 * places are for root and the admin group.
 */
size_t fair_share__left(size_t most, size_t taken, size_t reserved);

#endif
