/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of one process. */
#ifndef GRAIND_PROCESS_H
#define GRAIND_PROCESS_H

#include "daemon/graind/mpi_rank.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	bool one_user;	  /* real, effective and saved ids agree and /proc/PID belongs to that user */
	bool leader;	  /* of its thread group */
	bool opted_out;	  /* GRAIND_OFF=1 is in its environment: its user does not want it profiled */
	bool dead;	  /* only its exit status is left */
	uint32_t threads; /* that its OpenMP runtime will use, as far as its environment tells */
	char exe[4096];	  /* as the process sees it; "" for kernel threads */
	char cmd[4096];	  /* arguments joined by spaces, cut */
	char batch[160];  /* cgroup_name__text() */
	struct mpi_rank mpi;
};

/* -ESRCH no such process, -EACCES not permitted. */
int process__read(pid_t pid, struct process *out);

/* As process__read, but only the ids and the state. */
int process__read_ids(pid_t pid, struct process *out);

/* Field `field` of /proc/PID/stat, a number behind the state, as proc_pid_stat(5) counts; false: it cannot be
 * read. */
bool process__stat(pid_t pid, int field, uint64_t *out);

/* The text of /proc/PID/cgroup, which the caller frees; NULL when it cannot be read. */
char *process__cgroups(pid_t pid);

/* Its group and supplementary ones, at most `room`; the number. */
size_t process__groups(pid_t pid, gid_t *groups, size_t room);

/* Changes whenever the set of files mapped executable does; 0 when it cannot be read. */
uint64_t process__map_signature(pid_t pid);

/* May `uid` profile the process: it is its own, wholly, or uid is root. */
bool process__belongs_to(const struct process *process, uid_t uid);

/* Whether the process of this descriptor (pidfd_open(2)) has ended; whoever has its number then is another.
 */
bool process__has_ended(int pidfd);

/*
 * The process may have become somebody else's by executing a set-uid file: then nothing more is read of it.
 * Whatever root's becomes, it was root's.
 */
bool process__is_same_user(const struct process *was);

#endif
