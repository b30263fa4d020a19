/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of a session that get no job: the latest ones, so that each is tried once, and so that the
 * kernel tells no more of them.
 */
#ifndef GRAIND_REFUSALS_H
#define GRAIND_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define REFUSALS_MOST 256

struct capture;

/* Zeroed but for the capture it is empty. */
struct refusals {
	struct capture *capture;
	struct {
		pid_t pid;
		bool by_policy;
	} list[REFUSALS_MOST];
	size_t next;
	unsigned int policy; /* the generation that was followed last */
};

/* by_policy: until the policy changes. */
void refusals__add(struct refusals *refusals, pid_t pid, bool by_policy);
bool refusals__has(const struct refusals *refusals, pid_t pid);
/* It is another program now. */
void refusals__forget(struct refusals *refusals, pid_t pid);
/* Forgets whom the policy left out when its generation is another one now. */
void refusals__follow(struct refusals *refusals, unsigned int generation);

#endif
