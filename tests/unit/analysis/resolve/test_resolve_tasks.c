// SPDX-License-Identifier: BSD-2-Clause
/* Tasks that begin inside their creation, in parts, of taskloops, with dependences, detached. */
#include "tests/unit/resolve_case.h"

static uint64_t loss(const struct event_stream *s, const char *cause)
{
	for (size_t i = 0; i < s->loss_count; i++) {
		if (strcmp(s->losses[i].cause, cause) == 0)
			return s->losses[i].count;
	}
	return 0;
}

/* The runtime runs tasks at once, each inside the creation of the one before. */
static void test_included(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1500, .key = 1, .site = 0xb0),
		E(11, 1, DEPEND, 1480, .key = 0x70, .arg = TRACE_DEPEND_OUT),
		E(12, 1, TASK_BEGIN, 1400, .key = 1),
		E(13, 1, TASK_CREATE, 1300, .key = 2, .site = 0xb0),
		E(14, 1, TASK_BEGIN, 1200, .key = 2),
		E(15, 1, WAIT_BEGIN, 1100, .arg = TRACE_WAIT_TASKWAIT),
		E(16, 1, WAIT_END, 1108, .arg = TRACE_WAIT_TASKWAIT),
		E(17, 1, TASK_END, 1200),
		E(18, 1, TASK_CREATE_END, 1308),
		E(19, 1, TASK_CREATE, 1300, .key = 3, .site = 0xb0),
		E(20, 1, TASK_CREATE_END, 1308),
		E(21, 1, TASK_END, 1400),
		E(22, 1, TASK_CREATE_END, 1508),
		E(23, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_BARRIER),
		E(24, 1, TASK_BEGIN, 1400, .key = 3),
		E(25, 1, TASK_END, 1400),
		E(26, 1, WAIT_END, 1508, .arg = TRACE_WAIT_BARRIER),
		CLOSE,
	};
	struct event_stream *s = EXPECT("bodies inside creations", events,
					LOG_OPEN("") "10 1 0 create-begin task=0 src=0 flags=undeferred\n"
						     "11 1 0 depend task=0 addr=0x70 kind=out\n"
						     "12 1 0 task-begin task=0\n"
						     "13 1 0 create-begin task=1 src=0 flags=undeferred\n"
						     "14 1 0 task-begin task=1\n"
						     "15 1 0 wait-begin kind=taskwait\n"
						     "16 1 0 wait-end kind=taskwait\n"
						     "17 1 0 task-end task=1\n"
						     "18 1 0 create-end task=1\n"
						     "19 1 0 create-begin task=2 src=0 flags=deferred\n"
						     "20 1 0 create-end task=2\n"
						     "21 1 0 task-end task=0\n"
						     "22 1 0 create-end task=0\n"
						     "23 1 0 wait-begin kind=barrier\n"
						     "24 1 0 task-begin task=2\n"
						     "25 1 0 task-end task=2\n"
						     "26 1 0 wait-end kind=barrier\n" LOG_CLOSE);

	whole(s, "bodies inside creations");
	event_stream__free(s);
}

/* Ends of nested creations and bodies that were not seen: the outer return proves them over. */
static void test_included_unclosed(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1500, .key = 1),
		E(11, 1, TASK_BEGIN, 1400, .key = 1),
		E(12, 1, TASK_CREATE, 1300, .key = 2),
		E(13, 1, TASK_BEGIN, 1200, .key = 2),
		E(14, 1, TASK_CREATE_END, 1508),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a creation's return ends all in it", events,
		       LOG_OPEN("") "10 1 0 create-begin task=0 flags=undeferred trouble=no-end,wait\n"
				    "11 1 0 task-begin task=0\n"
				    "12 1 0 create-begin task=1 flags=undeferred trouble=no-end,wait\n"
				    "13 1 0 task-begin task=1\n"
				    "14 1 0 task-end task=1\n"
				    "14 1 0 create-end task=1\n"
				    "14 1 0 task-end task=0\n"
				    "14 1 0 create-end task=0\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.never_ended == 2 && loss(s, "unclosed-creations") == 1, "and counts it");
	event_stream__free(s);
}

