/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backlog of a session: processes for which a job is being opened, in the order of their arrival, with
 * their events until then. Its number of entries, its events and its time are bounded.
 */
#ifndef GRAIND_BACKLOG_H
#define GRAIND_BACKLOG_H

#include "bpf/abi/ring_abi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BACKLOG_MOST 1024
/*
 * The limit for events of all entries together (64 MiB). The entries of one account (account.h) may hold at
 * most as many events as are left for others.
 */
#define BACKLOG_EVENTS (1u << 20)
/* If a process has no job this long after its first event, it gets none. */
#define BACKLOG_GIVE_UP_NS UINT64_C(10000000000)

/* The account of entries whose user is not yet known. */
#define BACKLOG_UNNAMED ((uid_t)-1)

/* Events that are held. Their CPU is stored in the place of the ring's sequence number. */
struct held_events {
	struct ring_event *list;
	size_t count, room;
};

/* The header of a struct opening (opening.h). */
struct backlog_entry {
	pid_t pid;
	uint64_t until_ns; /* later events are of the next program; UINT64_MAX: there is none yet */
	uint64_t first_ns; /* time of its first event; 0: none yet */
	bool working;	   /* a thread of the pool is working on it */
	bool has_job;	   /* it has a job and is about to leave the backlog */
	/* The account for which its events count. A thread of the pool finds it. */
	_Atomic uid_t account;
	struct held_events held;
};

struct backlog {
	struct backlog_entry *list[BACKLOG_MOST];
	size_t count;
	size_t events; /* number of events held for all entries */
};

/* Adds an entry. False: there is no room. */
bool backlog__add(struct backlog *backlog, struct backlog_entry *entry);
/* Removes an entry. The caller then owns the entry and its events. */
void backlog__remove(struct backlog *backlog, struct backlog_entry *entry);
/* Finds the entry to which an event of this process and time belongs. NULL: none. */
struct backlog_entry *backlog__find(const struct backlog *backlog, pid_t pid, uint64_t time_ns);
/* Whether the backlog still has an earlier entry of the same process (for its program before). */
bool backlog__is_behind(const struct backlog *backlog, const struct backlog_entry *entry);

/*
 * Holds copies of the events. If there is no room, or none for the entry's account, the events are counted
 * in a RING_LOST event instead, as the kernel does.
 */
void backlog__hold(struct backlog *backlog, struct backlog_entry *entry, unsigned int cpu,
		   const struct ring_event *events, size_t count);
/* Returns all held events. The caller owns them. */
struct held_events backlog__release(struct backlog *backlog, struct backlog_entry *entry);

/*
 * Chooses the entry to remove when a new process needs a place and all are taken. Considers entries without
 * a job on which no thread works. Returns the latest one of the account with the most places. NULL: none.
 * Entries whose account is not known count for no account.
 */
struct backlog_entry *backlog__heaviest(const struct backlog *backlog);

/* Returns the first entry whose time is over and on which no thread of the pool works. NULL: none. */
struct backlog_entry *backlog__overdue(const struct backlog *backlog, uint64_t now_ns);

#endif
