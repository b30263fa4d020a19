/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits how much of each scarce resource the recordings of one account may take, and all recordings
 * together. A recording takes what it needs before it begins, and gives it back when it has ended. So only
 * the user who asks for too much is refused. A part of each resource is reserved for root and for
 * administrators, who count as user 0. Any thread may call these functions.
 */
#ifndef GRAIND_BUDGET_H
#define GRAIND_BUDGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum budget_resource {
	BUDGET_SAMPLES,	    /* requested samples per second */
	BUDGET_CPU_SAMPLES, /* samples per second on each CPU; they interrupt any program that runs there */
	BUDGET_EVENTS,	    /* perf events; each is a file descriptor */
	BUDGET_SESSIONS,    /* recordings of every process */
	BUDGET_CAPTURES,    /* sets of probes, including those that are being removed */
	BUDGET_PROCESSES,   /* processes with their own probes, which slow down every hit in that file */
	BUDGET_RESOURCES
};

struct budget_limits {
	uint64_t user;	  /* for all recordings of one account; root has no such limit */
	uint64_t host;	  /* for all recordings */
	uint64_t reserve; /* the part of `host` that is root's */
};

/* What a recording has taken, and the account for which it counts (account__of()). */
struct budget_share {
	uid_t account;
	uint64_t taken[BUDGET_RESOURCES];
};

struct budget;

int budget__new(const struct budget_limits limits[BUDGET_RESOURCES], struct budget **out);
void budget__free(struct budget *budget); /* accepts NULL */

/*
 * Returns a budget with limits for this machine's CPUs and graind's limit of file descriptors. NULL: out of
 * memory.
 */
struct budget *budget__host(void);

/*
 * Takes `amount`. Returns 0, or takes nothing and returns -EDQUOT (the account's limit) or -EBUSY (the
 * machine's limit) with a message in `why`.
 */
int budget__take(struct budget *budget, struct budget_share *share, enum budget_resource resource,
		 uint64_t amount, char *why, size_t size);
/* Gives back everything that the share has taken. Then the share is empty. */
void budget__give_back(struct budget *budget, struct budget_share *share);

/* Returns how much the account has taken now. */
uint64_t budget__of(struct budget *budget, uid_t account, enum budget_resource resource);

#endif
