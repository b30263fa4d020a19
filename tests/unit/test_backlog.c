// SPDX-License-Identifier: BSD-2-Clause
/* Processes that wait for their jobs: whose an event is, how many events are kept, who is given up. */
#include "daemon/graind/backlog.h"
#include "tests/unit/check.h"

#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)

static struct ring_event event_of(pid_t pid, uint32_t tid, uint64_t time_ns)
{
	return (struct ring_event){
		.tgid = (uint32_t)pid, .tid = tid, .time_ns = time_ns, .kind = RING_TASK_BEGIN, .seq = 77};
}

static void hold(struct backlog *backlog, struct backlog_entry *entry, uint32_t tid, uint64_t time_ns)
{
	struct ring_event event = event_of(entry->pid, tid, time_ns);

	backlog__hold(backlog, entry, 3, &event, 1);
}

static void check_owners(struct backlog *backlog)
{
	struct backlog_entry first = {.pid = 7, .until_ns = 100}, second = {.pid = 7, .until_ns = UINT64_MAX};
	struct backlog_entry other = {.pid = 8, .until_ns = UINT64_MAX};

	CHECK(backlog__add(backlog, &first) && backlog__add(backlog, &other) &&
		      backlog__add(backlog, &second),
	      "three programs of two processes");
	CHECK(backlog__find(backlog, 7, 99) == &first && backlog__find(backlog, 7, 100) == &second,
	      "an event is of the program that the process executed last before it");
	CHECK(!backlog__find(backlog, 9, 1), "of a process that is not known an event is nobody's");
	CHECK(backlog__is_behind(backlog, &second) && !backlog__is_behind(backlog, &first) &&
		      !backlog__is_behind(backlog, &other),
	      "a program waits for the one that its process executed before");
	backlog__remove(backlog, &first);
	CHECK(!backlog__is_behind(backlog, &second) && backlog__find(backlog, 7, 99) == &second,
	      "one that has been taken out keeps nobody");
	backlog__remove(backlog, &second);
	backlog__remove(backlog, &other);
	CHECK(!backlog->count, "all are out");
}

static void check_held(struct backlog *backlog)
{
	struct backlog_entry entry = {.pid = 7, .until_ns = UINT64_MAX};
	struct held_events held;
	int wrong = 0;

	backlog__add(backlog, &entry);
	for (uint32_t i = 0; i < 1000; i++)
		hold(backlog, &entry, 1, 50 + i);
	CHECK(entry.first_ns == 50, "the time of the first event is known");
	held = backlog__release(backlog, &entry);
	for (size_t i = 0; i < held.count; i++)
		wrong += held.list[i].time_ns != 50 + i || held.list[i].seq != 3;
	CHECK(held.count == 1000 && !wrong, "events come out in their order, with their CPU");
	CHECK(!entry.held.count && !backlog->events, "then none is held");
	free(held.list);
	backlog__remove(backlog, &entry);
}

static uint64_t lost_of(const struct held_events *held, uint32_t tid)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < held->count; i++)
		if (held->list[i].kind == RING_LOST && held->list[i].tid == tid)
			lost += held->list[i].arg;
	return lost;
}

static void check_full(struct backlog *backlog)
{
	struct backlog_entry greedy = {.pid = 7, .until_ns = UINT64_MAX};
	struct backlog_entry late = {.pid = 8, .until_ns = UINT64_MAX};
	struct ring_event lost = event_of(8, 5, 3);
	struct held_events held;
	size_t most;

	backlog__add(backlog, &greedy);
	backlog__add(backlog, &late);
	for (uint32_t i = 0; i < BACKLOG_EVENTS + 10; i++)
		hold(backlog, &greedy, 1, 1 + i);
	hold(backlog, &late, 4, 1);
	hold(backlog, &late, 4, 2);
	lost.kind = RING_LOST;
	lost.arg = 40;
	backlog__hold(backlog, &late, 3, &lost, 1);
	CHECK(lost_of(&greedy.held, 1) == 10 && lost_of(&late.held, 4) == 2 && lost_of(&late.held, 5) == 40,
	      "what finds no room is counted as lost, by process and thread");
	CHECK(greedy.held.count == BACKLOG_EVENTS + 1 && late.held.count == 2, "in one event a run");
	for (uint32_t i = 0; i < 100000; i++)
		hold(backlog, &late, i, 10 + i);
	most = backlog->events;
	CHECK(most < BACKLOG_EVENTS + 10000, "also of many threads that takes little room (%zu)", most);
	held = backlog__release(backlog, &late);
	most = 0;
	for (size_t i = 0; i < held.count; i++)
		most += held.list[i].arg;
	CHECK(most == 100042, "and each is counted once (%zu)", most);
	free(held.list);
	held = backlog__release(backlog, &greedy);
	free(held.list);
	hold(backlog, &late, 4, 5);
	CHECK(late.held.count == 1 && late.held.list[0].kind == RING_TASK_BEGIN,
	      "when there is room again events are kept again");
	backlog__remove(backlog, &late);
	backlog__remove(backlog, &greedy);
	CHECK(!backlog->events, "who goes takes its events with it");
	free(late.held.list);
}

static void check_given_up(struct backlog *backlog)
{
	struct backlog_entry quiet = {.pid = 6, .until_ns = UINT64_MAX};
	struct backlog_entry first = {.pid = 7, .until_ns = UINT64_MAX};
	struct backlog_entry second = {.pid = 8, .until_ns = UINT64_MAX};

	backlog__add(backlog, &quiet);
	backlog__add(backlog, &first);
	backlog__add(backlog, &second);
	hold(backlog, &first, 1, 5 * SECOND_NS);
	hold(backlog, &second, 1, 6 * SECOND_NS);
	CHECK(!backlog__overdue(backlog, 15 * SECOND_NS - 1), "after less than 10 s nobody is given up");
	CHECK(backlog__overdue(backlog, 15 * SECOND_NS) == &first, "10 s after its first event a process is");
	first.working = true;
	CHECK(!backlog__overdue(backlog, 15 * SECOND_NS), "not while a scout has it");
	CHECK(backlog__overdue(backlog, 16 * SECOND_NS) == &second, "the next one is in its turn");
	backlog__remove(backlog, &second);
	CHECK(!backlog__overdue(backlog, 1000 * SECOND_NS), "one without events is never given up");
	CHECK(!backlog__overdue(backlog, 4 * SECOND_NS), "nor is one whose event is later than now");
	backlog__remove(backlog, &first);
	backlog__remove(backlog, &quiet);
	free(first.held.list);
	free(second.held.list);
}

static void check_bound(struct backlog *backlog)
{
	struct backlog_entry *entries = calloc(BACKLOG_MOST + 1, sizeof(*entries));
	int added = 0;

	for (int i = 0; i <= BACKLOG_MOST; i++) {
		entries[i] = (struct backlog_entry){.pid = i + 1, .until_ns = UINT64_MAX};
		added += backlog__add(backlog, &entries[i]);
	}
	CHECK(added == BACKLOG_MOST && !backlog__find(backlog, BACKLOG_MOST + 1, 1),
	      "%d processes wait at a time, no more", BACKLOG_MOST);
	while (backlog->count)
		backlog__remove(backlog, backlog->list[backlog->count / 2]);
	CHECK(!backlog->count, "they go in any order");
	free(entries);
}

int main(void)
{
	struct backlog *backlog = calloc(1, sizeof(*backlog));

	check_owners(backlog);
	check_held(backlog);
	check_full(backlog);
	check_given_up(backlog);
	check_bound(backlog);
	free(backlog);
	CHECK_DONE();
}
