/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out from a process' control group which batch job, pod, container or unit it belongs to. */
#ifndef GRAIND_CGROUP_NAME_H
#define GRAIND_CGROUP_NAME_H

struct cgroup_name {
	const char *kind; /* "slurm", "pbs", "pod", "container", "unit"; "": not known */
	char id[96];   /* the job's number (4711, 4711.server), the pod's id, 12 digits of the container's id,
			  or the unit's name */
	char step[48]; /* the step of a Slurm job, or the container of a pod; "": none */
};

/*
 * `lines` is the text of /proc/PID/cgroup, for cgroup version 1, 2 or both. Names that users choose are
 * made printable ASCII.
 */
void cgroup_name__read(const char *lines, struct cgroup_name *out);

/* Writes the name as text, such as "slurm:4711.0"; "": nothing is known. */
void cgroup_name__text(const struct cgroup_name *name, char out[160]);

#endif
