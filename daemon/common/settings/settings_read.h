/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the facts about a process from /proc and /sys, without stopping or probing it. What this user may not
 * read stays unknown.
 */
#ifndef GRAIND_SETTINGS_READ_H
#define GRAIND_SETTINGS_READ_H

#include "daemon/common/settings/cgroup_limits.h"
#include "daemon/common/settings/settings.h"

/* Watches the process for less than a second. 0, -ESRCH or -ENOMEM. Free *out with settings__free(). */
int settings__read(pid_t pid, struct settings_facts **out);
void settings__free(struct settings_facts *facts); /* accepts NULL */

/* What does not need watching. */
void settings__read_environment(pid_t pid, struct settings_environment *out);
/* 0 or -ENOMEM. */
int settings__read_limits(pid_t pid, struct cgroup_limits *out);

#endif
