/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_SETTINGS_WATCH_H
#define GRAIND_SETTINGS_WATCH_H

#include "daemon/common/settings/cgroup_limits.h"
#include "daemon/common/settings/settings.h"

/*
 * Watches the threads of the process and those of busy processes, and fills in `processes`, `threads`,
 * `seconds` and `throttled`. The machine must be known. 0, -ESRCH or -ENOMEM.
 */
int settings__watch(pid_t pid, const struct cgroup_limits *limits, struct settings_facts *facts);

#endif
