/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists jobs: graind's, and those in the state directory. */
#ifndef GRAINCTL_JOBS_LIST_H
#define GRAINCTL_JOBS_LIST_H

#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>

/* Appends the jobs of the graind at ctl->socket to `list`. `all`: also the finished ones. */
enum ctl_exit jobs_list__add_served(const struct ctl *ctl, bool all, json_t *list, char why[512]);

/*
 * Appends the jobs that only the state directory has: finished jobs, or jobs of a private graind. 0, or a
 * negative errno if that directory cannot be read.
 */
int jobs_list__add_stored(const struct ctl *ctl, bool all, json_t *list);

#endif
