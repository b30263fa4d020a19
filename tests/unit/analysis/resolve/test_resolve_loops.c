// SPDX-License-Identifier: BSD-2-Clause
/* Worksharing loops and sections: what the events of a trace become. */
#include "tests/unit/resolve_case.h"

static uint64_t loss(const struct event_stream *s, const char *cause)
{
	for (size_t i = 0; i < s->loss_count; i++) {
		if (strcmp(s->losses[i].cause, cause) == 0)
			return s->losses[i].count;
	}
	return 0;
}

static void expect_lines(const char *name, const char *const *lines, const struct trace_event *events,
			 size_t count, const char *log)
{
	struct event_stream *s = resolve(name, lines, events, count);
	char *text = s ? log_of(s, 0) : strdup("");

	CHECK_STR(text, log, "%s", name);
	whole(s, name);
	free(text);
	event_stream__free(s);
}

/* A region of two threads. The tests between OPEN_TWO and CLOSE_TWO say when each of them enters a loop. */
#define OPEN_TWO                                                                                             \
	E(1, 1, REGION_BEGIN, 2000), E(1, 1, TEAM_START, 1900, .key = 5, .arg = 2),                          \
		E(1, 1, TEAM_STARTED, 1908), E(2, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1)
#define CLOSE_TWO                                                                                            \
	E(90, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),                                            \
		E(90, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),                                     \
		E(91, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),                                      \
		E(91, 2, WAIT_END, 888, .arg = TRACE_WAIT_REGION_END), E(92, 1, REGION_END, 2008)
#define LOG_OPEN_TWO(trouble)                                                                                \
	"1 1 0 thread-begin\n1 1 0 region-begin region=0 threads=2" trouble                                  \
	"\n1 1 0 member-begin region=0 num=0\n2 2 0 thread-begin\n2 2 0 member-begin region=0 num=1\n"
#define LOG_CLOSE_TWO                                                                                        \
	"90 1 0 wait-begin kind=barrier-implicit\n90 2 0 wait-begin kind=barrier-implicit\n"                 \
	"91 1 0 wait-end kind=barrier-implicit\n91 1 0 member-end region=0 num=0\n"                          \
	"91 2 0 wait-end kind=barrier-implicit\n91 2 0 member-end region=0 num=1\n91 2 0 thread-end\n"       \
	"92 1 0 region-end region=0\n92 1 0 thread-end\n"

