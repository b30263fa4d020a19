/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the running graind, for `doctor`: its privileges and settings, as it reports them. */
#ifndef GRAINCTL_SERVICE_CHECKS_H
#define GRAINCTL_SERVICE_CHECKS_H

#include "daemon/grainctl/doctor/checks.h"

#include <jansson.h>

/* Asks graind for its status. NULL: no graind answers. `check` is filled in both cases. */
json_t *service_checks__ask(const struct ctl *ctl, struct check *check);

/* Whether graind has the capability, and whether it attaches by perf events. `status` NULL: no. */
bool service_checks__has(const json_t *status, const char *capability);
bool service_checks__uses_perf(const json_t *status);

void service_checks__capabilities(struct check *check, const json_t *status);

/* Fills at most four checks; returns their number. */
size_t service_checks__run(const json_t *status, struct check *out);

#endif
