/* SPDX-License-Identifier: BSD-2-Clause */
/* A process as /proc shows it. */
#ifndef GRAIND_PROCESS_H
#define GRAIND_PROCESS_H

#include "daemon/graind/process/mpi_rank.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	bool one_user; /* all its user ids are the same, and the kernel lets this user inspect it */
	bool leader; /* it leads its thread group, so `pid` is the number of a process and not of a thread */
	bool opted_out;	  /* GRAIND_OFF=1 is in its environment: its user does not want it profiled */
	bool dead;	  /* the process has ended, and only its exit status is left */
	uint32_t threads; /* number of threads that its OpenMP runtime will use, judged by its environment */
	char exe[4096];	  /* path as the process sees it; "" for kernel threads */
	char cmd[4096];	  /* arguments joined by spaces; may be cut */
	char batch[160];  /* cgroup_name__text() */
	struct mpi_rank mpi;
};

/*
 * Reads the process. Everything that says to whom the process belongs was read at one moment. -ESRCH: no
 * such process; -EACCES: not permitted; -EAGAIN: it changed its user during each attempt.
 */
int process__read(pid_t pid, struct process *out);

/* Like process__read(), but reads only the ids and the state. */
int process__read_ids(pid_t pid, struct process *out);

/*
 * Reads field number `field` of /proc/PID/stat, counted as in proc_pid_stat(5). The field must be a number
 * after the state. False: it cannot be read.
 */
bool process__stat(pid_t pid, int field, uint64_t *out);

/* Returns the text of /proc/PID/cgroup, which the caller frees. NULL: it cannot be read. */
char *process__cgroups(pid_t pid);

/* Writes the group and the supplementary groups of the process, at most `room`. Returns their number. */
size_t process__groups(pid_t pid, gid_t *groups, size_t room);

/*
 * Returns a number that changes whenever the process maps other files as executable; 0: it cannot be read.
 */
uint64_t process__map_signature(pid_t pid);

/* Makes root the owner of the process in this record. */
void process__make_roots(struct process *process);

/* Whether `uid` may profile the process: uid is root, or all ids of the process are uid. */
bool process__belongs_to(const struct process *process, uid_t uid);

/*
 * Whether the process of this descriptor (pidfd_open(2)) has ended. If so, its pid may already belong to
 * another process.
 */
bool process__has_ended(int pidfd);

/*
 * Whether the process still belongs to the same user. It changes its user by executing a set-uid file;
 * after that nothing more may be read from it. Call this before reading the process, and again before using
 * anything that was read. A process that belonged to root may change to any user.
 */
bool process__is_same_user(const struct process *was);

#endif
