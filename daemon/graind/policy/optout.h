/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users who do not want their processes to be recorded. Each of them has a file, optout/UID in the state
 * directory. Every graind with that directory reads the files each time and caches nothing. A file with
 * content that graind does not write is ignored, and optout__json() reports it. Any thread may call these
 * functions.
 */
#ifndef GRAIND_OPTOUT_H
#define GRAIND_OPTOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Makes the directory if there is none, and logs what is wrong in it. If this fails, nobody has opted out
 * and nobody can. Returns 0, -EPERM if others may write into the directory, or another negative errno.
 */
int optout__open(const char *state_dir);
void optout__close(void);

bool optout__has(uid_t uid);

/*
 * Sets or clears a user's wish. It is on the disk when this returns. *changed: it was different before.
 * Returns 0 or a negative errno. -EUSERS: more than a thousand users have opted out, and this machine has no
 * user `uid`.
 */
int optout__set(uid_t uid, bool on, bool *changed);

/* Returns a number that changes whenever this graind changes a wish. */
unsigned int optout__generation(void);

/*
 * Returns {"count", "users": [{"uid", "user"}, ...], "error"}. `users` has the hundred users with the
 * smallest uids. `error` says in one line what is wrong in the directory; "": nothing is wrong.
 */
json_t *optout__json(void);

#endif
