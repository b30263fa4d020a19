/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process' control group says it belongs to: a batch job, a pod, a container, a unit. */
#ifndef GRAIND_CGROUP_NAME_H
#define GRAIND_CGROUP_NAME_H

struct cgroup_name {
	const char *kind; /* "slurm", "pbs", "pod", "container", "unit"; "" when it tells nothing */
	char id[96];	  /* 4711, 4711.server, the pod's, twelve digits of the container's, the unit's */
	char step[48];	  /* of a Slurm job, or the container of a pod; "" = none */
};

/* `lines`: /proc/PID/cgroup, of version 1, 2 or both. What is named by users is made printable ASCII. */
void cgroup_name__read(const char *lines, struct cgroup_name *out);

/* "slurm:4711.0", "" when it tells nothing. */
void cgroup_name__text(const struct cgroup_name *name, char out[160]);

#endif
