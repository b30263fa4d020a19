/* SPDX-License-Identifier: BSD-2-Clause */
/* What the graind that runs has and was told, as it says itself: checks for `doctor`. */
#ifndef GRAINCTL_SERVICE_CHECKS_H
#define GRAINCTL_SERVICE_CHECKS_H

#include "daemon/grainctl/checks.h"

#include <jansson.h>

/* Its status, or NULL where none answers; `check` is filled either way. */
json_t *service_checks__ask(const struct ctl *ctl, struct check *check);

/* Whether it has the capability; whether it attaches by perf events. NULL: no. */
bool service_checks__has(const json_t *status, const char *capability);
bool service_checks__uses_perf(const json_t *status);

void service_checks__capabilities(struct check *check, const json_t *status);

/* Fills four checks at most; returns how many. */
size_t service_checks__run(const json_t *status, struct check *out);

#endif
