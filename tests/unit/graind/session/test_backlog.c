// SPDX-License-Identifier: BSD-2-Clause
/* Processes that wait for their jobs: whose an event is, how many events are kept, who is given up. */
#include "daemon/graind/session/backlog.h"
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

/* Of all places 1000 has most, 1001 a few; of some it is not known whose they are. */
static void check_heaviest(struct backlog *backlog)
{
	struct backlog_entry *list = calloc(BACKLOG_MOST, sizeof(*list));

	CHECK(!backlog__heaviest(backlog), "where nobody is, nobody has most");
	for (int i = 0; i < BACKLOG_MOST; i++) {
		list[i].pid = 10 + i;
		list[i].account = i < 100 ? BACKLOG_UNNAMED : i % 10 == 0 ? 1001 : 1000;
		backlog__add(backlog, &list[i]);
	}
	CHECK(!backlog__add(backlog, &(struct backlog_entry){.pid = 5}), "there is no room for more");
	CHECK(backlog__heaviest(backlog) == &list[BACKLOG_MOST - 1], "the latest of who has most is chosen");
	list[BACKLOG_MOST - 1].working = true;
	list[BACKLOG_MOST - 2].has_job = true;
	CHECK(backlog__heaviest(backlog) == &list[BACKLOG_MOST - 3],
	      "but none that is worked on, or has its job already");
	for (int i = 0; i < BACKLOG_MOST; i++)
		list[i].working = list[i].account == 1000;
	CHECK(backlog__heaviest(backlog)->account == 1001, "if all of them are, one of the next user");
	for (int i = 0; i < BACKLOG_MOST; i++)
		backlog__remove(backlog, &list[i]);
	free(list);
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

/* One user's new processes have more events than there is room for. */
static void check_shares(struct backlog *backlog)
{
	struct backlog_entry greedy[4], late = {.pid = 20, .until_ns = UINT64_MAX, .account = 1001};
	struct backlog_entry root = {.pid = 21, .until_ns = UINT64_MAX};
	size_t held = 0, counted = 0, of_all = BACKLOG_EVENTS + 200000;

	for (int i = 0; i < 4; i++) {
		greedy[i] = (struct backlog_entry){.pid = i + 1, .until_ns = UINT64_MAX, .account = 1000};
		backlog__add(backlog, &greedy[i]);
	}
	backlog__add(backlog, &late);
	backlog__add(backlog, &root);
	/* Of ever other threads, so that what is lost has no runs. */
	for (uint32_t i = 0; i < of_all; i++)
		hold(backlog, &greedy[i % 4], i, 1 + i);
	for (int i = 0; i < 4; i++) {
		held += greedy[i].held.count;
		for (size_t at = 0; at < greedy[i].held.count; at++)
			counted +=
				greedy[i].held.list[at].kind == RING_LOST ? greedy[i].held.list[at].arg : 1;
	}
	CHECK(held >= BACKLOG_EVENTS / 2 && held < BACKLOG_EVENTS / 2 + 5000,
	      "of one user's processes half is held (%zu)", held);
	CHECK(counted == of_all, "the others are counted, each once (%zu)", counted);
	for (uint32_t i = 0; i < BACKLOG_EVENTS / 4 - 5000; i++)
		hold(backlog, &late, 1, 1 + i);
	CHECK(!lost_of(&late.held, 1), "nothing is lost of another's, up to half of what is left");
	hold(backlog, &root, 1, 1);
	for (uint32_t i = 0; i < BACKLOG_EVENTS / 4 - 5000; i++)
		hold(backlog, &root, 1, 1 + i);
	CHECK(!lost_of(&root.held, 1), "and root may have all that is left then");
	while (backlog->count)
		backlog__remove(backlog, backlog->list[0]);
	CHECK(!backlog->events, "all are out");
	for (int i = 0; i < 4; i++)
		free(greedy[i].held.list);
	free(late.held.list);
	free(root.held.list);
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
	CHECK(!backlog__overdue(backlog, 15 * SECOND_NS), "not while a thread of the pool has it");
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
	check_heaviest(backlog);
	check_full(backlog);
	check_shares(backlog);
	check_given_up(backlog);
	check_bound(backlog);
	free(backlog);
	CHECK_DONE();
}