/* A dynamic loop, then another at the same place; user code, tasks and waits in chunks. */
static void test_dynamic(void)
{
	static const struct trace_event events[] = {
		OPEN_TWO,
		E(10, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 10, .site = 0xa0,
		  .arg = TRACE_LOOP_DYNAMIC | TRACE_LOOP_UPPER_EXCLUSIVE | TRACE_LOOP_NONMONOTONIC),
		E(10, 1, LOOP_PARAMS, 1500, .key = 3, .extra = 2),
		E(11, 1, CHUNK_BEGIN, 1508, .key = 0, .extra = 6, .arg = TRACE_LOOP_UPPER_EXCLUSIVE),
		E(12, 2, LOOP_BEGIN, 800, .key = 0, .extra = 10, .site = 0xa0,
		  .arg = TRACE_LOOP_DYNAMIC | TRACE_LOOP_UPPER_EXCLUSIVE | TRACE_LOOP_NONMONOTONIC),
		E(12, 2, LOOP_PARAMS, 800, .key = 3, .extra = 2),
		E(13, 2, CHUNK_BEGIN, 808, .key = 6, .extra = 10, .arg = TRACE_LOOP_UPPER_EXCLUSIVE),
		/* the call of a task from the same frame as that of the loop */
		E(14, 2, TASK_CREATE, 790, .key = 1),
		E(15, 2, TASK_CREATE_END, 800),
		E(16, 2, WAIT_BEGIN, 800, .arg = TRACE_WAIT_TASKWAIT),
		E(17, 2, TASK_BEGIN, 700, .key = 1),
		E(18, 2, TASK_END, 700),
		E(19, 2, WAIT_END, 808, .arg = TRACE_WAIT_TASKWAIT),
		E(20, 2, CHUNK_NEXT, 800),
		E(21, 2, LOOP_END, 808),
		E(22, 1, CHUNK_NEXT, 1500),
		E(23, 1, LOOP_END, 1508),
		/* told again where a cancelled loop would not have had one */
		E(24, 1, LOOP_END, 1508),
		E(24, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		E(25, 2, WAIT_BEGIN, 800, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		E(26, 1, WAIT_END, 1508, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		E(26, 2, WAIT_END, 808, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		E(30, 2, LOOP_BEGIN, 800, .key = 0, .extra = 0, .site = 0xa0,
		  .arg = TRACE_LOOP_GUIDED | TRACE_LOOP_UPPER_EXCLUSIVE | TRACE_LOOP_ORDERED),
		E(30, 2, LOOP_PARAMS, 800, .key = 1),
		E(31, 2, LOOP_END, 808),
		E(32, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 0, .site = 0xa0,
		  .arg = TRACE_LOOP_GUIDED | TRACE_LOOP_UPPER_EXCLUSIVE | TRACE_LOOP_ORDERED),
		E(32, 1, LOOP_PARAMS, 1500, .key = 1),
		E(33, 1, LOOP_END, 1508),
		CLOSE_TWO,
	};
	struct event_stream *s = EXPECT(
		"a loop of two members", events,
		LOG_OPEN_TWO(
			"") "10 1 0 loop-begin loop=0 src=0 sched=dynamic lower=0 upper=9 step=3 chunk=2 "
			    "nonmonotonic=1\n"
			    "11 1 0 chunk-begin loop=0 lower=0 upper=3\n"
			    "12 2 0 loop-begin loop=0 src=0 sched=dynamic lower=0 upper=9 step=3 chunk=2 "
			    "nonmonotonic=1\n"
			    "13 2 0 chunk-begin loop=0 lower=6 upper=9\n"
			    "14 2 0 create-begin task=0 flags=deferred\n"
			    "15 2 0 create-end task=0\n"
			    "16 2 0 wait-begin kind=taskwait\n"
			    "17 2 0 task-begin task=0\n"
			    "18 2 0 task-end task=0\n"
			    "19 2 0 wait-end kind=taskwait\n"
			    "20 2 0 chunk-end loop=0\n"
			    "21 2 0 loop-end loop=0\n"
			    "22 1 0 chunk-end loop=0\n"
			    "23 1 0 loop-end loop=0\n"
			    "24 1 0 wait-begin kind=barrier-implicit\n"
			    "25 2 0 wait-begin kind=barrier-implicit\n"
			    "26 1 0 wait-end kind=barrier-implicit\n"
			    "26 2 0 wait-end kind=barrier-implicit\n"
			    "30 2 0 loop-begin loop=1 src=0 sched=guided lower=0 upper=-1 step=1 ordered=1\n"
			    "31 2 0 loop-end loop=1\n"
			    "32 1 0 loop-begin loop=1 src=0 sched=guided lower=0 upper=-1 step=1 ordered=1\n"
			    "33 1 0 loop-end loop=1\n" LOG_CLOSE_TWO);

	whole(s, "a loop of two members");
	event_stream__free(s);
}

/* The loop of a combined construct is begun by each member's first request. */
static void test_combined(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .site = 0xa0),
		E(1, 1, LOOP_BEGIN, 2000, .key = 10, .extra = 0,
		  .arg = TRACE_LOOP_RUNTIME | TRACE_LOOP_OF_REGION | TRACE_LOOP_UPPER_EXCLUSIVE),
		E(1, 1, LOOP_PARAMS, 2000, .key = (uint64_t)-4),
		E(1, 1, TEAM_START, 1900, .key = 5, .arg = 2),
		E(1, 1, TEAM_STARTED, 1908),
		E(2, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(10, 2, CHUNK_NEXT, 800),
		E(11, 2, CHUNK_BEGIN, 808, .key = 10, .extra = 2, .arg = TRACE_LOOP_UPPER_EXCLUSIVE),
		E(12, 1, CHUNK_NEXT, 1500),
		E(13, 1, LOOP_END, 1508),
		E(14, 2, CHUNK_NEXT, 800),
		E(15, 2, CHUNK_BEGIN, 808, .key = 2, .extra = (uint64_t)-2,
		  .arg = TRACE_LOOP_UPPER_EXCLUSIVE),
		E(16, 2, CHUNK_NEXT, 800),
		E(17, 2, LOOP_END, 808),
		CLOSE_TWO,
	};
	struct event_stream *s =
		EXPECT("a combined loop", events,
		       "1 1 0 thread-begin\n"
		       "1 1 0 region-begin region=0 src=0 threads=2\n"
		       "1 1 0 member-begin region=0 num=0\n"
		       "2 2 0 thread-begin\n"
		       "2 2 0 member-begin region=0 num=1\n"
		       "10 2 0 loop-begin loop=0 src=1 sched=runtime lower=10 upper=2 step=-4\n"
		       "11 2 0 chunk-begin loop=0 lower=10 upper=6\n"
		       "12 1 0 loop-begin loop=0 src=1 sched=runtime lower=10 upper=2 step=-4\n"
		       "13 1 0 loop-end loop=0\n"
		       "14 2 0 chunk-end loop=0\n"
		       "15 2 0 chunk-begin loop=0 lower=2 upper=2\n"
		       "16 2 0 chunk-end loop=0\n"
		       "17 2 0 loop-end loop=0\n" LOG_CLOSE_TWO);

	whole(s, "a combined loop");
	event_stream__free(s);
}

/* Static chunks that are not seen one by one; bounds at the ends of the types. */
static void test_static(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 99, .arg = TRACE_LOOP_STATIC),
		E(10, 1, LOOP_PARAMS, 1500, .key = 1, .extra = 5),
		E(10, 1, CHUNK_BEGIN, 1500, .key = 5, .extra = 9),
		E(10, 1, CHUNK_STRIDE, 1500, .key = 10),
		E(11, 1, LOOP_END, 1500),
		/* 3 of 7, 5, 3, 1: stride down */
		E(12, 1, LOOP_BEGIN, 1500, .key = 7, .extra = 1, .arg = TRACE_LOOP_STATIC),
		E(12, 1, LOOP_PARAMS, 1500, .key = (uint64_t)-1, .extra = 1),
		E(12, 1, CHUNK_BEGIN, 1500, .key = 6, .extra = 6),
		E(12, 1, CHUNK_STRIDE, 1500, .key = (uint64_t)-2),
		E(13, 1, LOOP_END, 1500),
		E(14, 1, LOOP_BEGIN, 1500, .key = UINT64_MAX - 10, .extra = UINT64_MAX,
		  .arg = TRACE_LOOP_STATIC | TRACE_LOOP_UNSIGNED | TRACE_LOOP_DISTRIBUTE),
		E(14, 1, LOOP_PARAMS, 1500, .key = 1),
		E(14, 1, CHUNK_BEGIN, 1500, .key = UINT64_MAX - 10, .extra = UINT64_MAX - 5),
		E(14, 1, CHUNK_STRIDE, 1500, .key = 11),
		E(15, 1, LOOP_END, 1500),
		/* exclusive ends of the whole type; an unsigned loop without iterations */
		E(16, 1, LOOP_BEGIN, 1500, .key = (uint64_t)INT64_MIN, .extra = INT64_MAX,
		  .arg = TRACE_LOOP_AUTO | TRACE_LOOP_UPPER_EXCLUSIVE | TRACE_LOOP_DOACROSS),
		E(16, 1, LOOP_PARAMS, 1500, .key = INT64_MAX),
		E(16, 1, CHUNK_BEGIN, 1500, .key = (uint64_t)INT64_MIN, .extra = INT64_MAX,
		  .arg = TRACE_LOOP_UPPER_EXCLUSIVE),
		E(17, 1, LOOP_END, 1500),
		E(18, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 0,
		  .arg = TRACE_LOOP_DYNAMIC | TRACE_LOOP_UPPER_EXCLUSIVE | TRACE_LOOP_UNSIGNED),
		E(18, 1, LOOP_PARAMS, 1500, .key = 1),
		E(19, 1, LOOP_END, 1500),
		CLOSE,
	};
	struct event_stream *s = EXPECT(
		"static loops", events,
		LOG_OPEN(
			"") "10 1 0 loop-begin loop=0 sched=static lower=0 upper=99 step=1 chunk=5 "
			    "stride=10\n"
			    "10 1 0 chunk-begin loop=0 lower=5 upper=9 count=10\n"
			    "11 1 0 chunk-end loop=0\n"
			    "11 1 0 loop-end loop=0\n"
			    "12 1 0 loop-begin loop=1 sched=static lower=7 upper=1 step=-1 chunk=1 "
			    "stride=-2\n"
			    "12 1 0 chunk-begin loop=1 lower=6 upper=6 count=3\n"
			    "13 1 0 chunk-end loop=1\n"
			    "13 1 0 loop-end loop=1\n"
			    "14 1 0 loop-begin loop=2 sched=static unsigned=1 lower=18446744073709551605 "
			    "upper=18446744073709551615 step=1 stride=11 distribute=1\n"
			    "14 1 0 chunk-begin loop=2 lower=18446744073709551605 "
			    "upper=18446744073709551610\n"
			    "15 1 0 chunk-end loop=2\n"
			    "15 1 0 loop-end loop=2\n"
			    "16 1 0 loop-begin loop=3 sched=auto lower=-9223372036854775808 "
			    "upper=9223372036854775806 step=9223372036854775807 doacross=1\n"
			    "16 1 0 chunk-begin loop=3 lower=-9223372036854775808 upper=9223372036854775806\n"
			    "17 1 0 chunk-end loop=3\n"
			    "17 1 0 loop-end loop=3\n"
			    "18 1 0 loop-begin loop=4 sched=dynamic unsigned=1 step=1\n"
			    "19 1 0 loop-end loop=4\n" LOG_CLOSE);

	whole(s, "static loops");
	event_stream__free(s);
}

/* GCC's inline static loops: a share per member that ends at what comes next. */
static void test_share(void)
{
	static const char *const lines[] = {"@source 1 file=a.c line=3 func=f",
					    "@site 0xb0 source=1 loop=static", "@site 0xb1 source=1", NULL};
	static const struct trace_event events[] = {
		OPEN_TWO,
		E(10, 1, STATIC_SHARE, 1500, .site = 0xb0),
		E(11, 2, STATIC_SHARE, 800, .site = 0xb0),
		E(12, 2, STATIC_SHARE, 700, .site = 0xb1),
		E(13, 2, TASK_CREATE, 700, .key = 1),
		E(14, 2, TASK_CREATE_END, 708),
		E(15, 2, STATIC_SHARE, 800, .site = 0xb0),
		E(16, 2, WAIT_BEGIN, 800, .arg = TRACE_WAIT_BARRIER),
		E(17, 2, TASK_BEGIN, 700, .key = 1),
		E(18, 2, TASK_END, 700),
		E(19, 1, STATIC_SHARE, 1500, .site = 0xb0),
		E(20, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_BARRIER),
		E(21, 1, WAIT_END, 1508, .arg = TRACE_WAIT_BARRIER),
		E(21, 2, WAIT_END, 808, .arg = TRACE_WAIT_BARRIER),
		E(22, 1, STATIC_SHARE, 1500, .site = 0xb0),
		E(23, 1, SINGLE, 1500, .arg = 1),
		E(24, 2, STATIC_SHARE, 800, .site = 0xb0),
		E(25, 2, SINGLE, 800, .arg = 0),
		E(26, 2, STATIC_SHARE, 800, .site = 0xb0),
		E(27, 1, STATIC_SHARE, 1500, .site = 0xb0),
		CLOSE_TWO,
	};

	expect_lines("static shares", lines, events, sizeof(events) / sizeof(events[0]),
		     LOG_OPEN_TWO("") "10 1 0 loop-begin loop=0 src=1 sched=static bounds=hidden\n"
				      "10 1 0 chunk-begin loop=0 bounds=hidden num=0\n"
				      "11 2 0 loop-begin loop=0 src=1 sched=static bounds=hidden\n"
				      "11 2 0 chunk-begin loop=0 bounds=hidden num=1\n"
				      "13 2 0 create-begin task=0 flags=deferred\n"
				      "14 2 0 create-end task=0\n"
				      "15 2 0 chunk-end loop=0\n"
				      "15 2 0 loop-end loop=0\n"
				      "15 2 0 loop-begin loop=1 src=1 sched=static bounds=hidden\n"
				      "15 2 0 chunk-begin loop=1 bounds=hidden num=1\n"
				      "16 2 0 chunk-end loop=1\n"
				      "16 2 0 loop-end loop=1\n"
				      "16 2 0 wait-begin kind=barrier\n"
				      "17 2 0 task-begin task=0\n"
				      "18 2 0 task-end task=0\n"
				      "19 1 0 chunk-end loop=0\n"
				      "19 1 0 loop-end loop=0\n"
				      "19 1 0 loop-begin loop=1 src=1 sched=static bounds=hidden\n"
				      "19 1 0 chunk-begin loop=1 bounds=hidden num=0\n"
				      "20 1 0 chunk-end loop=1\n"
				      "20 1 0 loop-end loop=1\n"
				      "20 1 0 wait-begin kind=barrier\n"
				      "21 1 0 wait-end kind=barrier\n"
				      "21 2 0 wait-end kind=barrier\n"
				      "22 1 0 loop-begin loop=2 src=1 sched=static bounds=hidden\n"
				      "22 1 0 chunk-begin loop=2 bounds=hidden num=0\n"
				      "23 1 0 chunk-end loop=2\n"
				      "23 1 0 loop-end loop=2\n"
				      "23 1 0 single-begin won=1\n"
				      "24 2 0 loop-begin loop=2 src=1 sched=static bounds=hidden\n"
				      "24 2 0 chunk-begin loop=2 bounds=hidden num=1\n"
				      "25 2 0 chunk-end loop=2\n"
				      "25 2 0 loop-end loop=2\n"
				      "25 2 0 single-begin won=0\n"
				      "26 2 0 single-end won=0\n"
				      "26 2 0 loop-begin loop=3 src=1 sched=static bounds=hidden\n"
				      "26 2 0 chunk-begin loop=3 bounds=hidden num=1\n"
				      "27 1 0 single-end won=1\n"
				      "27 1 0 loop-begin loop=3 src=1 sched=static bounds=hidden\n"
				      "27 1 0 chunk-begin loop=3 bounds=hidden num=0\n"
				      "90 1 0 chunk-end loop=3\n"
				      "90 1 0 loop-end loop=3\n"
				      "90 1 0 wait-begin kind=barrier-implicit\n"
				      "90 2 0 chunk-end loop=3\n"
				      "90 2 0 loop-end loop=3\n"
				      "90 2 0 wait-begin kind=barrier-implicit\n"
				      "91 1 0 wait-end kind=barrier-implicit\n"
				      "91 1 0 member-end region=0 num=0\n"
				      "91 2 0 wait-end kind=barrier-implicit\n"
				      "91 2 0 member-end region=0 num=1\n"
				      "91 2 0 thread-end\n"
				      "92 1 0 region-end region=0\n"
				      "92 1 0 thread-end\n");
}

static void test_sections(void)
{
	static const struct trace_event events[] = {
		OPEN_TWO,
		E(10, 1, SECTIONS_BEGIN, 1500, .arg = 3, .site = 0xa0),
		E(10, 1, SECTION_BEGIN, 1508, .arg = 0),
		E(11, 2, SECTIONS_BEGIN, 800, .arg = 3, .site = 0xa0),
		E(11, 2, SECTION_BEGIN, 808, .arg = 1),
		/* a region in a section */
		E(12, 2, REGION_BEGIN, 700),
		E(12, 2, TEAM_START, 690, .key = 6, .arg = 1),
		E(12, 2, TEAM_STARTED, 698),
		E(13, 2, WAIT_BEGIN, 690, .arg = TRACE_WAIT_REGION_END),
		E(14, 2, WAIT_END, 698, .arg = TRACE_WAIT_REGION_END),
		E(15, 2, REGION_END, 708),
		E(16, 2, SECTION_NEXT, 800),
		E(17, 2, SECTION_BEGIN, 808, .arg = 2),
		E(18, 2, SECTION_NEXT, 800),
		E(19, 2, SECTIONS_END, 808),
		E(20, 1, SECTION_NEXT, 1500),
		E(21, 1, SECTIONS_END, 1508),
		/* clang's: a static loop over their numbers */
		E(30, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 3,
		  .arg = TRACE_LOOP_STATIC | TRACE_LOOP_IS_SECTIONS),
		E(30, 1, LOOP_PARAMS, 1500, .key = 1),
		E(31, 1, CHUNK_BEGIN, 1500, .key = 0, .extra = 1),
		E(32, 1, LOOP_END, 1500),
		E(30, 2, LOOP_BEGIN, 800, .key = 0, .extra = 3,
		  .arg = TRACE_LOOP_STATIC | TRACE_LOOP_IS_SECTIONS),
		E(30, 2, LOOP_PARAMS, 800, .key = 1),
		E(31, 2, CHUNK_BEGIN, 800, .key = 2, .extra = 3),
		E(32, 2, LOOP_END, 800),
		CLOSE_TWO,
	};
	struct event_stream *s =
		EXPECT("sections", events,
		       LOG_OPEN_TWO("") "10 1 0 sections-begin loop=0 src=0 lower=0 upper=2\n"
					"10 1 0 section-begin loop=0 lower=0\n"
					"11 2 0 sections-begin loop=0 src=0 lower=0 upper=2\n"
					"11 2 0 section-begin loop=0 lower=1\n"
					"12 2 0 region-begin region=1 threads=1\n"
					"12 2 0 member-begin region=1 num=0\n"
					"13 2 0 wait-begin kind=barrier-implicit\n"
					"14 2 0 wait-end kind=barrier-implicit\n"
					"14 2 0 member-end region=1 num=0\n"
					"15 2 0 region-end region=1\n"
					"16 2 0 section-end loop=0\n"
					"17 2 0 section-begin loop=0 lower=2\n"
					"18 2 0 section-end loop=0\n"
					"19 2 0 sections-end loop=0\n"
					"20 1 0 section-end loop=0\n"
					"21 1 0 sections-end loop=0\n"
					"30 1 0 sections-begin loop=1 lower=0 upper=3\n"
					"30 2 0 sections-begin loop=1 lower=0 upper=3\n"
					"31 1 0 section-begin loop=1 lower=0 upper=1\n"
					"31 2 0 section-begin loop=1 lower=2 upper=3\n"
					"32 1 0 section-end loop=1\n"
					"32 1 0 sections-end loop=1\n"
					"32 2 0 section-end loop=1\n"
					"32 2 0 sections-end loop=1\n" LOG_CLOSE_TWO);

	whole(s, "sections");
	event_stream__free(s);
}

static void test_combined_sections(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .site = 0xa0),
		E(1, 1, SECTIONS_BEGIN, 2000, .arg = 2 | TRACE_SECTIONS_OF_REGION, .site = 0xa0),
		E(1, 1, TEAM_START, 1900, .key = 5, .arg = 1),
		E(1, 1, TEAM_STARTED, 1908),
		E(10, 1, SECTION_NEXT, 1500),
		E(11, 1, SECTION_BEGIN, 1508, .arg = 0),
		E(12, 1, SECTION_NEXT, 1500),
		E(13, 1, SECTION_BEGIN, 1508, .arg = 1),
		E(14, 1, SECTION_NEXT, 1500),
		E(15, 1, SECTIONS_END, 1508),
		CLOSE,
	};
	struct event_stream *s = EXPECT("combined sections", events,
					"1 1 0 thread-begin\n"
					"1 1 0 region-begin region=0 src=0 threads=1\n"
					"1 1 0 member-begin region=0 num=0\n"
					"10 1 0 sections-begin loop=0 src=1 lower=0 upper=1\n"
					"11 1 0 section-begin loop=0 lower=0\n"
					"12 1 0 section-end loop=0\n"
					"13 1 0 section-begin loop=0 lower=1\n"
					"14 1 0 section-end loop=0\n"
					"15 1 0 sections-end loop=0\n" LOG_CLOSE);

	whole(s, "combined sections");
	event_stream__free(s);
}

