// SPDX-License-Identifier: BSD-2-Clause
/* Teams as libomp shows them: bound by their member 0, left by their workers unseen. Cancellation. */
#include "tests/unit/resolve_case.h"

/* The same team twice; a worker begins before member 0; workers never show that they leave. */
static void test_team(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .site = 0xa0, .key = 0xf0),
		E(2, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(3, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(3, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(4, 3, MEMBER_BEGIN, 900, .key = 5, .arg = 2),
		E(5, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(6, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(7, 3, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, WAIT_END, 1808, .arg = TRACE_WAIT_REGION_END),
		E(9, 1, REGION_END, 2008),
		E(10, 1, REGION_BEGIN, 2000, .site = 0xa1, .key = 0xf1),
		E(11, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(12, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(13, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(14, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(15, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("a team of libomp, twice", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 src=0 threads=3\n"
					"2 2 0 thread-begin\n"
					"2 2 0 member-begin region=0 num=1\n"
					"3 1 0 member-begin region=0 num=0\n"
					"4 3 0 thread-begin\n"
					"4 3 0 member-begin region=0 num=2\n"
					"5 2 0 wait-begin kind=barrier-implicit\n"
					"6 1 0 wait-begin kind=barrier-implicit\n"
					"7 3 0 wait-begin kind=barrier-implicit\n"
					"8 1 0 wait-end kind=barrier-implicit\n"
					"8 1 0 member-end region=0 num=0\n"
					"9 3 0 wait-end kind=barrier-implicit\n"
					"9 3 0 member-end region=0 num=2\n"
					"9 3 0 thread-end\n"
					"9 2 0 wait-end kind=barrier-implicit\n"
					"9 2 0 member-end region=0 num=1\n"
					"9 1 0 region-end region=0\n"
					"10 1 0 region-begin region=1 src=1 threads=2\n"
					"11 2 0 member-begin region=1 num=1\n"
					"12 2 0 wait-begin kind=barrier-implicit\n"
					"13 1 0 member-begin region=1 num=0\n"
					"14 1 0 wait-begin kind=barrier-implicit\n"
					"15 1 0 wait-end kind=barrier-implicit\n"
					"15 1 0 member-end region=1 num=0\n"
					"15 2 0 wait-end kind=barrier-implicit\n"
					"15 2 0 member-end region=1 num=1\n"
					"15 2 0 thread-end\n"
					"15 1 0 region-end region=1\n"
					"15 1 0 thread-end\n");

	whole(s, "a team of libomp");
	if (s)
		CHECK(s->info.threads == 3, "the largest team");
	event_stream__free(s);
}

/* Thread 3 leaves the team of thread 1 for that of thread 2 before thread 1 shows that its region ended. */
static void test_worker_leaves_early(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .site = 0xa0, .key = 0xf0),
		E(2, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(3, 3, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(4, 4, MEMBER_BEGIN, 900, .key = 5, .arg = 2),
		E(5, 4, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(6, 3, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(7, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(8, 2, REGION_BEGIN, 2000, .site = 0xa1, .key = 0xf1),
		E(9, 3, MEMBER_BEGIN, 900, .key = 6, .arg = 1),
		E(10, 2, MEMBER_BEGIN, 1900, .key = 6),
		E(11, 1, REGION_END, 2008),
		E(12, 3, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(13, 2, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(14, 2, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("a worker that leaves early", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 src=0 threads=3\n"
					"2 1 0 member-begin region=0 num=0\n"
					"3 3 0 thread-begin\n"
					"3 3 0 member-begin region=0 num=1\n"
					"4 4 0 thread-begin\n"
					"4 4 0 member-begin region=0 num=2\n"
					"5 4 0 wait-begin kind=barrier-implicit\n"
					"6 3 0 wait-begin kind=barrier-implicit\n"
					"7 1 0 wait-begin kind=barrier-implicit\n"
					"8 2 0 thread-begin\n"
					"8 2 0 region-begin region=1 src=1 threads=2\n"
					"9 3 0 wait-end kind=barrier-implicit\n"
					"9 3 0 member-end region=0 num=1\n"
					"9 3 0 member-begin region=1 num=1\n"
					"10 2 0 member-begin region=1 num=0\n"
					"11 1 0 wait-end kind=barrier-implicit\n"
					"11 1 0 member-end region=0 num=0\n"
					"11 4 0 wait-end kind=barrier-implicit\n"
					"11 4 0 member-end region=0 num=2\n"
					"11 4 0 thread-end\n"
					"11 1 0 region-end region=0\n"
					"11 1 0 thread-end\n"
					"12 3 0 wait-begin kind=barrier-implicit\n"
					"13 2 0 wait-begin kind=barrier-implicit\n"
					"14 2 0 wait-end kind=barrier-implicit\n"
					"14 2 0 member-end region=1 num=0\n"
					"14 3 0 wait-end kind=barrier-implicit\n"
					"14 3 0 member-end region=1 num=1\n"
					"14 3 0 thread-end\n"
					"14 2 0 region-end region=1\n"
					"14 2 0 thread-end\n");

	whole(s, "a worker that leaves early");
	event_stream__free(s);
}

/* Ends that are seen below where the begins were, and a barrier's that does not know which barrier it was. */
static void test_ends_below(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000),
		E(2, 1, MEMBER_BEGIN, 1500, .key = 5),
		E(3, 1, REGION_BEGIN, 1400),
		E(4, 1, MEMBER_BEGIN, 1200, .key = 6),
		E(5, 1, WAIT_BEGIN, 1100, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		E(6, 1, WAIT_END, 1000, .arg = TRACE_WAIT_BARRIER),
		E(7, 1, WAIT_BEGIN, 1300, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, WAIT_END, 1250, .arg = TRACE_WAIT_REGION_END),
		E(9, 1, REGION_END, 1350),
		E(10, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(11, 1, REGION_END, 1900),
		E(12, 1, REGION_BEGIN, 2000),
		E(13, 1, MEMBER_BEGIN, 1500, .key = 5),
		E(14, 1, REGION_END, 1900),
	};
	struct event_stream *s = EXPECT("ends below their begins", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 threads=1\n"
					"2 1 0 member-begin region=0 num=0\n"
					"3 1 0 region-begin region=1 threads=1\n"
					"4 1 0 member-begin region=1 num=0\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"6 1 0 wait-end kind=barrier-implicit\n"
					"7 1 0 wait-begin kind=barrier-implicit\n"
					"8 1 0 wait-end kind=barrier-implicit\n"
					"8 1 0 member-end region=1 num=0\n"
					"9 1 0 region-end region=1\n"
					"10 1 0 wait-begin kind=barrier-implicit\n"
					"11 1 0 wait-end kind=barrier-implicit\n"
					"11 1 0 member-end region=0 num=0\n"
					"11 1 0 region-end region=0\n"
					"12 1 0 region-begin region=2 threads=1\n"
					"13 1 0 member-begin region=2 num=0\n"
					"14 1 0 member-end region=2 num=0\n"
					"14 1 0 region-end region=2\n"
					"14 1 0 thread-end\n");

	whole(s, "ends below their begins");
	event_stream__free(s);
}

/* Teams construct, a nested team of a worker, a serialized region in a task in a chunk. */
static void test_nested(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .arg = 2 | TRACE_REGION_TEAMS),
		E(2, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(3, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(4, 2, REGION_BEGIN, 800),
		E(5, 3, MEMBER_BEGIN, 900, .key = 6, .arg = 1),
		E(6, 2, MEMBER_BEGIN, 790, .key = 6),
		E(7, 3, LOOP_BEGIN, 880, .extra = 1, .arg = TRACE_LOOP_STATIC),
		E(8, 3, CHUNK_BEGIN, 880, .extra = 1),
		E(9, 3, UNDEFERRED_BEGIN, 700),
		E(10, 3, REGION_BEGIN, 600),
		E(10, 3, MEMBER_BEGIN, 590),
		E(11, 3, REGION_END, 608),
		E(12, 3, UNDEFERRED_END, 700),
		E(13, 3, LOOP_END, 880),
		E(14, 2, LOOP_BEGIN, 780, .extra = 1, .arg = TRACE_LOOP_STATIC),
		E(15, 2, LOOP_END, 780),
		E(16, 3, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(17, 2, WAIT_BEGIN, 780, .arg = TRACE_WAIT_REGION_END),
		E(18, 2, REGION_END, 808),
		E(19, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(20, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(21, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("nested teams", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 threads=2 kind=teams\n"
					"2 1 0 member-begin region=0 num=0\n"
					"3 2 0 thread-begin\n"
					"3 2 0 member-begin region=0 num=1\n"
					"4 2 0 region-begin region=1 threads=2\n"
					"5 3 0 thread-begin\n"
					"5 3 0 member-begin region=1 num=1\n"
					"6 2 0 member-begin region=1 num=0\n"
					"7 3 0 loop-begin loop=0 sched=static lower=0 upper=1\n"
					"8 3 0 chunk-begin loop=0 lower=0 upper=1\n"
					"9 3 0 create-begin task=0 flags=undeferred\n"
					"9 3 0 task-begin task=0\n"
					"10 3 0 region-begin region=2 threads=1\n"
					"10 3 0 member-begin region=2 num=0\n"
					"11 3 0 member-end region=2 num=0\n"
					"11 3 0 region-end region=2\n"
					"12 3 0 task-end task=0\n"
					"12 3 0 create-end task=0\n"
					"13 3 0 chunk-end loop=0\n"
					"13 3 0 loop-end loop=0\n"
					"14 2 0 loop-begin loop=0 sched=static lower=0 upper=1\n"
					"15 2 0 loop-end loop=0\n"
					"16 3 0 wait-begin kind=barrier-implicit\n"
					"17 2 0 wait-begin kind=barrier-implicit\n"
					"18 2 0 wait-end kind=barrier-implicit\n"
					"18 2 0 member-end region=1 num=0\n"
					"18 3 0 wait-end kind=barrier-implicit\n"
					"18 3 0 member-end region=1 num=1\n"
					"18 3 0 thread-end\n"
					"18 2 0 region-end region=1\n"
					"19 2 0 wait-begin kind=barrier-implicit\n"
					"20 1 0 wait-begin kind=barrier-implicit\n"
					"21 1 0 wait-end kind=barrier-implicit\n"
					"21 1 0 member-end region=0 num=0\n"
					"21 2 0 wait-end kind=barrier-implicit\n"
					"21 2 0 member-end region=0 num=1\n"
					"21 2 0 thread-end\n"
					"21 1 0 region-end region=0\n"
					"21 1 0 thread-end\n");

	whole(s, "nested teams");
	event_stream__free(s);
}

/* Attached in a region: its workers belong to no known one, the next region is exact. */
static void test_late(void)
{
	static const struct trace_event events[] = {
		E(1, 2, TASK_BEGIN, 700, .key = 1),
		E(2, 2, TASK_END, 700),
		E(3, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(4, 1, WAIT_END, 1808, .arg = TRACE_WAIT_REGION_END),
		E(5, 1, REGION_END, 2008),
		E(6, 1, REGION_BEGIN, 2000),
		E(7, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(7, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(8, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(8, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(9, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("attached in a region of libomp", events,
					"1 2 0 thread-begin\n"
					"1 2 0 member-begin region=none num=0\n"
					"1 2 0 task-begin task=0 trouble=no-create\n"
					"2 2 0 task-end task=0\n"
					"3 2 0 wait-begin kind=barrier-implicit\n"
					"4 1 0 thread-begin\n"
					"4 1 0 member-begin region=none num=0\n"
					"4 1 0 member-end region=none num=0\n"
					"6 1 0 region-begin region=0 threads=2\n"
					"7 2 0 wait-end kind=barrier-implicit\n"
					"7 2 0 member-end region=none num=0\n"
					"7 2 0 member-begin region=0 num=1\n"
					"7 1 0 member-begin region=0 num=0\n"
					"8 1 0 wait-begin kind=barrier-implicit\n"
					"8 2 0 wait-begin kind=barrier-implicit\n"
					"9 1 0 wait-end kind=barrier-implicit\n"
					"9 1 0 member-end region=0 num=0\n"
					"9 2 0 wait-end kind=barrier-implicit\n"
					"9 2 0 member-end region=0 num=1\n"
					"9 2 0 thread-end\n"
					"9 1 0 region-end region=0\n"
					"9 1 0 thread-end\n");

	if (s)
		CHECK(s->region_trouble[0] == 0, "the region after it is whole");
	event_stream__free(s);
}

/* Tasks of a cancelled taskgroup that nobody begins. */
static void test_discarded_in_group(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(9, 1, TASK_CREATE, 1500, .key = 9),
		E(9, 1, TASK_CREATE_END, 1508),
		E(10, 1, GROUP_BEGIN, 1600),
		E(11, 1, TASK_CREATE, 1500, .key = 1),
		E(12, 1, TASK_CREATE_END, 1508),
		E(13, 1, TASK_CREATE, 1500, .key = 2),
		E(14, 1, TASK_CREATE_END, 1508),
		E(15, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(16, 1, TASK_BEGIN, 1400, .key = 1),
		E(17, 1, TASK_CREATE, 1300, .key = 3),
		E(18, 1, TASK_CREATE_END, 1308),
		E(19, 1, CANCEL, 1350, .arg = TRACE_CANCEL_TASKGROUP),
		E(20, 1, TASK_END, 1400),
		E(21, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKGROUP),
		/* not of the group */
		E(22, 1, GROUP_BEGIN, 1600),
		E(23, 1, TASK_CREATE, 1500, .key = 2),
		E(24, 1, TASK_CREATE_END, 1508),
		E(25, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(26, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKGROUP),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a cancelled taskgroup", events,
		       LOG_OPEN("") "9 1 0 create-begin task=0 flags=deferred trouble=no-begin\n"
				    "9 1 0 create-end task=0\n"
				    "10 1 0 group-begin\n"
				    "11 1 0 create-begin task=1 flags=deferred\n"
				    "12 1 0 create-end task=1\n"
				    "13 1 0 create-begin task=2 flags=deferred\n"
				    "14 1 0 create-end task=2\n"
				    "15 1 0 wait-begin kind=taskgroup\n"
				    "16 1 0 task-begin task=1\n"
				    "17 1 0 create-begin task=3 flags=deferred\n"
				    "18 1 0 create-end task=3\n"
				    "19 1 0 cancel kind=taskgroup point=0\n"
				    "20 1 0 task-end task=1\n"
				    "21 1 0 task-discard task=2\n"
				    "21 1 0 task-discard task=3\n"
				    "21 1 0 wait-end kind=taskgroup\n"
				    "22 1 0 group-begin\n"
				    "23 1 0 create-begin task=4 flags=deferred trouble=no-begin\n"
				    "24 1 0 create-end task=4\n"
				    "25 1 0 wait-begin kind=taskgroup\n"
				    "26 1 0 wait-end kind=taskgroup\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.never_begun == 2, "only what was cancelled is discarded");
	event_stream__free(s);
}

static void test_discarded_in_region(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1500, .key = 1),
		E(11, 1, TASK_CREATE_END, 1508),
		E(12, 1, CANCEL, 1600, .arg = TRACE_CANCEL_PARALLEL | TRACE_CANCEL_POINT, .site = 0xc0),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a cancelled region", events,
		       LOG_OPEN("") "10 1 0 create-begin task=0 flags=deferred\n"
				    "11 1 0 create-end task=0\n"
				    "12 1 0 cancel kind=parallel point=1 src=0\n"
				    "90 1 0 wait-begin kind=barrier-implicit\n"
				    "91 1 0 task-discard task=0\n"
				    "91 1 0 wait-end kind=barrier-implicit\n"
				    "91 1 0 member-end region=0 num=0\n92 1 0 region-end region=0\n92 1 0 "
				    "thread-end\n");

	whole(s, "a cancelled region");
	event_stream__free(s);
}

static void test_discarded_in_both(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, GROUP_BEGIN, 1600),
		E(11, 1, TASK_CREATE, 1500, .key = 1),
		E(12, 1, TASK_CREATE_END, 1508),
		E(13, 1, CANCEL, 1600, .arg = TRACE_CANCEL_PARALLEL),
		E(14, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(15, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKGROUP),
		CLOSE,
	};
	struct event_stream *s = EXPECT("a taskgroup in a cancelled region", events,
					LOG_OPEN("") "10 1 0 group-begin\n"
						     "11 1 0 create-begin task=0 flags=deferred\n"
						     "12 1 0 create-end task=0\n"
						     "13 1 0 cancel kind=parallel point=0\n"
						     "14 1 0 wait-begin kind=taskgroup\n"
						     "15 1 0 task-discard task=0\n"
						     "15 1 0 wait-end kind=taskgroup\n" LOG_CLOSE);

	whole(s, "a taskgroup in a cancelled region");
	event_stream__free(s);
}

/* After a loss the task may have begun. */
static void test_discarded_or_lost(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1500, .key = 1),
		E(11, 1, TASK_CREATE_END, 1508),
		E(12, 1, CANCEL, 1600, .arg = TRACE_CANCEL_PARALLEL),
		E(13, 2, LOST, 0, .arg = 1),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a cancelled region with losses", events,
		       LOG_OPEN("") "10 1 0 create-begin task=0 flags=deferred trouble=no-begin\n"
				    "11 1 0 create-end task=0\n"
				    "12 1 0 cancel kind=parallel point=0\n"
				    "13 2 0 thread-begin\n"
				    "13 2 0 lost count=1\n"
				    "13 2 0 thread-end\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.never_begun == 1, "its begin may be what was lost");
	event_stream__free(s);
}

/* Discarded inside the creating call: the block is that of the next task before the group's wait is over. */
static void test_discarded_at_once(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, GROUP_BEGIN, 1600),
		E(11, 1, TASK_CREATE, 1500, .key = 1),
		E(12, 1, TASK_BEGIN, 1400, .key = 1),
		E(13, 1, CANCEL, 1350, .arg = TRACE_CANCEL_TASKGROUP),
		E(14, 1, TASK_END, 1400),
		E(15, 1, TASK_CREATE_END, 1508),
		E(16, 1, TASK_CREATE, 1500, .key = 1),
		E(17, 1, TASK_CREATE_END, 1508),
		E(18, 1, TASK_CREATE, 1500, .key = 1),
		E(19, 1, TASK_CREATE_END, 1508),
		E(20, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(21, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKGROUP),
		/* the block of one that is still to begin, and that of one that never will */
		E(22, 1, GROUP_BEGIN, 1600),
		E(23, 1, TASK_CREATE, 1500, .key = 1),
		E(24, 1, TASK_CREATE_END, 1508),
		E(25, 1, TASK_CREATE, 1500, .key = 1),
		E(26, 1, TASK_CREATE_END, 1508),
		E(27, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(28, 1, TASK_BEGIN, 1400, .key = 1),
		E(29, 1, TASK_END, 1400),
		E(30, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKGROUP),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("tasks discarded by the calls that create them", events,
		       LOG_OPEN("") "10 1 0 group-begin\n"
				    "11 1 0 create-begin task=0 flags=undeferred\n"
				    "12 1 0 task-begin task=0\n"
				    "13 1 0 cancel kind=taskgroup point=0\n"
				    "14 1 0 task-end task=0\n"
				    "15 1 0 create-end task=0\n"
				    "16 1 0 create-begin task=1 flags=deferred\n"
				    "17 1 0 create-end task=1\n"
				    "18 1 0 create-begin task=2 flags=deferred\n"
				    "19 1 0 create-end task=2\n"
				    "20 1 0 wait-begin kind=taskgroup\n"
				    "21 1 0 task-discard task=1\n"
				    "21 1 0 task-discard task=2\n"
				    "21 1 0 wait-end kind=taskgroup\n"
				    "22 1 0 group-begin\n"
				    "23 1 0 create-begin task=3 flags=deferred trouble=no-begin\n"
				    "24 1 0 create-end task=3\n"
				    "25 1 0 create-begin task=4 flags=deferred\n"
				    "26 1 0 create-end task=4\n"
				    "27 1 0 wait-begin kind=taskgroup\n"
				    "28 1 0 task-begin task=4\n"
				    "29 1 0 task-end task=4\n"
				    "30 1 0 wait-end kind=taskgroup\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.never_begun == 1, "a block that is used again is no proof without a cancel");
	event_stream__free(s);
}

/* Undeferred tasks whose end is a jump: at the stack pointer of the frame around, where another one began. */
static void test_ends_by_jump(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, UNDEFERRED_BEGIN, 1500),
		E(11, 1, UNDEFERRED_BEGIN, 1400),
		E(12, 1, UNDEFERRED_END, 1500),
		E(13, 1, TASK_CREATE, 1500, .key = 1),
		E(14, 1, TASK_CREATE_END, 1508),
		E(15, 1, UNDEFERRED_END, 1540),
		E(16, 1, WAIT_BEGIN, 1540, .arg = TRACE_WAIT_TASKWAIT),
		E(17, 1, TASK_BEGIN, 1400, .key = 1),
		E(18, 1, TASK_END, 1400),
		E(19, 1, WAIT_END, 1548, .arg = TRACE_WAIT_TASKWAIT),
		/* There is none that this could end. */
		E(20, 1, UNDEFERRED_END, 1540),
		CLOSE,
	};
	struct event_stream *s = EXPECT("undeferred tasks end by jumps", events,
					LOG_OPEN("") "10 1 0 create-begin task=0 flags=undeferred\n"
						     "10 1 0 task-begin task=0\n"
						     "11 1 0 create-begin task=1 flags=undeferred\n"
						     "11 1 0 task-begin task=1\n"
						     "12 1 0 task-end task=1\n"
						     "12 1 0 create-end task=1\n"
						     "13 1 0 create-begin task=2 flags=deferred\n"
						     "14 1 0 create-end task=2\n"
						     "15 1 0 task-end task=0\n"
						     "15 1 0 create-end task=0\n"
						     "16 1 0 wait-begin kind=taskwait\n"
						     "17 1 0 task-begin task=2\n"
						     "18 1 0 task-end task=2\n"
						     "19 1 0 wait-end kind=taskwait\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.unmatched_ends == 1 && s->truth.never_ended == 0,
		      "the end of no task is counted");
	event_stream__free(s);
}

/* The program calls a serialized region's body itself, which jumps to what it does last; so does the region.
 */
static void test_serial_jumps(void)
{
	static const struct trace_event events[] = {
		E(10, 1, REGION_BEGIN, 2000, .arg = 1),
		E(10, 1, MEMBER_BEGIN, 2000, .key = 2000),
		E(11, 1, TASK_CREATE, 2000, .key = 1),
		E(12, 1, TASK_BEGIN, 1800, .key = 1),
		E(13, 1, TASK_END, 1800),
		E(14, 1, TASK_CREATE_END, 2008),
		E(15, 1, WAIT_BEGIN, 2000, .arg = TRACE_WAIT_TASKWAIT),
		E(16, 1, WAIT_END, 2008, .arg = TRACE_WAIT_TASKWAIT),
		E(17, 1, WAIT_BEGIN, 2040, .arg = TRACE_WAIT_REGION_END),
		E(17, 1, WAIT_END, 2040, .arg = TRACE_WAIT_REGION_END),
		E(17, 1, REGION_END, 2040),
	};
	struct event_stream *s = EXPECT("a serialized region whose body jumps", events,
					"10 1 0 thread-begin\n"
					"10 1 0 region-begin region=0 threads=1\n"
					"10 1 0 member-begin region=0 num=0\n"
					"11 1 0 create-begin task=0 flags=undeferred\n"
					"12 1 0 task-begin task=0\n"
					"13 1 0 task-end task=0\n"
					"14 1 0 create-end task=0\n"
					"15 1 0 wait-begin kind=taskwait\n"
					"16 1 0 wait-end kind=taskwait\n"
					"17 1 0 wait-begin kind=barrier-implicit\n"
					"17 1 0 wait-end kind=barrier-implicit\n"
					"17 1 0 member-end region=0 num=0\n"
					"17 1 0 region-end region=0\n"
					"17 1 0 thread-end\n");

	whole(s, "a serialized region whose body jumps");
	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_team();
	test_worker_leaves_early();
	test_ends_below();
	test_nested();
	test_late();
	test_discarded_in_group();
	test_discarded_in_region();
	test_discarded_in_both();
	test_discarded_or_lost();
	test_discarded_at_once();
	test_ends_by_jump();
	test_serial_jumps();
	resolve_end();
	CHECK_DONE();
}
