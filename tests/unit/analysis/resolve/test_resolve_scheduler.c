// SPDX-License-Identifier: BSD-2-Clause
/* The scheduler's records stand anywhere between those of a thread and change nothing that they tell. */
#include "tests/unit/resolve_case.h"

#define OFF(t, reason, neighbour)                                                                            \
	E(t, 1, OFF_CPU, 0, .arg = TRACE_OFF_##reason | (uint32_t)(neighbour) << TRACE_OFF_NEIGHBOUR_SHIFT)
#define ON(t, ...) E(t, 1, ON_CPU, 0, ##__VA_ARGS__)

/* Between a loop's begin and its parameters, a begin and its dependences, in a creation, a wait, a chunk. */
static void test_anywhere(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, LOOP_BEGIN, 1500, .key = 0, .extra = 9, .site = 0xa0, .arg = TRACE_LOOP_DYNAMIC),
		OFF(11, PREEMPTED, 3),
		ON(12),
		E(13, 1, LOOP_PARAMS, 1500, .key = 1, .extra = 2),
		E(14, 1, CHUNK_BEGIN, 1508, .key = 0, .extra = 9),
		OFF(15, YIELDED, 0),
		ON(16),
		E(17, 1, CHUNK_NEXT, 1500),
		E(18, 1, LOOP_END, 1508),
		E(20, 1, TASK_CREATE, 1500, .key = 1, .site = 0xb0),
		OFF(21, BLOCKED, 0),
		ON(25, .key = 23),
		E(26, 1, TASK_BEGIN, 1400, .key = 1),
		OFF(27, PREEMPTED, 1),
		ON(28),
		E(29, 1, DEPEND, 1480, .key = 0x70, .arg = TRACE_DEPEND_OUT),
		E(30, 1, TASK_END, 1400),
		E(31, 1, TASK_CREATE_END, 1508),
		CLOSE,
	};
	struct event_stream *s = EXPECT(
		"anywhere", events,
		LOG_OPEN("") "10 1 0 loop-begin loop=0 src=0 sched=dynamic lower=0 upper=9 step=1 chunk=2\n"
			     "11 1 0 off-cpu reason=preempted by=3\n"
			     "12 1 0 on-cpu reason=unknown\n"
			     "14 1 0 chunk-begin loop=0 lower=0 upper=9\n"
			     "15 1 0 off-cpu reason=yielded\n"
			     "16 1 0 on-cpu reason=unknown\n"
			     "17 1 0 chunk-end loop=0\n"
			     "18 1 0 loop-end loop=0\n"
			     "20 1 0 create-begin task=0 src=1 flags=undeferred\n"
			     "21 1 0 off-cpu reason=blocked\n"
			     "25 1 0 on-cpu reason=unknown ready=23\n"
			     "26 1 0 depend task=0 addr=0x70 kind=out\n"
			     "26 1 0 task-begin task=0\n"
			     "27 1 0 off-cpu reason=preempted by=1\n"
			     "28 1 0 on-cpu reason=unknown\n"
			     "30 1 0 task-end task=0\n"
			     "31 1 0 create-end task=0\n" LOG_CLOSE);

	whole(s, "anywhere");
	event_stream__free(s);
}

/* Before a thread's first event of its own and after its last nothing is said of it. */
static void test_outside(void)
{
	static const struct trace_event events[] = {
		OFF(0, BLOCKED, 0),
		ON(1),
		OPEN,
		CLOSE,
		OFF(93, BLOCKED, 0),
		ON(94, .key = 94),
		E(95, 7, OFF_CPU, 0, .arg = 77),
	};
	struct event_stream *s = EXPECT("outside", events, LOG_OPEN("") LOG_CLOSE);

	whole(s, "outside");
	event_stream__free(s);
}

/* Of one that tells by itself what it does nothing else is missing: also where it has not begun yet. */
static void test_lost(void)
{
	static const struct trace_event events[] = {
		E(0, 1, LOST_SWITCHES, 0, .arg = 9),
		OPEN,
		OFF(20, BLOCKED, 0),
		E(25, 1, LOST_SWITCHES, 0, .arg = 7),
		OFF(26, PREEMPTED, 0),
		ON(28),
		CLOSE,
	};
	struct event_stream *s = EXPECT("lost", events,
					"0 1 0 lost count=9 of=switches\n" LOG_OPEN(
						"") "20 1 0 off-cpu reason=blocked\n"
						    "25 1 0 lost count=7 of=switches\n"
						    "26 1 0 off-cpu reason=preempted\n"
						    "28 1 0 on-cpu reason=unknown\n" LOG_CLOSE);

	CHECK(s && s->truth.lost == 16 && s->truth.lost_switches == 16, "lost records are counted");
	event_stream__free(s);
}

/* What no kernel says: a reason that is none, a time beyond all clocks. */
static void test_nonsense(void)
{
	static const struct trace_event events[] = {
		OPEN, E(5, 1, OFF_CPU, 0, .arg = 77), ON(6, .key = UINT64_MAX), ON(7), CLOSE,
	};
	struct event_stream *s = EXPECT("nonsense", events,
					LOG_OPEN("") "5 1 0 off-cpu reason=unknown\n"
						     "6 1 0 on-cpu reason=unknown\n"
						     "7 1 0 on-cpu reason=unknown\n" LOG_CLOSE);

	whole(s, "nonsense");
	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_anywhere();
	test_outside();
	test_lost();
	test_nonsense();
	resolve_end();
	CHECK_DONE();
}