/* A program without regions: libomp creates and runs tasks in the initial task. */
static void test_initial_task(void)
{
	static const char *const lines[] = {"@capture source=uprobes late=0", NULL};
	static const struct trace_event events[] = {
		E(10, 1, TASK_CREATE, 1500, .key = 1),
		E(11, 1, TASK_BEGIN, 1400, .key = 1),
		E(12, 1, TASK_END, 1400),
		E(13, 1, TASK_CREATE_END, 1508),
		E(14, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_BARRIER),
		E(15, 1, WAIT_END, 1508, .arg = TRACE_WAIT_BARRIER),
		E(16, 1, TASK_CREATE, 1500, .key = 1),
		E(17, 1, TASK_CREATE_END, 1508),
		E(18, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_TASKWAIT),
		E(19, 1, TASK_BEGIN, 1400, .key = 1),
		E(20, 1, TASK_END, 1400),
		E(21, 1, WAIT_END, 1508, .arg = TRACE_WAIT_TASKWAIT),
	};
	struct event_stream *s = resolve("initial task", lines, events, sizeof(events) / sizeof(events[0]));
	char *text = s ? log_of(s, 0) : strdup("");

	CHECK_STR(text,
		  "10 1 0 thread-begin\n"
		  "10 1 0 create-begin task=0 flags=undeferred\n"
		  "11 1 0 task-begin task=0\n"
		  "12 1 0 task-end task=0\n"
		  "13 1 0 create-end task=0\n"
		  "14 1 0 wait-begin kind=barrier\n"
		  "15 1 0 wait-end kind=barrier\n"
		  "16 1 0 create-begin task=1 flags=deferred\n"
		  "17 1 0 create-end task=1\n"
		  "18 1 0 wait-begin kind=taskwait\n"
		  "19 1 0 task-begin task=1\n"
		  "20 1 0 task-end task=1\n"
		  "21 1 0 wait-end kind=taskwait\n"
		  "21 1 0 thread-end\n",
		  "tasks of the initial task");
	whole(s, "initial task");
	free(text);
	event_stream__free(s);
}

/* What is told after the begin of a body belongs between creation and begin. */
static void test_attached(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASKLOOP_BEGIN, 1600, .site = 0xa0),
		E(11, 1, GROUP_BEGIN, 1550),
		E(12, 1, TASK_CREATE, 1500, .key = 1, .arg = TRACE_TASK_OF_TASKLOOP),
		E(13, 1, TASK_CREATE_END, 1510),
		E(14, 1, UNDEFERRED_BEGIN, 1500, .arg = TRACE_TASK_OF_TASKLOOP | TRACE_TASK_PRIORITY),
		E(15, 1, TASK_BOUNDS, 1500, .key = 10, .extra = 19),
		E(16, 1, DEPEND, 1500, .key = 0x80, .arg = TRACE_DEPEND_UNREAD),
		E(17, 1, UNDEFERRED_END, 1500),
		E(18, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(19, 1, TASK_BEGIN, 1400, .key = 1),
		E(19, 1, TASK_BOUNDS, 1400, .key = 0, .extra = 9),
		E(20, 1, TASK_END, 1400),
		E(21, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKGROUP),
		E(22, 1, TASKLOOP_END, 1608),
		E(23, 1, TASK_CREATE, 1500, .key = 1, .site = 0xb0, .arg = TRACE_TASK_MERGEABLE),
		E(24, 1, TASK_CREATE_END, 1510),
		E(25, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKWAIT_DEPEND, .site = 0xc0),
		E(26, 1, DEPEND, 1600, .key = 0x90, .arg = TRACE_DEPEND_INOUTSET),
		E(27, 1, TASK_BEGIN, 1400, .key = 1),
		E(28, 1, TASK_END, 1400),
		E(29, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKWAIT_DEPEND),
		E(30, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKYIELD),
		E(31, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKYIELD),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("bounds and dependences", events,
		       LOG_OPEN("") "11 1 0 group-begin\n"
				    "12 1 0 create-begin task=0 src=0 flags=deferred,taskloop\n"
				    "13 1 0 create-end task=0\n"
				    "14 1 0 create-begin task=1 src=0 flags=undeferred,taskloop,priority\n"
				    "14 1 0 task-bounds task=1 taskloop=0 lower=10 upper=19\n"
				    "14 1 0 depend task=1 addr=0x80 kind=unread\n"
				    "14 1 0 task-begin task=1\n"
				    "17 1 0 task-end task=1\n"
				    "17 1 0 create-end task=1\n"
				    "18 1 0 wait-begin kind=taskgroup\n"
				    "19 1 0 task-bounds task=0 taskloop=0 lower=0 upper=9\n"
				    "19 1 0 task-begin task=0\n"
				    "20 1 0 task-end task=0\n"
				    "21 1 0 wait-end kind=taskgroup\n"
				    "23 1 0 create-begin task=2 src=1 flags=deferred,mergeable\n"
				    "24 1 0 create-end task=2\n"
				    "25 1 0 wait-begin kind=taskwait-depend src=2\n"
				    "26 1 0 depend addr=0x90 kind=inoutset\n"
				    "27 1 0 task-begin task=2\n"
				    "28 1 0 task-end task=2\n"
				    "29 1 0 wait-end kind=taskwait-depend\n"
				    "30 1 0 wait-begin kind=taskyield\n"
				    "31 1 0 wait-end kind=taskyield\n" LOG_CLOSE);

	whole(s, "bounds and dependences");
	event_stream__free(s);
}

