/* SPDX-License-Identifier: BSD-2-Clause */
/* Which jobs there are: graind's, and those in the state directory. */
#ifndef GRAINCTL_JOBS_LIST_H
#define GRAINCTL_JOBS_LIST_H

#include "daemon/grainctl/ctl.h"

#include <jansson.h>

/* Appends those of the graind at ctl->socket to `list`, with `all` the finished ones too. */
enum ctl_exit jobs_list__add_served(const struct ctl *ctl, bool all, json_t *list, char why[512]);

/*
 * Appends those that only the state directory knows: finished, or of a private
 * graind. 0, or why that directory cannot be read (negative errno).
 */
int jobs_list__add_stored(const struct ctl *ctl, bool all, json_t *list);

#endif
