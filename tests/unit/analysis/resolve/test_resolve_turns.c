// SPDX-License-Identifier: BSD-2-Clause
/* Teams of libomp that go from one region to the next, and recordings that begin inside a region. */
#include "tests/unit/resolve_case.h"

/*
 * Recording begins inside a region, with the begin of one nested in it. Only the outer one's end tells that,
 * after the nested one's, whose place in libomp's code lies below where it began.
 */
static void test_begins_inside(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .site = 0xa0, .key = 0xf0),
		E(2, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(3, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(4, 1, WAIT_END, 1960, .arg = TRACE_WAIT_REGION_END),
		E(4, 1, REGION_END, 1960),
		E(5, 1, WAIT_BEGIN, 2800, .arg = TRACE_WAIT_REGION_END),
		E(6, 1, WAIT_END, 2960, .arg = TRACE_WAIT_REGION_END),
		E(6, 1, REGION_END, 2960),
		E(7, 1, REGION_BEGIN, 3000, .site = 0xa1, .key = 0xf1),
		E(8, 1, MEMBER_BEGIN, 2900, .key = 6),
		E(9, 1, WAIT_BEGIN, 2800, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, WAIT_END, 2960, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, REGION_END, 2960),
	};
	struct event_stream *s = EXPECT("recording begins inside a region of libomp", events,
					"1 1 0 thread-begin\n"
					"1 1 0 member-begin region=none num=0\n"
					"1 1 0 region-begin region=0 src=0 threads=1\n"
					"2 1 0 member-begin region=0 num=0\n"
					"3 1 0 wait-begin kind=barrier-implicit\n"
					"4 1 0 wait-end kind=barrier-implicit\n"
					"4 1 0 member-end region=0 num=0\n"
					"4 1 0 region-end region=0\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"6 1 0 wait-end kind=barrier-implicit\n"
					"6 1 0 member-end region=none num=0\n"
					"7 1 0 region-begin region=1 src=1 threads=1\n"
					"8 1 0 member-begin region=1 num=0\n"
					"9 1 0 wait-begin kind=barrier-implicit\n"
					"10 1 0 wait-end kind=barrier-implicit\n"
					"10 1 0 member-end region=1 num=0\n"
					"10 1 0 region-end region=1\n"
					"10 1 0 thread-end\n");

	event_stream__free(s);
}