/* libomp halves a large taskloop: a task of the runtime's own creates the other half. */
static void test_split(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASKLOOP_BEGIN, 1600, .site = 0xa0),
		E(11, 1, TASK_CREATE, 1500, .key = 1, .arg = TRACE_TASK_SPLIT),
		E(12, 1, TASK_CREATE_END, 1508),
		E(13, 1, TASK_CREATE, 1500, .key = 2, .arg = TRACE_TASK_OF_TASKLOOP),
		E(13, 1, TASK_BOUNDS, 1500, .key = 0, .extra = 4),
		E(14, 1, TASK_CREATE_END, 1508),
		E(15, 1, TASKLOOP_END, 1608),
		E(16, 1, TASKLOOP_BEGIN, 1600, .site = 0xa1),
		E(17, 1, TASK_CREATE, 1500, .key = 3, .arg = TRACE_TASK_OF_TASKLOOP),
		E(17, 1, TASK_BOUNDS, 1500, .key = 0, .extra = 1),
		E(18, 1, TASK_CREATE_END, 1508),
		E(19, 1, TASKLOOP_END, 1608),
		E(20, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(21, 1, TASK_BEGIN, 1400, .key = 1),
		E(22, 1, TASK_CREATE, 1300, .key = 4, .arg = TRACE_TASK_OF_TASKLOOP),
		E(22, 1, TASK_BOUNDS, 1300, .key = 5, .extra = 9),
		E(23, 1, TASK_BEGIN, 1200, .key = 4),
		E(24, 1, TASK_END, 1200),
		E(25, 1, TASK_CREATE_END, 1308),
		E(26, 1, TASK_END, 1400),
		E(27, 1, TASK_BEGIN, 1400, .key = 2),
		E(28, 1, TASK_CREATE, 1300, .key = 5, .site = 0xb0),
		E(29, 1, TASK_CREATE_END, 1308),
		E(30, 1, TASK_END, 1400),
		E(31, 1, TASK_BEGIN, 1400, .key = 3),
		E(32, 1, TASK_END, 1400),
		E(33, 1, TASK_BEGIN, 1400, .key = 5),
		E(34, 1, TASK_END, 1400),
		E(35, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKGROUP),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a taskloop in halves", events,
		       LOG_OPEN("") "11 1 0 create-begin task=0 src=0 flags=deferred,taskloop,split\n"
				    "12 1 0 create-end task=0\n"
				    "13 1 0 create-begin task=1 src=0 flags=deferred,taskloop\n"
				    "13 1 0 task-bounds task=1 taskloop=0 lower=0 upper=4\n"
				    "14 1 0 create-end task=1\n"
				    "17 1 0 create-begin task=2 src=1 flags=deferred,taskloop\n"
				    "17 1 0 task-bounds task=2 taskloop=1 lower=0 upper=1\n"
				    "18 1 0 create-end task=2\n"
				    "20 1 0 wait-begin kind=taskgroup\n"
				    "21 1 0 task-begin task=0\n"
				    "22 1 0 create-begin task=3 src=0 flags=undeferred,taskloop\n"
				    "22 1 0 task-bounds task=3 taskloop=0 lower=5 upper=9\n"
				    "23 1 0 task-begin task=3\n"
				    "24 1 0 task-end task=3\n"
				    "25 1 0 create-end task=3\n"
				    "26 1 0 task-end task=0\n"
				    "27 1 0 task-begin task=1\n"
				    "28 1 0 create-begin task=4 src=2 flags=deferred\n"
				    "29 1 0 create-end task=4\n"
				    "30 1 0 task-end task=1\n"
				    "31 1 0 task-begin task=2\n"
				    "32 1 0 task-end task=2\n"
				    "33 1 0 task-begin task=4\n"
				    "34 1 0 task-end task=4\n"
				    "35 1 0 wait-end kind=taskgroup\n" LOG_CLOSE);

	whole(s, "a taskloop in halves");
	event_stream__free(s);
}

