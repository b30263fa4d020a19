/* SPDX-License-Identifier: BSD-2-Clause */
/* Places that all users share. Pure. */
#ifndef GRAIND_PLACES_H
#define GRAIND_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Whether a user who has `of_user` places gets one of the `left` ones: nobody but root has more than are left
 * for the others, so that there are some for whoever comes next.
 */
bool places__allow(uid_t uid, size_t of_user, size_t left);

#endif