/* libgomp ends the taskgroup of a task reduction inside the barrier's call, before it waits there. */
static void test_taskgroup_in_barrier(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, GROUP_BEGIN, 1500),
		E(11, 1, TASK_CREATE, 1400, .key = 1),
		E(12, 1, TASK_CREATE_END, 1410),
		E(13, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_BARRIER_IMPLICIT, .site = 0xa0),
		E(14, 1, WAIT_BEGIN, 1450, .arg = TRACE_WAIT_TASKGROUP),
		E(15, 1, TASK_BEGIN, 1300, .key = 1),
		E(16, 1, TASK_END, 1300),
		E(17, 1, WAIT_END, 1458, .arg = TRACE_WAIT_TASKGROUP),
		E(18, 1, WAIT_END, 1508, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		CLOSE,
	};
	struct event_stream *s = EXPECT("a taskgroup that ends in a barrier", events,
					LOG_OPEN("") "10 1 0 group-begin\n"
						     "11 1 0 create-begin task=0 flags=deferred\n"
						     "12 1 0 create-end task=0\n"
						     "13 1 0 wait-begin kind=taskgroup src=0\n"
						     "15 1 0 task-begin task=0\n"
						     "16 1 0 task-end task=0\n"
						     "17 1 0 wait-end kind=taskgroup\n"
						     "17 1 0 wait-begin kind=barrier-implicit src=0\n"
						     "18 1 0 wait-end kind=barrier-implicit\n" LOG_CLOSE);

	whole(s, "a taskgroup that ends in a barrier");
	event_stream__free(s);
}

