/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remembers in which order accounts (account.h) were served, to serve them in turn. Pure; the caller holds a
 * lock.
 */
#ifndef GRAIND_RECENT_H
#define GRAIND_RECENT_H

#include <stddef.h>
#include <sys/types.h>

#define RECENT_MOST 64

/* If all fields are zero, no account was served yet. */
struct recent {
	uid_t list[RECENT_MOST]; /* the account served last is first */
	size_t count;
};

/*
 * Returns how many other accounts were served since this one. An account that is not remembered counts as
 * served before all others.
 */
size_t recent__since(const struct recent *recent, uid_t account);
void recent__note(struct recent *recent, uid_t account);

#endif
