/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latest processes of a session that get no job. Each is tried only once, and the kernel reports no
 * more events of it.
 */
#ifndef GRAIND_REFUSALS_H
#define GRAIND_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define REFUSALS_MOST 256

struct capture;

/* If all fields except the capture are zero, it is empty. */
struct refusals {
	struct capture *capture;
	struct {
		pid_t pid;
		bool by_policy;
	} list[REFUSALS_MOST];
	size_t next;
	unsigned int policy; /* the generation of the policy at the last refusals__follow() */
};

/* Adds a process. by_policy: only until the policy changes. */
void refusals__add(struct refusals *refusals, pid_t pid, bool by_policy);
bool refusals__has(const struct refusals *refusals, pid_t pid);
/* Removes a process that has executed another program. */
void refusals__forget(struct refusals *refusals, pid_t pid);
/* If the generation of the policy has changed, removes the processes that the policy excluded. */
void refusals__follow(struct refusals *refusals, unsigned int generation);

#endif