/* Orphaned: in the initial task each is one of its own. */
static void test_orphaned(void)
{
	static const struct trace_event events[] = {
		E(10, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 3, .arg = TRACE_LOOP_STATIC),
		E(10, 1, CHUNK_BEGIN, 1500, .key = 0, .extra = 3),
		E(11, 1, LOOP_END, 1500),
		E(12, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 3, .arg = TRACE_LOOP_STATIC),
		E(12, 1, CHUNK_BEGIN, 1500, .key = 0, .extra = 3),
		E(13, 1, LOOP_END, 1500),
	};

	event_stream__free(EXPECT("loops of the initial task", events,
				  "10 1 0 thread-begin\n"
				  "10 1 0 loop-begin loop=0 sched=static lower=0 upper=3\n"
				  "10 1 0 chunk-begin loop=0 lower=0 upper=3\n"
				  "11 1 0 chunk-end loop=0\n"
				  "11 1 0 loop-end loop=0\n"
				  "12 1 0 loop-begin loop=1 sched=static lower=0 upper=3\n"
				  "12 1 0 chunk-begin loop=1 lower=0 upper=3\n"
				  "13 1 0 chunk-end loop=1\n"
				  "13 1 0 loop-end loop=1\n"
				  "13 1 0 thread-end\n"));
}

