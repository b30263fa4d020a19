// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/session/backlog.h"
#include "daemon/graind/limits/fair_share.h"

#include <stdlib.h>

#define FIRST_ROOM 256
/*
 * Extra room for RING_LOST events when the usual room is full. Each run of lost events of a thread needs
 * one. If this room is full, too, runs are merged.
 */
#define LOST_RUNS 4096

bool backlog__add(struct backlog *backlog, struct backlog_entry *entry)
{
	if (backlog->count == BACKLOG_MOST)
		return false;
	backlog->list[backlog->count++] = entry;
	return true;
}

void backlog__remove(struct backlog *backlog, struct backlog_entry *entry)
{
	size_t at = 0;

	while (backlog->list[at] != entry)
		at++;
	backlog->count--;
	for (; at < backlog->count; at++)
		backlog->list[at] = backlog->list[at + 1];
	backlog->events -= entry->held.count;
}

struct backlog_entry *backlog__find(const struct backlog *backlog, pid_t pid, uint64_t time_ns)
{
	for (size_t i = 0; i < backlog->count; i++)
		if (backlog->list[i]->pid == pid && time_ns < backlog->list[i]->until_ns)
			return backlog->list[i];
	return NULL;
}

bool backlog__is_behind(const struct backlog *backlog, const struct backlog_entry *entry)
{
	for (size_t i = 0; i < backlog->count && backlog->list[i] != entry; i++)
		if (backlog->list[i]->pid == entry->pid)
			return true;
	return false;
}

static bool make_room(struct held_events *held)
{
	size_t room = held->room ? 2 * held->room : FIRST_ROOM;
	struct ring_event *list;

	if (held->count < held->room)
		return true;
	list = reallocarray(held->list, room, sizeof(*list));
	if (!list)
		return false;
	held->list = list;
	held->room = room;
	return true;
}

/* How much is held for a user, while events are added. */
struct share {
	struct backlog *backlog;
	struct held_events *held;
	uid_t account;
	size_t of_account;
};

static size_t count_of(const struct backlog *backlog, uid_t account)
{
	size_t count = 0;

	for (size_t i = 0; i < backlog->count; i++)
		if (atomic_load_explicit(&backlog->list[i]->account, memory_order_relaxed) == account)
			count += backlog->list[i]->held.count;
	return count;
}

/* Whether one more event may be held. `further` is the number of events allowed beyond the usual limit. */
static bool has_room(const struct share *share, size_t further)
{
	size_t most = BACKLOG_EVENTS + further, left = fair_share__left(most, share->backlog->events, 0);

	return fair_share__allow(share->account, share->of_account, left);
}

static void put(struct share *share, unsigned int cpu, const struct ring_event *event)
{
	struct held_events *held = share->held;

	held->list[held->count] = *event;
	held->list[held->count++].seq = cpu;
	share->backlog->events++;
	share->of_account++;
}

static void count_lost(struct share *share, unsigned int cpu, const struct ring_event *event)
{
	struct held_events *held = share->held;
	struct ring_event *last = held->count ? &held->list[held->count - 1] : NULL;
	struct ring_event lost = {.time_ns = event->time_ns,
				  .tgid = event->tgid,
				  .tid = event->tid,
				  .kind = RING_LOST,
				  .arg = event->kind == RING_LOST ? event->arg : 1};

	if (last && last->kind == RING_LOST && (last->tid == event->tid || !has_room(share, LOST_RUNS)))
		last->arg += lost.arg;
	else if (make_room(held))
		put(share, cpu, &lost);
}

void backlog__hold(struct backlog *backlog, struct backlog_entry *entry, unsigned int cpu,
		   const struct ring_event *events, size_t count)
{
	uid_t account = atomic_load_explicit(&entry->account, memory_order_relaxed);
	/* While half of the room is free, every account may use it. */
	bool half = backlog->events + count < BACKLOG_EVENTS / 2;
	struct share share = {.backlog = backlog,
			      .held = &entry->held,
			      .account = account,
			      .of_account = half ? 0 : count_of(backlog, account)};

	if (!entry->first_ns && count)
		entry->first_ns = events[0].time_ns;
	for (size_t i = 0; i < count; i++) {
		if (has_room(&share, 0) && make_room(&entry->held))
			put(&share, cpu, &events[i]);
		else
			count_lost(&share, cpu, &events[i]);
	}
}

struct held_events backlog__release(struct backlog *backlog, struct backlog_entry *entry)
{
	struct held_events held = entry->held;

	backlog->events -= held.count;
	entry->held = (struct held_events){0};
	return held;
}

struct backlog_entry *backlog__heaviest(const struct backlog *backlog)
{
	struct backlog_entry *heaviest = NULL;
	size_t most = 0;

	for (size_t i = 0; i < backlog->count; i++) {
		uid_t account = atomic_load_explicit(&backlog->list[i]->account, memory_order_relaxed);
		struct backlog_entry *latest = NULL;
		size_t count = 0;

		if (account == BACKLOG_UNNAMED || (heaviest && heaviest->account == account))
			continue;
		for (size_t k = 0; k < backlog->count; k++) {
			struct backlog_entry *entry = backlog->list[k];

			if (atomic_load_explicit(&entry->account, memory_order_relaxed) != account)
				continue;
			count++;
			if (!entry->working && !entry->has_job)
				latest = entry;
		}
		if (count > most && latest) {
			most = count;
			heaviest = latest;
		}
	}
	return heaviest;
}

struct backlog_entry *backlog__overdue(const struct backlog *backlog, uint64_t now_ns)
{
	for (size_t i = 0; i < backlog->count; i++) {
		struct backlog_entry *entry = backlog->list[i];

		if (!entry->working && entry->first_ns && now_ns > entry->first_ns &&
		    now_ns - entry->first_ns >= BACKLOG_GIVE_UP_NS)
			return entry;
	}
	return NULL;
}
