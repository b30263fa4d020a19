// SPDX-License-Identifier: BSD-2-Clause
/* Regions, members, singles: what the events of a trace become. */
#include "tests/unit/resolve_case.h"

/* Region, team of two, a task of each thread's making run by the other, in their last barrier. */
static void test_region(void)
{
	static const struct trace_event events[] = {
		E(10, 1, REGION_BEGIN, 2000, .site = 0xa0, .arg = 0),
		E(11, 1, TEAM_START, 1900, .key = 5, .arg = 2),
		E(14, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(12, 1, TEAM_STARTED, 1908),
		E(20, 1, TASK_CREATE, 1500, .key = 100, .site = 0xb0,
		  .arg = TRACE_TASK_UNTIED | TRACE_TASK_DEPEND),
		E(22, 1, TASK_CREATE_END, 1600),
		E(23, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(24, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(25, 2, TASK_BEGIN, 800, .key = 100, .site = 0xc0),
		E(26, 2, TASK_CREATE, 700, .key = 200, .site = 0xb1),
		E(27, 1, TASK_BEGIN, 1600, .key = 200, .site = 0xc0),
		E(28, 2, TASK_CREATE_END, 710),
		E(29, 1, TASK_END, 1600),
		E(30, 2, WAIT_BEGIN, 780, .site = 0xd0, .arg = TRACE_WAIT_TASKWAIT),
		E(31, 2, WAIT_END, 788, .arg = TRACE_WAIT_TASKWAIT),
		E(32, 2, TASK_END, 800),
		E(33, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(34, 1, REGION_END, 2008),
		E(36, 2, WAIT_END, 888, .arg = TRACE_WAIT_REGION_END),
	};
	struct event_stream *s = EXPECT("two threads run each other's tasks", events,
					"10 1 0 thread-begin\n"
					"10 1 0 region-begin region=0 src=0 threads=2\n"
					"12 1 0 member-begin region=0 num=0\n"
					"14 2 0 thread-begin\n"
					"14 2 0 member-begin region=0 num=1\n"
					"20 1 0 create-begin task=0 src=1 flags=deferred,untied\n"
					"22 1 0 create-end task=0\n"
					"23 1 0 wait-begin kind=barrier-implicit\n"
					"24 2 0 wait-begin kind=barrier-implicit\n"
					"25 2 0 task-begin task=0\n"
					"26 2 0 create-begin task=1 src=2 flags=deferred\n"
					"27 1 0 task-begin task=1\n"
					"28 2 0 create-end task=1\n"
					"29 1 0 task-end task=1\n"
					"30 2 0 wait-begin kind=taskwait src=3\n"
					"31 2 0 wait-end kind=taskwait\n"
					"32 2 0 task-end task=0\n"
					"33 1 0 wait-end kind=barrier-implicit\n"
					"33 1 0 member-end region=0 num=0\n"
					"34 1 0 region-end region=0\n"
					"34 1 0 thread-end\n"
					"36 2 0 wait-end kind=barrier-implicit\n"
					"36 2 0 member-end region=0 num=1\n"
					"36 2 0 thread-end\n");

	if (s)
		CHECK(s->truth.events == 19 && s->truth.unmatched_ends == 0 && s->truth.unclosed_waits == 0 &&
			      s->truth.never_begun == 0 && s->loss_count == 0 && s->info.threads == 2,
		      "nothing is missing");
	event_stream__free(s);
}

/* Attached while thread 1 and 2 are in a region: they are orphans until it ends; the next region is exact. */
static void test_late(void)
{
	static const struct trace_event events[] = {
		E(10, 1, TASK_CREATE, 1300, .key = 1, .site = 0xb0),
		E(11, 1, TASK_CREATE_END, 1310),
		E(12, 2, TASK_END, 700),
		E(13, 2, TASK_BEGIN, 700, .key = 1),
		E(14, 2, TASK_END, 700),
		E(15, 2, WAIT_END, 790, .arg = TRACE_WAIT_BARRIER),
		E(16, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(17, 2, WAIT_BEGIN, 780, .arg = TRACE_WAIT_REGION_END),
		E(18, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(19, 1, REGION_END, 2008),
		E(20, 2, WAIT_END, 788, .arg = TRACE_WAIT_REGION_END),
		E(30, 1, REGION_BEGIN, 2000),
		E(31, 1, TEAM_START, 1900, .key = 5, .arg = 2),
		E(32, 1, TEAM_STARTED, 1908),
		E(33, 2, MEMBER_BEGIN, 800, .key = 5, .arg = 1),
		E(34, 3, MEMBER_BEGIN, 800, .key = 6, .arg = 3),
		E(35, 3, WAIT_BEGIN, 780, .arg = TRACE_WAIT_REGION_END),
		E(36, 3, WAIT_END, 788, .arg = TRACE_WAIT_REGION_END),
		E(40, 2, WAIT_BEGIN, 780, .arg = TRACE_WAIT_REGION_END),
		E(41, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(42, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(43, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("late attach", events,
					"10 1 0 thread-begin\n"
					"10 1 0 member-begin region=none num=0\n"
					"10 1 0 create-begin task=0 src=0 flags=deferred\n"
					"11 1 0 create-end task=0\n"
					"12 2 0 thread-begin\n"
					"12 2 0 member-begin region=none num=0\n"
					"13 2 0 task-begin task=0\n"
					"14 2 0 task-end task=0\n"
					"16 1 0 wait-begin kind=barrier-implicit\n"
					"17 2 0 wait-begin kind=barrier-implicit\n"
					"18 1 0 wait-end kind=barrier-implicit\n"
					"18 1 0 member-end region=none num=0\n"
					"20 2 0 wait-end kind=barrier-implicit\n"
					"20 2 0 member-end region=none num=0\n"
					"30 1 0 region-begin region=0 threads=2\n"
					"32 1 0 member-begin region=0 num=0\n"
					"33 2 0 member-begin region=0 num=1\n"
					"34 3 0 thread-begin\n"
					"34 3 0 member-begin region=none num=0\n"
					"35 3 0 wait-begin kind=barrier-implicit\n"
					"36 3 0 wait-end kind=barrier-implicit\n"
					"36 3 0 member-end region=none num=0\n"
					"36 3 0 thread-end\n"
					"40 2 0 wait-begin kind=barrier-implicit\n"
					"41 1 0 wait-begin kind=barrier-implicit\n"
					"42 1 0 wait-end kind=barrier-implicit\n"
					"42 1 0 member-end region=0 num=0\n"
					"43 1 0 region-end region=0\n"
					"43 1 0 thread-end\n"
					"43 2 0 wait-end kind=barrier-implicit\n"
					"43 2 0 member-end region=0 num=1\n"
					"43 2 0 thread-end\n");

	if (s)
		CHECK(s->truth.unmatched_ends == 3 && s->region_trouble[0] == 0 &&
			      s->truth.unclosed_waits == 0,
		      "a worker that is still leaving the last barrier is no trouble");
	event_stream__free(s);
}

static void test_detach(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(2, 1, SINGLE, 1800, .arg = 1),
		E(10, 1, UNDEFERRED_BEGIN, 1500),
		E(11, 1, TASK_CREATE, 1400, .key = 1),
	};
	struct event_stream *s = EXPECT(
		"what is open at the end is closed there", events,
		LOG_OPEN(
			" trouble=no-end") "2 1 0 single-begin won=1\n"
					   "10 1 0 create-begin task=0 flags=undeferred trouble=no-end,wait\n"
					   "10 1 0 task-begin task=0\n"
					   "11 1 0 create-begin task=1 flags=deferred trouble=no-begin,wait\n"
					   "11 1 0 create-end task=1\n"
					   "11 1 0 task-end task=0\n"
					   "11 1 0 create-end task=0\n"
					   "11 1 0 single-end won=1\n"
					   "11 1 0 member-end region=0 num=0\n"
					   "11 1 0 region-end region=0\n"
					   "11 1 0 thread-end\n");

	if (s)
		CHECK(s->truth.never_ended == 1 && s->truth.never_begun == 1, "and counted");
	event_stream__free(s);
}

/* A teams construct on the host: the runtime's call is the region, its wait and its end have one place. */
static void test_host_teams(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .arg = 2 | TRACE_REGION_TEAMS),
		E(1, 1, TEAM_START, 2000, .key = 2000, .arg = 1),
		E(1, 1, TEAM_STARTED, 2000),
		E(2, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(3, 1, WAIT_END, 2008, .arg = TRACE_WAIT_REGION_END),
		E(4, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("teams on the host", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 threads=1 kind=teams\n"
					"1 1 0 member-begin region=0 num=0\n"
					"2 1 0 wait-begin kind=barrier-implicit\n"
					"3 1 0 wait-end kind=barrier-implicit\n"
					"3 1 0 member-end region=0 num=0\n"
					"4 1 0 region-end region=0\n"
					"4 1 0 thread-end\n");

	if (s)
		CHECK(s->truth.unmatched_ends == 0 && s->region_trouble[0] == 0, "is whole");
	event_stream__free(s);
}

/* A league whose teams take turns on the thread that met it, each with regions of its own. */
static void test_host_teams_in_turn(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .arg = 3 | TRACE_REGION_TEAMS),
		E(1, 1, TEAM_START, 2000, .key = 2000, .arg = 3),
		E(1, 1, TEAM_STARTED, 2000),
		E(2, 1, REGION_BEGIN, 1500),
		E(2, 1, TEAM_START, 1400, .key = 6, .arg = 2),
		E(2, 1, TEAM_STARTED, 1408),
		E(3, 2, MEMBER_BEGIN, 500, .key = 6, .arg = 1),
		E(4, 2, WAIT_BEGIN, 450, .arg = TRACE_WAIT_REGION_END),
		E(5, 1, WAIT_BEGIN, 1450, .arg = TRACE_WAIT_REGION_END),
		E(6, 1, WAIT_END, 1458, .arg = TRACE_WAIT_REGION_END),
		E(6, 2, WAIT_END, 458, .arg = TRACE_WAIT_REGION_END),
		E(7, 1, REGION_END, 1508),
		E(8, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, WAIT_END, 2008, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, TEAM_STARTED, 2000, .arg = 1),
		E(9, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(9, 1, WAIT_END, 2008, .arg = TRACE_WAIT_REGION_END),
		E(9, 1, TEAM_STARTED, 2000, .arg = 2),
		E(10, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, WAIT_END, 2008, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("teams that take turns", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 threads=3 kind=teams\n"
					"1 1 0 member-begin region=0 num=0\n"
					"2 1 0 region-begin region=1 threads=2\n"
					"2 1 0 member-begin region=1 num=0\n"
					"3 2 0 thread-begin\n"
					"3 2 0 member-begin region=1 num=1\n"
					"4 2 0 wait-begin kind=barrier-implicit\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"6 1 0 wait-end kind=barrier-implicit\n"
					"6 1 0 member-end region=1 num=0\n"
					"6 2 0 wait-end kind=barrier-implicit\n"
					"6 2 0 member-end region=1 num=1\n"
					"6 2 0 thread-end\n"
					"7 1 0 region-end region=1\n"
					"8 1 0 wait-begin kind=barrier-implicit\n"
					"8 1 0 wait-end kind=barrier-implicit\n"
					"8 1 0 member-end region=0 num=0\n"
					"8 1 0 member-begin region=0 num=1\n"
					"9 1 0 wait-begin kind=barrier-implicit\n"
					"9 1 0 wait-end kind=barrier-implicit\n"
					"9 1 0 member-end region=0 num=1\n"
					"9 1 0 member-begin region=0 num=2\n"
					"10 1 0 wait-begin kind=barrier-implicit\n"
					"10 1 0 wait-end kind=barrier-implicit\n"
					"10 1 0 member-end region=0 num=2\n"
					"10 1 0 region-end region=0\n"
					"10 1 0 thread-end\n");

	if (s)
		CHECK(s->truth.unmatched_ends == 0 && s->truth.never_ended == 0 && s->region_trouble[0] == 0,
		      "are whole");
	event_stream__free(s);
}

/* Attached while the second of three teams runs: of them nothing is known, of what follows all. */
static void test_host_teams_attached(void)
{
	static const struct trace_event events[] = {
		E(8, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, WAIT_END, 2008, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, TEAM_STARTED, 2000, .arg = 2),
		E(10, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, WAIT_END, 2008, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, REGION_END, 2008),
		E(11, 1, REGION_BEGIN, 2000, .arg = 1 | TRACE_REGION_TEAMS),
		E(11, 1, TEAM_START, 2000, .key = 2000, .arg = 1),
		E(11, 1, TEAM_STARTED, 2000),
		E(12, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(12, 1, WAIT_END, 2008, .arg = TRACE_WAIT_REGION_END),
		E(12, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("attached among teams", events,
					"8 1 0 thread-begin\n"
					"8 1 0 member-begin region=none num=0\n"
					"8 1 0 wait-begin kind=barrier-implicit\n"
					"8 1 0 wait-end kind=barrier-implicit\n"
					"8 1 0 member-end region=none num=0\n"
					"8 1 0 member-begin region=none num=0\n"
					"10 1 0 wait-begin kind=barrier-implicit\n"
					"10 1 0 wait-end kind=barrier-implicit\n"
					"10 1 0 member-end region=none num=0\n"
					"11 1 0 region-begin region=0 threads=1 kind=teams\n"
					"11 1 0 member-begin region=0 num=0\n"
					"12 1 0 wait-begin kind=barrier-implicit\n"
					"12 1 0 wait-end kind=barrier-implicit\n"
					"12 1 0 member-end region=0 num=0\n"
					"12 1 0 region-end region=0\n"
					"12 1 0 thread-end\n");

	event_stream__free(s);
}

/* A nested region on a new pool thread; the team's block is used again at once. */
static void test_nested(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, REGION_BEGIN, 1500),
		E(11, 1, TEAM_START, 1400, .key = 6, .arg = 2),
		E(12, 1, TEAM_STARTED, 1408),
		E(13, 2, MEMBER_BEGIN, 500, .key = 6, .arg = 1),
		E(14, 1, WAIT_BEGIN, 1450, .arg = TRACE_WAIT_REGION_END),
		E(15, 2, WAIT_BEGIN, 450, .arg = TRACE_WAIT_REGION_END),
		E(16, 1, WAIT_END, 1458, .arg = TRACE_WAIT_REGION_END),
		E(17, 1, REGION_END, 1508),
		E(20, 1, REGION_BEGIN, 1500),
		E(21, 1, TEAM_START, 1400, .key = 6, .arg = 2),
		E(22, 2, WAIT_END, 458, .arg = TRACE_WAIT_REGION_END),
		E(23, 2, MEMBER_BEGIN, 500, .key = 6, .arg = 1),
		E(24, 1, TEAM_STARTED, 1408),
		E(25, 2, WAIT_BEGIN, 450, .arg = TRACE_WAIT_REGION_END),
		E(26, 1, WAIT_BEGIN, 1450, .arg = TRACE_WAIT_REGION_END),
		E(27, 2, WAIT_END, 458, .arg = TRACE_WAIT_REGION_END),
		E(28, 1, WAIT_END, 1458, .arg = TRACE_WAIT_REGION_END),
		E(29, 1, REGION_END, 1508),
		CLOSE,
	};

	event_stream__free(EXPECT("nested regions, the same team block twice", events,
				  LOG_OPEN("") "10 1 0 region-begin region=1 threads=2\n"
					       "12 1 0 member-begin region=1 num=0\n"
					       "13 2 0 thread-begin\n"
					       "13 2 0 member-begin region=1 num=1\n"
					       "14 1 0 wait-begin kind=barrier-implicit\n"
					       "15 2 0 wait-begin kind=barrier-implicit\n"
					       "16 1 0 wait-end kind=barrier-implicit\n"
					       "16 1 0 member-end region=1 num=0\n"
					       "17 1 0 region-end region=1\n"
					       "20 1 0 region-begin region=2 threads=2\n"
					       "22 2 0 wait-end kind=barrier-implicit\n"
					       "22 2 0 member-end region=1 num=1\n"
					       "23 2 0 member-begin region=2 num=1\n"
					       "24 1 0 member-begin region=2 num=0\n"
					       "25 2 0 wait-begin kind=barrier-implicit\n"
					       "26 1 0 wait-begin kind=barrier-implicit\n"
					       "27 2 0 wait-end kind=barrier-implicit\n"
					       "27 2 0 member-end region=2 num=1\n"
					       "27 2 0 thread-end\n"
					       "28 1 0 wait-end kind=barrier-implicit\n"
					       "28 1 0 member-end region=2 num=0\n"
					       "29 1 0 region-end region=2\n" LOG_CLOSE));
}

static void test_singles(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, SINGLE, 1800, .arg = 1),
		E(11, 1, TASK_CREATE, 1500, .key = 1),
		E(12, 1, TASK_CREATE_END, 1510),
		E(13, 1, SINGLE, 1800, .arg = 0),
		E(14, 1, WAIT_BEGIN, 1790, .arg = TRACE_WAIT_BARRIER),
		E(15, 1, TASK_BEGIN, 1700, .key = 1),
		E(16, 1, TASK_END, 1700),
		E(17, 1, WAIT_END, 1798, .arg = TRACE_WAIT_BARRIER),
		E(18, 1, SINGLE, 1800, .arg = 1),
		CLOSE,
	};

	event_stream__free(EXPECT("a single ends at the next one or at a barrier", events,
				  LOG_OPEN("") "10 1 0 single-begin won=1\n"
					       "11 1 0 create-begin task=0 flags=deferred\n"
					       "12 1 0 create-end task=0\n"
					       "13 1 0 single-end won=1\n"
					       "13 1 0 single-begin won=0\n"
					       "14 1 0 single-end won=0\n"
					       "14 1 0 wait-begin kind=barrier\n"
					       "15 1 0 task-begin task=0\n"
					       "16 1 0 task-end task=0\n"
					       "17 1 0 wait-end kind=barrier\n"
					       "18 1 0 single-begin won=1\n"
					       "90 1 0 single-end won=1\n" LOG_CLOSE));
}

/* Out of order in the file, and effects before their causes at equal times. */
static void test_ties(void)
{
	static const struct trace_event events[] = {
		E(10, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(10, 2, WAIT_BEGIN, 890, .arg = TRACE_WAIT_REGION_END),
		E(10, 2, TASK_BEGIN, 800, .key = 1),
		E(20, 2, TASK_END, 800),
		E(30, 2, WAIT_END, 898, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, REGION_BEGIN, 2000),
		E(10, 1, TEAM_START, 1900, .key = 5, .arg = 2),
		E(10, 1, TEAM_STARTED, 1908),
		E(10, 1, TASK_CREATE, 1500, .key = 1),
		E(11, 1, TASK_CREATE_END, 1500),
		E(12, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(25, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(26, 1, REGION_END, 2008),
	};

	event_stream__free(EXPECT("causes before effects at equal times", events,
				  "10 1 0 thread-begin\n"
				  "10 1 0 region-begin region=0 threads=2\n"
				  "10 2 0 thread-begin\n"
				  "10 2 0 member-begin region=0 num=1\n"
				  "10 2 0 wait-begin kind=barrier-implicit\n"
				  "10 1 0 member-begin region=0 num=0\n"
				  "10 1 0 create-begin task=0 flags=deferred\n"
				  "10 2 0 task-begin task=0\n"
				  "11 1 0 create-end task=0\n"
				  "12 1 0 wait-begin kind=barrier-implicit\n"
				  "20 2 0 task-end task=0\n"
				  "25 1 0 wait-end kind=barrier-implicit\n"
				  "25 1 0 member-end region=0 num=0\n"
				  "26 1 0 region-end region=0\n"
				  "26 1 0 thread-end\n"
				  "30 2 0 wait-end kind=barrier-implicit\n"
				  "30 2 0 member-end region=0 num=1\n"
				  "30 2 0 thread-end\n"));
}

/* Members whose begin was lost. That of member 0 is made up; a worker becomes an orphan. */
static void test_lost_member(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000),
		E(2, 1, TEAM_START, 1900, .key = 5, .arg = 2),
		E(3, 1, TASK_CREATE, 1500, .key = 1),
		E(4, 1, TASK_CREATE_END, 1500),
		E(5, 2, LOST, 0, .arg = 1),
		E(6, 2, WAIT_BEGIN, 890, .arg = TRACE_WAIT_REGION_END),
		E(7, 2, TASK_BEGIN, 800, .key = 1),
		E(8, 2, TASK_END, 800),
		CLOSE,
	};

	event_stream__free(EXPECT("members whose begin was lost", events,
				  "1 1 0 thread-begin\n"
				  "1 1 0 region-begin region=0 threads=2 trouble=lost\n"
				  "3 1 0 member-begin region=0 num=0\n"
				  "3 1 0 create-begin task=0 flags=deferred trouble=lost\n"
				  "4 1 0 create-end task=0\n"
				  "5 2 0 thread-begin\n"
				  "5 2 0 member-begin region=none num=0\n"
				  "5 2 0 lost count=1\n"
				  "6 2 0 wait-begin kind=barrier-implicit\n"
				  "7 2 0 task-begin task=0\n"
				  "8 2 0 task-end task=0\n" LOG_CLOSE
				  "92 2 0 wait-end kind=barrier-implicit\n"
				  "92 2 0 member-end region=none num=0\n"
				  "92 2 0 thread-end\n"));
}

/*
 * The recording began in the wait at a region's end: what follows is the initial task again, not a member of
 * it.
 */
static void test_late_in_last_wait(void)
{
	static const struct trace_event events[] = {
		E(9, 2, TASK_END, 700),
		E(10, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(11, 1, REGION_END, 2008),
		E(12, 2, WAIT_END, 788, .arg = TRACE_WAIT_REGION_END),
		E(30, 1, REGION_BEGIN, 2000),
		E(31, 1, TEAM_START, 1900, .key = 5, .arg = 1),
		E(32, 1, TEAM_STARTED, 1908),
		E(41, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(42, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(43, 1, REGION_END, 2008),
	};
	struct event_stream *s = EXPECT("late in the last wait", events,
					"9 2 0 thread-begin\n"
					"9 2 0 member-begin region=none num=0\n"
					"10 1 0 thread-begin\n"
					"10 1 0 member-begin region=none num=0\n"
					"10 1 0 member-end region=none num=0\n"
					"12 2 0 member-end region=none num=0\n"
					"12 2 0 thread-end\n"
					"30 1 0 region-begin region=0 threads=1\n"
					"32 1 0 member-begin region=0 num=0\n"
					"41 1 0 wait-begin kind=barrier-implicit\n"
					"42 1 0 wait-end kind=barrier-implicit\n"
					"42 1 0 member-end region=0 num=0\n"
					"43 1 0 region-end region=0\n"
					"43 1 0 thread-end\n");

	if (s)
		CHECK(s->truth.unmatched_ends == 4 && s->region_trouble[0] == 0,
		      "the region after it is whole");
	event_stream__free(s);
}

/*
 * libgomp has a worker end itself in place of a region's body: that begins nothing, but an unknown body does.
 * It may be sampled there.
 */
static void test_leaves_pool(void)
{
	static const struct trace_event events[] = {
		E(10, 1, REGION_BEGIN, 2000, .key = 0xf0),
		E(11, 1, TEAM_START, 1900, .key = 5, .arg = 2),
		E(12, 1, TEAM_STARTED, 1908),
		E(13, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1, .site = 0xf0),
		E(14, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(15, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(16, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(17, 2, WAIT_END, 888, .arg = TRACE_WAIT_REGION_END),
		E(18, 1, REGION_END, 2008),
		E(19, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1, .site = 0xe0),
		E(20, 3, MEMBER_BEGIN, 900, .key = 6, .arg = 1, .site = 0xe0),
		E(21, 2, SAMPLE, 0, .key = 0x30, .arg = 1),
	};
	struct event_stream *s = EXPECT("a worker leaves its pool", events,
					"10 1 0 thread-begin\n"
					"10 1 0 region-begin region=0 threads=2\n"
					"12 1 0 member-begin region=0 num=0\n"
					"13 2 0 thread-begin\n"
					"13 2 0 member-begin region=0 num=1\n"
					"14 2 0 wait-begin kind=barrier-implicit\n"
					"15 1 0 wait-begin kind=barrier-implicit\n"
					"16 1 0 wait-end kind=barrier-implicit\n"
					"16 1 0 member-end region=0 num=0\n"
					"17 2 0 wait-end kind=barrier-implicit\n"
					"17 2 0 member-end region=0 num=1\n"
					"18 1 0 region-end region=0\n"
					"18 1 0 thread-end\n"
					"20 3 0 thread-begin\n"
					"20 3 0 member-begin region=none num=0\n"
					"21 2 0 sample ip=0x30\n"
					"21 2 0 thread-end\n"
					"21 3 0 member-end region=none num=0\n"
					"21 3 0 thread-end\n");

	if (s)
		CHECK(s->loss_count == 1 && s->losses[0].count == 1, "one team is unknown");
	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_region();
	test_late();
	test_late_in_last_wait();
	test_detach();
	test_nested();
	test_host_teams();
	test_host_teams_in_turn();
	test_host_teams_attached();
	test_singles();
	test_ties();
	test_lost_member();
	test_leaves_pool();
	resolve_end();
	CHECK_DONE();
}
