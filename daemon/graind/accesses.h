/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On which NUMA nodes the pages are that samples found a process to use: the kernel is asked soon after the
 * sample (move_pages, which moves nothing here), for many of them at a time, and once more where no page is
 * there yet.
 */
#ifndef GRAIND_ACCESSES_H
#define GRAIND_ACCESSES_H

#include "daemon/graind/process.h"

#define ACCESSES_AT_ONCE 256

struct accesses;
struct trace_event;

int accesses__new(const struct process *process, struct accesses **out);
void accesses__free(struct accesses *accesses); /* accepts NULL */

struct access_at {
	uint64_t address, time_ns;
};

/* Whether it need not be asked where that page is. */
bool accesses__knows(struct accesses *accesses, const struct access_at *access);
/* Asks for those, ACCESSES_AT_ONCE at most, that are not known. */
void accesses__ask(struct accesses *accesses, const struct access_at *list, size_t count);
/*
 * Puts the page instead of the address into the key of a TRACE_ACCESS, and into its arg where it is. False:
 * it is not in memory yet, and the event is kept until it is asked for again.
 */
bool accesses__find(struct accesses *accesses, struct trace_event *access);

/*
 * Those kept, at most `room`, once it is time for them, or now; their number. To be called until there are
 * none.
 */
size_t accesses__take(struct accesses *accesses, bool now, struct trace_event *out, size_t room);

#endif
