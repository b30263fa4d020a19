/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the NUMA node of each page whose use was sampled. The kernel is asked soon after the sample, for
 * many pages at a time (move_pages(2), which moves nothing here). It is asked a second time for pages that
 * were not in memory yet.
 */
#ifndef GRAIND_ACCESSES_H
#define GRAIND_ACCESSES_H

#include "daemon/graind/process/process.h"

#define ACCESSES_AT_ONCE 256

struct accesses;
struct trace_event;

int accesses__new(const struct process *process, struct accesses **out);
void accesses__free(struct accesses *accesses); /* accepts NULL */

struct access_at {
	uint64_t address, time_ns;
};

/* Whether the page's node is already known, so that the kernel need not be asked. */
bool accesses__knows(struct accesses *accesses, const struct access_at *access);
/* Asks the kernel for the nodes of pages in the list that are not known; at most ACCESSES_AT_ONCE. */
void accesses__ask(struct accesses *accesses, const struct access_at *list, size_t count);
/*
 * Replaces the address in a TRACE_ACCESS event's key by the page, and writes the page's node into its arg.
 * False: the page is not in memory yet, and a copy of the event is kept until the page is asked for again.
 */
bool accesses__find(struct accesses *accesses, struct trace_event *access);

/*
 * Takes kept events whose time has come, or all with `now`; at most `room`. Returns their number. Call it
 * until that is 0.
 */
size_t accesses__take(struct accesses *accesses, bool now, struct trace_event *out, size_t room);

#endif