static void test_loops_unseen(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, CHUNK_BEGIN, 1508, .key = 4, .extra = 6, .arg = TRACE_LOOP_UPPER_EXCLUSIVE),
		E(11, 1, CHUNK_NEXT, 1500),
		E(12, 1, LOOP_END, 1508),
		E(13, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 3, .arg = TRACE_LOOP_DYNAMIC),
		E(14, 1, CHUNK_BEGIN, 1508, .key = 0, .extra = 3),
		E(15, 1, WAIT_BEGIN, 1400, .arg = TRACE_WAIT_TASKWAIT),
		E(16, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_BARRIER),
		E(17, 1, WAIT_END, 1508, .arg = TRACE_WAIT_BARRIER),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a chunk of no loop, a loop without end", events,
		       LOG_OPEN(" trouble=lost") "10 1 0 loop-begin loop=0\n"
						 "10 1 0 chunk-begin loop=0 lower=4 upper=5\n"
						 "11 1 0 chunk-end loop=0\n"
						 "12 1 0 loop-end loop=0\n"
						 "13 1 0 loop-begin loop=1 sched=dynamic lower=0 upper=3\n"
						 "14 1 0 chunk-begin loop=1 lower=0 upper=3\n"
						 "15 1 0 wait-begin kind=taskwait\n"
						 "16 1 0 wait-end kind=taskwait\n"
						 "16 1 0 chunk-end loop=1\n"
						 "16 1 0 loop-end loop=1\n"
						 "16 1 0 wait-begin kind=barrier\n"
						 "17 1 0 wait-end kind=barrier\n" LOG_CLOSE);

	if (s)
		CHECK(loss(s, "unmatched-loops") == 1 && loss(s, "unclosed-loops") == 1 &&
			      s->truth.unclosed_waits == 1,
		      "are counted");
	event_stream__free(s);
}

