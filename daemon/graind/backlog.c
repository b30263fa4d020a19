// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/backlog.h"

#include <stdlib.h>

#define FIRST_ROOM 256
/* Runs of lost events of the same thread are told of one by one, up to so many; then together. */
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

static void put(struct backlog *backlog, struct held_events *held, unsigned int cpu,
		const struct ring_event *event)
{
	held->list[held->count] = *event;
	held->list[held->count++].seq = cpu;
	backlog->events++;
}

static void count_lost(struct backlog *backlog, struct held_events *held, unsigned int cpu,
		       const struct ring_event *event)
{
	struct ring_event *last = held->count ? &held->list[held->count - 1] : NULL;
	struct ring_event lost = {.time_ns = event->time_ns,
				  .tgid = event->tgid,
				  .tid = event->tid,
				  .kind = RING_LOST,
				  .arg = event->kind == RING_LOST ? event->arg : 1};

	if (last && last->kind == RING_LOST &&
	    (last->tid == event->tid || backlog->events >= BACKLOG_EVENTS + LOST_RUNS))
		last->arg += lost.arg;
	else if (make_room(held))
		put(backlog, held, cpu, &lost);
}

void backlog__hold(struct backlog *backlog, struct backlog_entry *entry, unsigned int cpu,
		   const struct ring_event *events, size_t count)
{
	if (!entry->first_ns && count)
		entry->first_ns = events[0].time_ns;
	for (size_t i = 0; i < count; i++) {
		if (backlog->events < BACKLOG_EVENTS && make_room(&entry->held))
			put(backlog, &entry->held, cpu, &events[i]);
		else
			count_lost(backlog, &entry->held, cpu, &events[i]);
	}
}

struct held_events backlog__release(struct backlog *backlog, struct backlog_entry *entry)
{
	struct held_events held = entry->held;

	backlog->events -= held.count;
	entry->held = (struct held_events){0};
	return held;
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
