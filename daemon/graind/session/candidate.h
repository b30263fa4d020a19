/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that may be recorded. It is read as soon as it has mapped a runtime, because much can be read
 * only while it lives. So it can be recorded even if it ends before its first events are processed.
 */
#ifndef GRAIND_CANDIDATE_H
#define GRAIND_CANDIDATE_H

#include "daemon/graind/attach/attach.h"
#include "daemon/graind/process/modules.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/process/process.h"

struct candidate {
	struct process process;
	struct module_table modules;
	struct runtime_search *search; /* the search for its runtimes; NULL: it is over */
	struct runtime_file *runtimes; /* the runtimes that it has mapped */
	int runtime_count;
	enum policy_profile profile;
	int pidfd;
};

/* Reads the process. NULL: it has ended or cannot be read. candidate__search() finds the runtimes. */
struct candidate *candidate__read(pid_t pid);
/*
 * Finishes the search for the runtimes if candidate__read() did not finish it. May take long. The process
 * may have ended.
 */
void candidate__search(struct candidate *candidate);
/*
 * Reads the process again. If it has ended, there are two cases. If another process has its pid now and had
 * started by `time_ns` (CLOCK_MONOTONIC), the result is that process; NULL: it cannot be read. Otherwise
 * the result is the old data. The argument is returned or freed.
 */
struct candidate *candidate__refresh(struct candidate *candidate, uint64_t time_ns);
void candidate__free(struct candidate *candidate); /* accepts NULL */

#endif
