/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that may be recorded: what only a living process can tell, read as soon as it has mapped a
 * runtime, so that one that ends before its first events are looked at is recorded all the same.
 */
#ifndef GRAIND_PROSPECT_H
#define GRAIND_PROSPECT_H

#include "daemon/graind/attach.h"
#include "daemon/graind/modules.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/process.h"

struct prospect {
	struct process process;
	struct module_table modules;
	struct runtime_search *search; /* NULL: the runtimes are known */
	struct runtime_file *runtimes; /* that it has mapped */
	int runtime_count;
	enum policy_profile profile;
	int pidfd;
};

/* NULL: it has ended, or cannot be read. Its runtimes may have yet to be looked for. */
struct prospect *prospect__read(pid_t pid);
/* Looks for them, which may take long; the process need not live any more. */
void prospect__search(struct prospect *prospect);
/*
 * What the process is by now, as it was when it has ended; whoever has its number since, if that one was
 * there at this time already (CLOCK_MONOTONIC). NULL: nobody was, or cannot be read. The old one is the
 * callee's.
 */
struct prospect *prospect__refresh(struct prospect *prospect, uint64_t time_ns);
void prospect__free(struct prospect *prospect); /* accepts NULL */

#endif
