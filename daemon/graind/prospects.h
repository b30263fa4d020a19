/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that have mapped a runtime and may be recorded: what only a living
 * process can tell is read at once, by a thread that does nothing else, so that
 * one that ends before its first events are looked at is recorded all the same.
 */
#ifndef GRAIND_PROSPECTS_H
#define GRAIND_PROSPECTS_H

#include "daemon/graind/attach.h"
#include "daemon/graind/modules.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/process.h"

struct prospect {
	struct process process;
	struct module_table modules;
	struct runtime_file *runtimes; /* that it has mapped */
	int runtime_count;
	enum policy_profile profile;
	uint64_t time_ns; /* when it was looked at, CLOCK_MONOTONIC */
	int pidfd;
};

struct prospects;

/* -ENOMEM; what perf_event_open() or pthread_create() say. */
int prospects__new(struct prospects **out);
/* Accepts NULL, as all that follow: then nothing is known. */
void prospects__free(struct prospects *prospects);

/* Whoever maps this file executable is looked at from now on. Device and inode as in /proc/PID/maps. */
void prospects__know(struct prospects *prospects, uint64_t device, uint64_t inode);

/* Looks at it now. What is known of the process already goes if that succeeds; the oldest of too many go. */
void prospects__look(struct prospects *prospects, pid_t pid);

/* What was read of the process after that time, the caller's from then on; NULL: nothing. */
struct prospect *prospects__take(struct prospects *prospects, pid_t pid, uint64_t after_ns);
/* Whoever has its number now, if anybody, is another process. */
bool prospect__has_ended(const struct prospect *prospect);
void prospect__free(struct prospect *prospect); /* accepts NULL */

#endif