/* Recording begins inside a league of teams whose end is not seen; the next one begins in the same place. */
static void test_begins_in_league(void)
{
	static const struct trace_event events[] = {
		E(1, 1, TEAM_STARTED, 3000, .arg = 1),
		E(2, 1, REGION_BEGIN, 2000, .site = 0xa0),
		E(3, 1, TEAM_START, 1900, .key = 5, .arg = 1),
		E(4, 1, TEAM_STARTED, 1908),
		E(5, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(6, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		E(7, 1, REGION_END, 2008),
		E(9, 1, REGION_BEGIN, 3000, .site = 0xa1, .arg = 1 | TRACE_REGION_TEAMS),
		E(9, 1, TEAM_START, 3000, .key = 3000, .arg = 1),
		E(9, 1, TEAM_STARTED, 3000),
		E(10, 1, WAIT_BEGIN, 2992, .arg = TRACE_WAIT_REGION_END),
		E(11, 1, WAIT_END, 3008, .arg = TRACE_WAIT_REGION_END),
		E(12, 1, REGION_END, 3008),
	};
	struct event_stream *s = EXPECT("recording begins inside a league", events,
					"1 1 0 thread-begin\n"
					"1 1 0 member-begin region=none num=0\n"
					"2 1 0 region-begin region=0 src=0 threads=1\n"
					"4 1 0 member-begin region=0 num=0\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"6 1 0 wait-end kind=barrier-implicit\n"
					"6 1 0 member-end region=0 num=0\n"
					"7 1 0 region-end region=0\n"
					"9 1 0 member-end region=none num=0\n"
					"9 1 0 region-begin region=1 src=1 threads=1 kind=teams\n"
					"9 1 0 member-begin region=1 num=0\n"
					"10 1 0 wait-begin kind=barrier-implicit\n"
					"11 1 0 wait-end kind=barrier-implicit\n"
					"11 1 0 member-end region=1 num=0\n"
					"12 1 0 region-end region=1\n"
					"12 1 0 thread-end\n");

	event_stream__free(s);
}

/* A region of thread 1 alone. */
#define LONE_REGION(begin, end, outermost)                                                                   \
	E(begin, 1, REGION_BEGIN, 2000, .site = 0xa0, .arg = (outermost) | 1),                               \
		E(begin, 1, TEAM_START, 1900, .key = 5, .arg = 1), E(begin, 1, TEAM_STARTED, 1908),          \
		E(end, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),                                   \
		E(end, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END), E(end, 1, REGION_END, 2008)

/*
 * Recording begins inside a region of a league; the regions of its teams are outermost ones, as far as
 * libgomp's data say, but not the process's. After the league one is.
 */
static void test_outermost_in_league(void)
{
	static const struct trace_event events[] = {
		E(1, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		E(2, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		LONE_REGION(3, 4, TRACE_REGION_OUTERMOST),
		E(5, 1, WAIT_BEGIN, 2992, .arg = TRACE_WAIT_REGION_END),
		E(5, 1, WAIT_END, 3008, .arg = TRACE_WAIT_REGION_END),
		E(5, 1, TEAM_STARTED, 3000, .arg = 1),
		LONE_REGION(6, 7, TRACE_REGION_OUTERMOST),
		E(8, 1, WAIT_BEGIN, 2992, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, WAIT_END, 3008, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, REGION_END, 3008),
		LONE_REGION(9, 10, TRACE_REGION_OUTERMOST),
	};
	struct event_stream *s = EXPECT("recording begins inside a region of a league", events,
					"1 1 0 thread-begin\n"
					"1 1 0 member-begin region=none num=0\n"
					"1 1 0 wait-begin kind=barrier-implicit\n"
					"2 1 0 wait-end kind=barrier-implicit\n"
					"2 1 0 member-end region=none num=0\n"
					"3 1 0 member-begin region=none num=0\n"
					"3 1 0 region-begin region=0 src=0 threads=1\n"
					"3 1 0 member-begin region=0 num=0\n"
					"4 1 0 wait-begin kind=barrier-implicit\n"
					"4 1 0 wait-end kind=barrier-implicit\n"
					"4 1 0 member-end region=0 num=0\n"
					"4 1 0 region-end region=0\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"5 1 0 wait-end kind=barrier-implicit\n"
					"5 1 0 member-end region=none num=0\n"
					"5 1 0 member-begin region=none num=0\n"
					"6 1 0 region-begin region=1 src=0 threads=1\n"
					"6 1 0 member-begin region=1 num=0\n"
					"7 1 0 wait-begin kind=barrier-implicit\n"
					"7 1 0 wait-end kind=barrier-implicit\n"
					"7 1 0 member-end region=1 num=0\n"
					"7 1 0 region-end region=1\n"
					"8 1 0 wait-begin kind=barrier-implicit\n"
					"8 1 0 wait-end kind=barrier-implicit\n"
					"8 1 0 member-end region=none num=0\n"
					"9 1 0 region-begin region=2 src=0 threads=1\n"
					"9 1 0 member-begin region=2 num=0\n"
					"10 1 0 wait-begin kind=barrier-implicit\n"
					"10 1 0 wait-end kind=barrier-implicit\n"
					"10 1 0 member-end region=2 num=0\n"
					"10 1 0 region-end region=2\n"
					"10 1 0 thread-end\n");

	event_stream__free(s);
}

/* Recording begins inside the last team of a league: a region of it, the league's end, a region after it. */
static void test_last_team_of_league(void)
{
	static const struct trace_event events[] = {
		LONE_REGION(1, 2, TRACE_REGION_OUTERMOST),
		E(3, 1, TEAM_STARTED, 3000, .arg = TRACE_TEAMS_OVER),
		LONE_REGION(4, 5, 0),
	};
	struct event_stream *s = EXPECT("recording begins inside the last team of a league", events,
					"1 1 0 thread-begin\n"
					"1 1 0 member-begin region=none num=0\n"
					"1 1 0 region-begin region=0 src=0 threads=1\n"
					"1 1 0 member-begin region=0 num=0\n"
					"2 1 0 wait-begin kind=barrier-implicit\n"
					"2 1 0 wait-end kind=barrier-implicit\n"
					"2 1 0 member-end region=0 num=0\n"
					"2 1 0 region-end region=0\n"
					"3 1 0 member-end region=none num=0\n"
					"4 1 0 region-begin region=1 src=0 threads=1\n"
					"4 1 0 member-begin region=1 num=0\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"5 1 0 wait-end kind=barrier-implicit\n"
					"5 1 0 member-end region=1 num=0\n"
					"5 1 0 region-end region=1\n"
					"5 1 0 thread-end\n");

	event_stream__free(s);
}

/*
 * Thread 3 begins a region, and libomp gives it the team of thread 1's region, which is over only after that;
 * until then the team's worker serves thread 1's.
 */
static void test_team_of_two(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .site = 0xa0, .key = 0xf0),
		E(2, 1, MEMBER_BEGIN, 1900, .key = 5),
		E(3, 3, REGION_BEGIN, 3000, .site = 0xa0, .key = 0xf0),
		E(4, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(5, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(6, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(7, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(8, 1, REGION_END, 1960),
		E(9, 3, MEMBER_BEGIN, 2900, .key = 5),
		E(10, 3, WAIT_BEGIN, 2800, .arg = TRACE_WAIT_REGION_END),
		E(11, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(12, 3, REGION_END, 2960),
	};
	struct event_stream *s = EXPECT("a team of libomp for two regions", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 src=0 threads=2\n"
					"2 1 0 member-begin region=0 num=0\n"
					"3 3 0 thread-begin\n"
					"3 3 0 region-begin region=1 src=0 threads=2\n"
					"4 2 0 thread-begin\n"
					"4 2 0 member-begin region=0 num=1\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"6 2 0 wait-begin kind=barrier-implicit\n"
					"7 2 0 wait-end kind=barrier-implicit\n"
					"7 2 0 member-end region=0 num=1\n"
					"7 2 0 member-begin region=1 num=1\n"
					"8 1 0 wait-end kind=barrier-implicit\n"
					"8 1 0 member-end region=0 num=0\n"
					"8 1 0 region-end region=0\n"
					"8 1 0 thread-end\n"
					"9 3 0 member-begin region=1 num=0\n"
					"10 3 0 wait-begin kind=barrier-implicit\n"
					"11 2 0 wait-begin kind=barrier-implicit\n"
					"12 3 0 wait-end kind=barrier-implicit\n"
					"12 3 0 member-end region=1 num=0\n"
					"12 2 0 wait-end kind=barrier-implicit\n"
					"12 2 0 member-end region=1 num=1\n"
					"12 2 0 thread-end\n"
					"12 3 0 region-end region=1\n"
					"12 3 0 thread-end\n");

	whole(s, "a team for two regions");
	event_stream__free(s);
}

/* Of two regions that have begun, the later one gets the team first; its worker is there before its member 0.
 */
static void test_turns_of_a_team(void)
{
	static const char *const no_lines[] = {NULL};
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .site = 0xa0, .key = 0xf0),
		E(2, 1, MEMBER_BEGIN, 1900, .key = 64),
		E(3, 3, REGION_BEGIN, 3000, .site = 0xa0, .key = 0xf0),
		E(4, 4, REGION_BEGIN, 4000, .site = 0xa0, .key = 0xf0),
		E(5, 2, MEMBER_BEGIN, 900, .key = 64, .arg = 1),
		E(6, 1, WAIT_BEGIN, 1800, .arg = TRACE_WAIT_REGION_END),
		E(7, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(8, 1, REGION_END, 1960),
		E(9, 2, MEMBER_BEGIN, 900, .key = 64, .arg = 1),
		E(10, 4, MEMBER_BEGIN, 3900, .key = 64),
		E(11, 4, WAIT_BEGIN, 3800, .arg = TRACE_WAIT_REGION_END),
		E(12, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(13, 4, REGION_END, 3960),
		E(14, 3, MEMBER_BEGIN, 2900, .key = 64),
		E(15, 2, MEMBER_BEGIN, 900, .key = 64, .arg = 1),
		E(16, 3, WAIT_BEGIN, 2800, .arg = TRACE_WAIT_REGION_END),
		E(17, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(18, 3, REGION_END, 2960),
	};
	struct event_stream *s =
		resolve("turns of a team", no_lines, events, sizeof(events) / sizeof(events[0]));
	char *text = s ? log_of(s, 1) : strdup("");

	whole(s, "turns of a team");
	CHECK(strstr(text, "5 2 0 member-begin region=0 num=1\n") &&
		      strstr(text, "9 2 0 member-begin region=2 num=1\n") &&
		      strstr(text, "15 2 0 member-begin region=1 num=1\n"),
	      "a worker serves the regions in the order in which they get its team");
	free(text);
	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_begins_inside();
	test_begins_in_league();
	test_outermost_in_league();
	test_last_team_of_league();
	test_team_of_two();
	test_turns_of_a_team();
	resolve_end();
	CHECK_DONE();
}
