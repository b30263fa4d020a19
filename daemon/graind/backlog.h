/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of a session that are being opened, in the order of their arrival, and their events until
 * they are: bounded in number, in events and in time.
 */
#ifndef GRAIND_BACKLOG_H
#define GRAIND_BACKLOG_H

#include "bpf/ring_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BACKLOG_MOST 1024
/* Of all together: 64 MiB. */
#define BACKLOG_EVENTS (1u << 20)
/* Who has not got a job so long after its first event gets none. */
#define BACKLOG_GIVE_UP_NS UINT64_C(10000000000)

/* The CPU is kept where the ring's own number was. */
struct held_events {
	struct ring_event *list;
	size_t count, room;
};

/* Heads what is known of a process (opening.h). */
struct backlog_entry {
	pid_t pid;
	uint64_t until_ns; /* later events are those of another program: UINT64_MAX */
	uint64_t first_ns; /* of its first event; 0: it has none yet */
	bool working;	   /* a scout has it */
	struct held_events held;
};

struct backlog {
	struct backlog_entry *list[BACKLOG_MOST];
	size_t count;
	size_t events; /* held by all of them */
};

/* False: there is no room. */
bool backlog__add(struct backlog *backlog, struct backlog_entry *entry);
/* Takes it out; it and its events are the caller's. */
void backlog__remove(struct backlog *backlog, struct backlog_entry *entry);
/* Whose event of that time is; NULL: nobody's. */
struct backlog_entry *backlog__find(const struct backlog *backlog, pid_t pid, uint64_t time_ns);
/* Whether an earlier program of the same process has not been opened yet. */
bool backlog__is_behind(const struct backlog *backlog, const struct backlog_entry *entry);

/* Where there is no room the events are counted instead, as the kernel does (RING_LOST). */
void backlog__hold(struct backlog *backlog, struct backlog_entry *entry, unsigned int cpu,
		   const struct ring_event *events, size_t count);
/* All events that are held, the caller's from then on. */
struct held_events backlog__release(struct backlog *backlog, struct backlog_entry *entry);

/* The first one that no scout has and whose time is over; NULL: none. */
struct backlog_entry *backlog__overdue(const struct backlog *backlog, uint64_t now_ns);

#endif
