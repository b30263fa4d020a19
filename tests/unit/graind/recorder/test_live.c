// SPDX-License-Identifier: BSD-2-Clause
/* What is said of a process while it is recorded: events written by hand, and many threads. */
#include "daemon/graind/recorder/live.h"
#include "bpf/abi/ring_abi.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdbool.h>

#define MS UINT64_C(1000000)
#define BASE_MS 5000

static void saw(struct live *live, uint64_t ms, uint32_t tid, enum ring_kind kind, uint32_t arg)
{
	const struct ring_event event = {
		.time_ns = (BASE_MS + ms) * MS, .tid = tid, .kind = (uint8_t)kind, .arg = arg, .tgid = 1};

	live__saw(live, &event);
}

static struct live_measures at(const struct live *live, uint64_t ms)
{
	struct live_measures out;

	live__read(live, (BASE_MS + ms) * MS, &out);
	return out;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/*
 * A team of two: 1 executes from 0 to 10, in a region to 50, of which it waits from 40 on; 2 from 12 to 20
 * and a task from 25 to 30.
 */
static void region(struct live *live, uint64_t from)
{
	saw(live, from, 1, RING_GROUP_BEGIN, 0);
	saw(live, from + 10, 1, RING_REGION_BEGIN, 2);
	saw(live, from + 10, 1, RING_TEAM_START, 2);
	saw(live, from + 10, 1, RING_TEAM_STARTED, 0);
	saw(live, from + 12, 2, RING_MEMBER_BEGIN, 1);
	saw(live, from + 20, 2, RING_WAIT_BEGIN, RING_WAIT_REGION_END);
	saw(live, from + 25, 2, RING_TASK_BEGIN, 0);
	saw(live, from + 30, 2, RING_TASK_END, 0);
	saw(live, from + 40, 1, RING_WAIT_BEGIN, RING_WAIT_REGION_END);
	saw(live, from + 50, 1, RING_WAIT_END, RING_WAIT_REGION_END);
	saw(live, from + 50, 1, RING_REGION_END, 0);
	saw(live, from + 51, 2, RING_WAIT_END, RING_WAIT_REGION_END);
}

static void test_busy(void)
{
	struct live *live;
	struct live_measures measures;

	CHECK(live__new(&live) == 0, "begins");
	measures = at(live, 5);
	CHECK(isnan(measures.busy_threads) && isnan(measures.preempted_share),
	      "nothing is known before the first event");
	region(live, 100);
	/* 10 + 30 of the first and 8 + 5 of the second, and what the first does from 150 on. */
	CHECK(near(at(live, 150).busy_threads, 54.0 / 51), "work of two threads, until the last event");
	CHECK(near(at(live, 200).busy_threads, 103.0 / 100), "work goes on until now");
	CHECK(isnan(at(live, 200).preempted_share), "without the scheduler nothing is preempted");
	live__free(live);
	live__free(NULL);
}

static void test_tasks(void)
{
	struct live *live;

	CHECK(live__new(&live) == 0, "begins");
	saw(live, 0, 1, RING_SINGLE, 1);
	saw(live, 10, 1, RING_TASK_CREATE, 0);
	saw(live, 14, 1, RING_TASK_CREATE_END, 0);
	saw(live, 20, 1, RING_TASK_CREATE, 0); /* executed at once, which has no end of the creation */
	saw(live, 21, 1, RING_UNDEFERRED_BEGIN, 0);
	saw(live, 31, 1, RING_UNDEFERRED_END, 0);
	saw(live, 40, 1, RING_WAIT_BEGIN, RING_WAIT_TASKWAIT);
	saw(live, 50, 1, RING_TASK_BEGIN, 0);
	saw(live, 60, 1, RING_TASK_END, 0);
	saw(live, 70, 1, RING_WAIT_END, RING_WAIT_TASKWAIT);
	saw(live, 80, 1, RING_LOOP_BEGIN, RING_LOOP_DYNAMIC);
	saw(live, 80, 1, RING_CHUNK_NEXT, 0);
	saw(live, 82, 1, RING_CHUNK_BEGIN, 0);
	saw(live, 90, 1, RING_CHUNK_NEXT, 0);
	saw(live, 92, 1, RING_LOOP_END, 0);
	saw(live, 92, 1, RING_WAIT_BEGIN, RING_WAIT_BARRIER);
	saw(live, 100, 1, RING_WAIT_END, RING_WAIT_BARRIER);
	/* 0-10, 14-20, 21-40, 50-60, 70-80, 82-90 */
	CHECK(near(at(live, 100).busy_threads, (10 + 6 + 19 + 10 + 10 + 8) / 100.0),
	      "tasks, undeferred ones, waits and chunks");
	saw(live, 100, 1, RING_LOST, 5); /* what it does then is unknown */
	CHECK(near(at(live, 200).busy_threads, 63.0 / 200), "after a loss what a thread does is unknown");
	saw(live, 200, 1, RING_TASK_BEGIN, 0);
	CHECK(near(at(live, 300).busy_threads, 163.0 / 300), "until it tells");
	live__free(live);
}

static void test_scheduler(void)
{
	struct live *live;

	CHECK(live__new(&live) == 0, "begins");
	saw(live, 0, 1, RING_ON_CPU, 0);
	saw(live, 10, 1, RING_OFF_CPU, RING_OFF_PREEMPTED);
	saw(live, 30, 1, RING_ON_CPU, 0);
	saw(live, 40, 1, RING_OFF_CPU, RING_OFF_BLOCKED);
	saw(live, 90, 1, RING_ON_CPU, 0);
	saw(live, 0, 2, RING_ON_CPU, 0);
	saw(live, 100, 2, RING_OFF_CPU, RING_OFF_YIELDED);
	saw(live, 110, 2, RING_ON_CPU, 0);
	CHECK(near(at(live, 500).preempted_share, 20.0 / 200), "preempted is not blocked or yielded");
	CHECK(isnan(at(live, 500).busy_threads), "the scheduler alone does not tell who works");
	live__free(live);
}

/*
 * The time between windows is not counted. A thread whose first event in a window shows that it was at work
 * before counts as busy from the window's begin.
 */
static void test_windows(void)
{
	struct live *live;

	CHECK(live__new(&live) == 0, "begins");
	region(live, 100);
	live__pause(live, (BASE_MS + 160) * MS); /* 1 is busy since 150 */
	CHECK(near(at(live, 10000).busy_threads, 63.0 / 60), "a window's end is the end of its work");
	live__resume(live, (BASE_MS + 1000) * MS);
	saw(live, 1010, 1, RING_REGION_BEGIN, 0); /* 10 of the initial task */
	saw(live, 1010, 2, RING_WAIT_END, RING_WAIT_REGION_END);
	live__pause(live, (BASE_MS + 1020) * MS);
	CHECK(near(at(live, 10000).busy_threads, 73.0 / 80),
	      "a thread at work when a window begins was at work before its first event");
	live__resume(live, (BASE_MS + 2000) * MS);
	live__pause(live, (BASE_MS + 2020) * MS); /* an empty one */
	CHECK(near(at(live, 10000).busy_threads, 73.0 / 100), "an empty window counts as time");
	live__free(live);
}

static void test_threads(void)
{
	struct live *live;

	/* New threads come all the time; only a few exist at a time. */
	CHECK(live__new(&live) == 0, "begins");
	for (uint32_t i = 0; i < 100000; i++) {
		saw(live, 10 * (uint64_t)i, 1 + i, RING_MEMBER_BEGIN, 1);
		saw(live, 10 * (uint64_t)i + 5, 1 + i, RING_WAIT_BEGIN, RING_WAIT_REGION_END);
	}
	CHECK(near(at(live, 1000000).busy_threads, 0.5), "threads that come and go take no room");
	live__free(live);
	/* More at a time than are followed. */
	CHECK(live__new(&live) == 0, "begins");
	for (uint32_t i = 0; i < LIVE_THREADS; i++)
		saw(live, 10, 1 + i * 7919, RING_MEMBER_BEGIN, 1);
	CHECK(near(at(live, 20).busy_threads, LIVE_THREADS), "as many threads as are followed");
	for (uint32_t i = 0; i < 4 * LIVE_THREADS; i++)
		saw(live, 20, 3 + i * 7919, RING_MEMBER_BEGIN, 1);
	CHECK(isnan(at(live, 30).busy_threads), "of more at a time nothing is known");
	live__resume(live, (BASE_MS + 40) * MS);
	saw(live, 50, 1, RING_MEMBER_BEGIN, 1);
	CHECK(isnan(at(live, 60).busy_threads), "nor later");
	live__free(live);
}

int main(void)
{
	test_busy();
	test_tasks();
	test_scheduler();
	test_windows();
	test_threads();
	CHECK_DONE();
}