static void test_members_disagree(void)
{
	static const struct trace_event events[] = {
		OPEN_TWO,
		E(10, 1, LOOP_BEGIN, 1500, .extra = 3, .site = 0xa0),
		E(11, 1, LOOP_END, 1508),
		E(12, 2, LOOP_BEGIN, 800, .extra = 3, .site = 0xa1),
		E(13, 2, LOOP_END, 808),
		E(14, 2, SECTIONS_BEGIN, 800, .arg = 2, .site = 0xa2),
		E(15, 2, SECTIONS_END, 808),
		E(16, 1, SECTIONS_BEGIN, 1500, .arg = 2, .site = 0xa2),
		E(17, 1, SECTIONS_END, 1508),
		CLOSE_TWO,
	};
	struct event_stream *s =
		EXPECT("members that disagree", events,
		       LOG_OPEN_TWO(" trouble=lost") "10 1 0 loop-begin loop=0 src=0 lower=0 upper=3\n"
						     "11 1 0 loop-end loop=0\n"
						     "12 2 0 loop-begin loop=1 src=1 lower=0 upper=3\n"
						     "13 2 0 loop-end loop=1\n"
						     "14 2 0 sections-begin loop=2 src=2 lower=0 upper=1\n"
						     "15 2 0 sections-end loop=2\n"
						     "16 1 0 sections-begin loop=2 src=2 lower=0 upper=1\n"
						     "17 1 0 sections-end loop=2\n" LOG_CLOSE_TWO);

	if (s)
		CHECK(loss(s, "mismatched-loops") == 1, "are counted");
	event_stream__free(s);
}

