/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users who want none of their processes recorded. Each has a file in the state
 * directory, STATE/optout/UID, which every graind of that directory looks at
 * anew: nothing is kept in memory. A file that is not as graind wrote it counts
 * for nothing, and optout__json tells of it. All calls may come from any thread.
 */
#ifndef GRAIND_OPTOUT_H
#define GRAIND_OPTOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Makes the directory where there is none, and logs what is wrong in it. Without
 * one nobody has opted out or can: -EPERM when others may write there, or another
 * negative errno.
 */
int optout__open(const char *state_dir);
void optout__close(void);

bool optout__has(uid_t uid);

/*
 * On the disk when it returns. *changed: it was not so before. -EUSERS: more than
 * a thousand have opted out and this machine knows no user of that number.
 */
int optout__set(uid_t uid, bool on, bool *changed);

/* Another number whenever somebody's wish has changed here. */
unsigned int optout__generation(void);

/* {"count","users":[{"uid","user"},...],"error"}: the first hundred by number; error is one line, "" = none.
 */
json_t *optout__json(void);

#endif
