/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cgroups of a process allow it, of version 1 and 2. */
#ifndef GRAIND_CGROUP_LIMITS_H
#define GRAIND_CGROUP_LIMITS_H

#include "daemon/common/settings/cpus.h"

#include <limits.h>

struct cgroup_limits {
	double quota;	     /* CPUs: the smallest of the group and those around it; 0: none */
	char stat[PATH_MAX]; /* the cpu.stat of the group that has this quota; "": none */
	struct cpus cpuset;  /* empty: not known */
};

/*
 * Reads the limits of a process from its list of groups (/proc/PID/cgroup). `mounts` is where cgroups are
 * mounted: /proc/self/mounts. What cannot be read is left empty.
 */
void cgroup_limits__read(const char *groups, const char *mounts, struct cgroup_limits *out);

/* Periods of the quota, and those of them in which the group had to stop. false: not known. */
bool cgroup_limits__throttled(const struct cgroup_limits *limits, uint64_t *periods, uint64_t *stopped);

#endif