/* An untied task of libomp runs in parts: on the next thread, before its return was seen, inside itself. */
static void test_untied(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(2, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(3, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(10, 1, TASK_CREATE, 1500, .key = 1, .arg = TRACE_TASK_UNTIED),
		E(11, 1, TASK_CREATE_END, 1508),
		E(12, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKWAIT),
		/* the first part ends before the second begins, elsewhere */
		E(13, 1, TASK_BEGIN, 1400, .key = 1),
		E(14, 1, TASK_CREATE, 1300, .key = 1),
		E(15, 1, TASK_CREATE_END, 1308),
		E(16, 1, TASK_END, 1400),
		E(17, 2, TASK_BEGIN, 800, .key = 1),
		/* the second hands over, and the third begins on the first thread while it returns */
		E(18, 2, TASK_CREATE, 700, .key = 1),
		E(19, 1, TASK_BEGIN, 1400, .key = 1),
		E(20, 2, TASK_CREATE_END, 708),
		E(21, 2, TASK_END, 800),
		/* the fourth runs inside the third */
		E(22, 1, TASK_CREATE, 1300, .key = 1),
		E(23, 1, TASK_BEGIN, 1200, .key = 1),
		E(24, 1, TASK_CREATE, 1100, .key = 2),
		E(25, 1, TASK_CREATE_END, 1108),
		E(26, 1, TASK_END, 1200),
		E(27, 1, TASK_CREATE_END, 1308),
		E(28, 1, TASK_END, 1400),
		/* the block is used again, by a task that is no part of it */
		E(29, 1, TASK_BEGIN, 1400, .key = 2),
		E(30, 1, TASK_CREATE, 1300, .key = 1),
		E(31, 1, TASK_CREATE_END, 1308),
		E(32, 1, TASK_END, 1400),
		E(33, 1, TASK_BEGIN, 1400, .key = 1),
		E(34, 1, TASK_END, 1400),
		E(35, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKWAIT),
		CLOSE,
		E(93, 2, WAIT_END, 888, .arg = TRACE_WAIT_REGION_END),
	};
	struct event_stream *s = EXPECT("a task in parts", events,
					LOG_OPEN("") "2 2 0 thread-begin\n"
						     "2 2 0 member-begin region=0 num=1\n"
						     "3 2 0 wait-begin kind=barrier-implicit\n"
						     "10 1 0 create-begin task=0 flags=deferred,untied\n"
						     "11 1 0 create-end task=0\n"
						     "12 1 0 wait-begin kind=taskwait\n"
						     "13 1 0 task-begin task=0\n"
						     "16 1 0 task-suspend task=0\n"
						     "17 2 0 task-switch task=0\n"
						     "19 2 0 task-suspend task=0\n"
						     "19 1 0 task-switch task=0\n"
						     "23 1 0 task-suspend task=0\n"
						     "23 1 0 task-switch task=0\n"
						     "24 1 0 create-begin task=1 flags=deferred\n"
						     "25 1 0 create-end task=1\n"
						     "26 1 0 task-end task=0\n"
						     "29 1 0 task-begin task=1\n"
						     "30 1 0 create-begin task=2 flags=deferred\n"
						     "31 1 0 create-end task=2\n"
						     "32 1 0 task-end task=1\n"
						     "33 1 0 task-begin task=2\n"
						     "34 1 0 task-end task=2\n"
						     "35 1 0 wait-end kind=taskwait\n"
						     "90 1 0 wait-begin kind=barrier-implicit\n"
						     "91 1 0 wait-end kind=barrier-implicit\n"
						     "91 1 0 member-end region=0 num=0\n"
						     "92 1 0 region-end region=0\n"
						     "92 1 0 thread-end\n"
						     "93 2 0 wait-end kind=barrier-implicit\n"
						     "93 2 0 member-end region=0 num=1\n"
						     "93 2 0 thread-end\n");

	whole(s, "a task in parts");
	event_stream__free(s);
}

/* Begun inside its creation, but gone on later: that is no undeferred task. One that never goes on has no
 * end. */
static void test_untied_included(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1500, .key = 1, .arg = TRACE_TASK_UNTIED),
		E(11, 1, TASK_BEGIN, 1400, .key = 1),
		E(12, 1, TASK_CREATE, 1300, .key = 1),
		E(13, 1, TASK_CREATE_END, 1308),
		E(14, 1, TASK_END, 1400),
		E(15, 1, TASK_CREATE_END, 1508),
		E(16, 1, WAIT_BEGIN, 1500, .arg = TRACE_WAIT_TASKWAIT),
		E(17, 1, TASK_BEGIN, 1400, .key = 1),
		E(18, 1, TASK_CREATE, 1300, .key = 1),
		E(19, 1, TASK_CREATE_END, 1308),
		E(20, 1, TASK_END, 1400),
		E(21, 1, WAIT_END, 1508, .arg = TRACE_WAIT_TASKWAIT),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("the first part inside the creation", events,
		       LOG_OPEN("") "10 1 0 create-begin task=0 flags=deferred,untied trouble=no-end\n"
				    "11 1 0 task-begin task=0\n"
				    "14 1 0 task-suspend task=0\n"
				    "15 1 0 create-end task=0\n"
				    "16 1 0 wait-begin kind=taskwait\n"
				    "17 1 0 task-switch task=0\n"
				    "20 1 0 task-suspend task=0\n"
				    "21 1 0 wait-end kind=taskwait\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.never_ended == 1, "one that was not seen to go on has no end");
	event_stream__free(s);
}

/* Every part runs inside the creating call: that is an undeferred task; its next one goes elsewhere. */
static void test_untied_inside(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(2, 2, MEMBER_BEGIN, 900, .key = 5, .arg = 1),
		E(10, 1, TASK_CREATE, 1500, .key = 1, .arg = TRACE_TASK_UNTIED),
		E(11, 1, TASK_BEGIN, 1400, .key = 1),
		E(12, 1, TASK_CREATE, 1300, .key = 1),
		E(13, 1, TASK_BEGIN, 1200, .key = 1),
		E(14, 1, TASK_CREATE, 1100, .key = 1),
		E(15, 1, TASK_BEGIN, 1000, .key = 1),
		E(16, 1, TASK_END, 1000),
		E(17, 1, TASK_CREATE_END, 1108),
		E(18, 1, TASK_END, 1200),
		E(19, 1, TASK_CREATE_END, 1308),
		E(20, 1, TASK_END, 1400),
		E(21, 1, TASK_CREATE_END, 1508),
		/* the last of three parts on another thread, while the creation has not returned */
		E(22, 1, TASK_CREATE, 1500, .key = 1, .arg = TRACE_TASK_UNTIED),
		E(23, 1, TASK_BEGIN, 1400, .key = 1),
		E(24, 1, TASK_CREATE, 1300, .key = 1),
		E(25, 1, TASK_BEGIN, 1200, .key = 1),
		E(26, 1, TASK_CREATE, 1100, .key = 1),
		E(27, 1, TASK_CREATE_END, 1108),
		E(28, 1, TASK_END, 1200),
		E(29, 2, WAIT_BEGIN, 880, .arg = TRACE_WAIT_REGION_END),
		E(30, 2, TASK_BEGIN, 800, .key = 1),
		E(31, 2, TASK_END, 800),
		E(32, 1, TASK_CREATE_END, 1308),
		E(33, 1, TASK_END, 1400),
		E(34, 1, TASK_CREATE_END, 1508),
		CLOSE,
		E(93, 2, WAIT_END, 888, .arg = TRACE_WAIT_REGION_END),
	};
	struct event_stream *s = EXPECT("parts inside the creation", events,
					LOG_OPEN("") "2 2 0 thread-begin\n"
						     "2 2 0 member-begin region=0 num=1\n"
						     "10 1 0 create-begin task=0 flags=undeferred,untied\n"
						     "11 1 0 task-begin task=0\n"
						     "13 1 0 task-suspend task=0\n"
						     "13 1 0 task-switch task=0\n"
						     "15 1 0 task-suspend task=0\n"
						     "15 1 0 task-switch task=0\n"
						     "16 1 0 task-end task=0\n"
						     "21 1 0 create-end task=0\n"
						     "22 1 0 create-begin task=1 flags=deferred,untied\n"
						     "23 1 0 task-begin task=1\n"
						     "25 1 0 task-suspend task=1\n"
						     "25 1 0 task-switch task=1\n"
						     "28 1 0 task-suspend task=1\n"
						     "29 2 0 wait-begin kind=barrier-implicit\n"
						     "30 2 0 task-switch task=1\n"
						     "31 2 0 task-end task=1\n"
						     "34 1 0 create-end task=1\n"
						     "90 1 0 wait-begin kind=barrier-implicit\n"
						     "91 1 0 wait-end kind=barrier-implicit\n"
						     "91 1 0 member-end region=0 num=0\n"
						     "92 1 0 region-end region=0\n"
						     "92 1 0 thread-end\n"
						     "93 2 0 wait-end kind=barrier-implicit\n"
						     "93 2 0 member-end region=0 num=1\n"
						     "93 2 0 thread-end\n");

	whole(s, "parts inside the creation");
	event_stream__free(s);
}

