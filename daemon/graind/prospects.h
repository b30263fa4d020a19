/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that have mapped a runtime and may be recorded: what only a living
 * process can tell is read at once, so that one that ends before its first
 * events are looked at is recorded all the same.
 */
#ifndef GRAIND_PROSPECTS_H
#define GRAIND_PROSPECTS_H

#include "daemon/graind/modules.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/process.h"

struct prospect {
	struct process process;
	struct module_table modules;
	const char *runtime; /* of attach__name() */
	bool late;	     /* the runtime was there before its probes */
	enum policy_profile profile;
	int pidfd;
};

struct prospects;

int prospects__new(struct prospects **out);
void prospects__free(struct prospects *prospects); /* accepts NULL */

/* Forgets what was known of the process, and looks at it; the oldest of too many go. */
void prospects__look(struct prospects *prospects, pid_t pid, const char *runtime, bool late);
void prospects__forget(struct prospects *prospects, pid_t pid);
/* The caller's from then on; NULL: nothing is known. */
struct prospect *prospects__take(struct prospects *prospects, pid_t pid);
void prospect__free(struct prospect *prospect); /* accepts NULL */

#endif