static void test_cancelled(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, LOOP_BEGIN, 1500, .extra = 3, .arg = TRACE_LOOP_DYNAMIC),
		E(11, 1, CHUNK_BEGIN, 1508, .key = 0, .extra = 3),
		E(12, 1, CANCEL, 1500, .arg = TRACE_CANCEL_LOOP, .site = 0xc0),
		E(16, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		E(17, 1, WAIT_END, 1508, .arg = TRACE_WAIT_BARRIER_IMPLICIT),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a cancelled loop needs no end", events,
		       LOG_OPEN("") "10 1 0 loop-begin loop=0 sched=dynamic lower=0 upper=3\n"
				    "11 1 0 chunk-begin loop=0 lower=0 upper=3\n"
				    "12 1 0 cancel kind=loop point=0 src=0\n"
				    "16 1 0 chunk-end loop=0\n"
				    "16 1 0 loop-end loop=0\n"
				    "16 1 0 wait-begin kind=barrier-implicit\n"
				    "17 1 0 wait-end kind=barrier-implicit\n" LOG_CLOSE);

	whole(s, "a cancelled loop");
	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_dynamic();
	test_combined();
	test_static();
	test_share();
	test_sections();
	test_combined_sections();
	test_taskgroup_in_barrier();
	test_orphaned();
	test_loops_unseen();
	test_members_disagree();
	test_cancelled();
	resolve_end();
	CHECK_DONE();
}