static void test_fulfill(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1500, .key = 1, .arg = TRACE_TASK_DETACH),
		E(11, 1, TASK_CREATE_END, 1508),
		E(12, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKWAIT),
		E(13, 1, TASK_BEGIN, 1400, .key = 1),
		E(14, 1, TASK_END, 1400),
		E(15, 7, TASK_FULFILL, 5000, .key = 1),
		E(16, 7, TASK_FULFILL, 5000, .key = 1),
		E(17, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKWAIT),
		CLOSE,
	};
	struct event_stream *s = EXPECT("a thread of the program's own fulfills an event", events,
					LOG_OPEN("") "10 1 0 create-begin task=0 flags=deferred,detach\n"
						     "11 1 0 create-end task=0\n"
						     "12 1 0 wait-begin kind=taskwait\n"
						     "13 1 0 task-begin task=0\n"
						     "14 1 0 task-end task=0\n"
						     "15 7 0 thread-begin\n"
						     "15 7 0 task-fulfill task=0\n"
						     "16 7 0 thread-end\n"
						     "17 1 0 wait-end kind=taskwait\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.unmatched_ends == 1, "what cannot be twice is counted");
	event_stream__free(s);
}

/* Attached to a program in which threads that are no members of the team run tasks: they are in no region. */
static void test_any_thread(void)
{
	static const struct trace_event events[] = {
		E(10, 1, TASK_CREATE, 1300, .key = 1, .site = 0xb0, .arg = TRACE_TASK_ANY_THREAD),
		E(11, 1, TASK_CREATE_END, 1310),
		E(12, 1, TASK_CREATE, 1300, .key = 2, .site = 0xb0),
		E(13, 1, TASK_CREATE_END, 1310),
		E(14, 2, TASK_BEGIN, 700, .key = 1),
		E(15, 2, UNDEFERRED_BEGIN, 600, .site = 0xb8),
		E(16, 2, UNDEFERRED_END, 600),
		E(17, 2, TASK_END, 700),
		E(18, 3, TASK_BEGIN, 700, .key = 2),
		E(19, 3, TASK_END, 700),
		E(20, 1, TASK_CREATE, 1300, .key = 1, .site = 0xb0, .arg = TRACE_TASK_ANY_THREAD),
		E(21, 1, TASK_CREATE_END, 1310),
		E(22, 2, TASK_BEGIN, 700, .key = 1),
		E(23, 2, TASK_END, 700),
	};
	struct event_stream *s = EXPECT("threads of no team", events,
					"10 1 0 thread-begin\n"
					"10 1 0 member-begin region=none num=0\n"
					"10 1 0 create-begin task=0 src=0 flags=deferred\n"
					"11 1 0 create-end task=0\n"
					"12 1 0 create-begin task=1 src=0 flags=deferred\n"
					"13 1 0 create-end task=1\n"
					"14 2 0 thread-begin\n"
					"14 2 0 task-begin task=0\n"
					"15 2 0 create-begin task=2 src=1 flags=undeferred\n"
					"15 2 0 task-begin task=2\n"
					"16 2 0 task-end task=2\n"
					"16 2 0 create-end task=2\n"
					"17 2 0 task-end task=0\n"
					"18 3 0 thread-begin\n"
					"18 3 0 member-begin region=none num=0\n"
					"18 3 0 task-begin task=1\n"
					"19 3 0 task-end task=1\n"
					"20 1 0 create-begin task=3 src=0 flags=deferred\n"
					"21 1 0 create-end task=3\n"
					"22 2 0 task-begin task=3\n"
					"23 2 0 task-end task=3\n"
					"23 2 0 thread-end\n"
					"23 1 0 member-end region=none num=0\n"
					"23 1 0 thread-end\n"
					"23 3 0 member-end region=none num=0\n"
					"23 3 0 thread-end\n");

	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_included();
	test_included_unclosed();
	test_initial_task();
	test_attached();
	test_split();
	test_untied();
	test_untied_included();
	test_untied_inside();
	test_fulfill();
	test_any_thread();
	resolve_end();
	CHECK_DONE();
}
