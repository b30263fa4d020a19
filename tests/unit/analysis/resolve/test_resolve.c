// SPDX-License-Identifier: BSD-2-Clause
/* Tasks and waits: what the events of a trace become. */
#include "tests/unit/resolve_case.h"

static void test_reuse(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1500, .key = 100),
		E(11, 1, TASK_CREATE_END, 1600),
		E(12, 1, TASK_BEGIN, 1400, .key = 100),
		E(13, 1, TASK_END, 1400),
		E(14, 1, TASK_CREATE, 1500, .key = 100),
		E(15, 1, TASK_CREATE_END, 1600),
		E(16, 1, TASK_CREATE, 1500, .key = 100),
		E(17, 1, TASK_CREATE_END, 1600),
		E(18, 1, TASK_BEGIN, 1400, .key = 100),
		E(19, 1, TASK_END, 1400),
		E(20, 1, TASK_BEGIN, 1400, .key = 100, .site = 0xc0),
		E(21, 1, TASK_END, 1400),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a block is used again; one task never begins, one was not seen created", events,
		       LOG_OPEN("") "10 1 0 create-begin task=0 flags=deferred\n"
				    "11 1 0 create-end task=0\n"
				    "12 1 0 task-begin task=0\n"
				    "13 1 0 task-end task=0\n"
				    "14 1 0 create-begin task=1 flags=deferred trouble=no-begin\n"
				    "15 1 0 create-end task=1\n"
				    "16 1 0 create-begin task=2 flags=deferred\n"
				    "17 1 0 create-end task=2\n"
				    "18 1 0 task-begin task=2\n"
				    "19 1 0 task-end task=2\n"
				    "20 1 0 task-begin task=3 src=0 trouble=no-create\n"
				    "21 1 0 task-end task=3\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.never_begun == 1 && s->truth.unmatched_begins == 1, "both are counted");
	event_stream__free(s);
}

static void test_undeferred(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, UNDEFERRED_BEGIN, 1500, .key = 0xc0, .site = 0xb0, .arg = TRACE_TASK_FINAL),
		E(11, 1, UNDEFERRED_BEGIN, 1300, .key = 0xc0, .site = 0xb0),
		E(12, 1, TASK_CREATE, 1200, .key = 7),
		E(13, 1, TASK_CREATE_END, 1210),
		E(14, 1, WAIT_BEGIN, 1250, .arg = TRACE_WAIT_TASKWAIT),
		E(15, 1, TASK_BEGIN, 1100, .key = 7),
		E(16, 1, TASK_END, 1100),
		E(17, 1, WAIT_END, 1258, .arg = TRACE_WAIT_TASKWAIT),
		E(18, 1, UNDEFERRED_END, 1300),
		E(19, 1, UNDEFERRED_END, 1500),
		CLOSE,
	};

	event_stream__free(EXPECT("undeferred tasks run inside their creation", events,
				  LOG_OPEN("") "10 1 0 create-begin task=0 src=0 flags=undeferred,final\n"
					       "10 1 0 task-begin task=0\n"
					       "11 1 0 create-begin task=1 src=0 flags=undeferred\n"
					       "11 1 0 task-begin task=1\n"
					       "12 1 0 create-begin task=2 flags=deferred\n"
					       "13 1 0 create-end task=2\n"
					       "14 1 0 wait-begin kind=taskwait\n"
					       "15 1 0 task-begin task=2\n"
					       "16 1 0 task-end task=2\n"
					       "17 1 0 wait-end kind=taskwait\n"
					       "18 1 0 task-end task=1\n"
					       "18 1 0 create-end task=1\n"
					       "19 1 0 task-end task=0\n"
					       "19 1 0 create-end task=0\n" LOG_CLOSE));
}

/* In these tests a probe at a return did not fire. A wait ends where something proves that it is over. */
static void test_unclosed_in_task(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, UNDEFERRED_BEGIN, 1500),
		E(11, 1, WAIT_BEGIN, 1400, .arg = TRACE_WAIT_TASKWAIT),
		E(12, 1, UNDEFERRED_END, 1500),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a wait ends with its task", events,
		       LOG_OPEN("") "10 1 0 create-begin task=0 flags=undeferred trouble=wait\n"
				    "10 1 0 task-begin task=0\n"
				    "11 1 0 wait-begin kind=taskwait\n"
				    "12 1 0 wait-end kind=taskwait\n"
				    "12 1 0 task-end task=0\n"
				    "12 1 0 create-end task=0\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.unclosed_waits == 1 && s->truth.never_ended == 0, "it is counted");
	event_stream__free(s);
}

static void test_unclosed_before_wait(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, UNDEFERRED_BEGIN, 1500),
		E(11, 1, WAIT_BEGIN, 1400, .arg = TRACE_WAIT_TASKWAIT),
		E(12, 1, WAIT_BEGIN, 1400, .arg = TRACE_WAIT_TASKWAIT),
		E(13, 1, WAIT_END, 1408, .arg = TRACE_WAIT_TASKWAIT),
		E(14, 1, UNDEFERRED_END, 1500),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a wait ends with the next one at its place", events,
		       LOG_OPEN("") "10 1 0 create-begin task=0 flags=undeferred trouble=wait\n"
				    "10 1 0 task-begin task=0\n"
				    "11 1 0 wait-begin kind=taskwait\n"
				    "12 1 0 wait-end kind=taskwait\n"
				    "12 1 0 wait-begin kind=taskwait\n"
				    "13 1 0 wait-end kind=taskwait\n"
				    "14 1 0 task-end task=0\n"
				    "14 1 0 create-end task=0\n" LOG_CLOSE);

	event_stream__free(s);
}

static void test_unclosed_inside(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKWAIT),
		E(11, 1, TASK_BEGIN, 1500, .key = 1),
		E(12, 1, WAIT_BEGIN, 1400, .arg = TRACE_WAIT_TASKWAIT),
		E(13, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKWAIT),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("a return ends what is below it", events,
		       LOG_OPEN("") "10 1 0 wait-begin kind=taskwait\n"
				    "11 1 0 task-begin task=0 trouble=no-create,no-end,wait\n"
				    "12 1 0 wait-begin kind=taskwait\n"
				    "13 1 0 wait-end kind=taskwait\n"
				    "13 1 0 task-end task=0\n"
				    "13 1 0 wait-end kind=taskwait\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.unclosed_waits == 1 && s->truth.never_ended == 1, "and counts it");
	event_stream__free(s);
}

static void test_unclosed_before_creation(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKGROUP),
		E(11, 1, TASK_CREATE, 1300, .key = 1),
		E(12, 1, GROUP_BEGIN, 1600),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("nobody creates inside a wait, nor does anything else in a creation", events,
		       LOG_OPEN("") "10 1 0 wait-begin kind=taskgroup\n"
				    "11 1 0 wait-end kind=taskgroup\n"
				    "11 1 0 create-begin task=0 flags=deferred trouble=no-begin,wait\n"
				    "12 1 0 create-end task=0\n"
				    "12 1 0 group-begin\n" LOG_CLOSE);

	if (s)
		CHECK(s->loss_count == 1 && strcmp(s->losses[0].cause, "unclosed-creations") == 0, "counted");
	event_stream__free(s);
}

static void test_unmatched(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_END, 1400),
		E(11, 1, UNDEFERRED_END, 1400),
		E(12, 1, WAIT_END, 1400, .arg = TRACE_WAIT_TASKWAIT),
		E(13, 1, TASK_CREATE_END, 1400),
		E(14, 1, WAIT_BEGIN, 1400, .arg = 99),
		E(15, 1, REGION_END, 1400),
		E(16, 1, TASK_CREATE, 1400, .key = 3, .flags = TRACE_F_FAULT),
		E(17, 1, TASK_CREATE_END, 1400),
		E(18, 1, TASK_BEGIN, 1400, .key = 3),
		E(19, 1, TASK_END, 1400),
		CLOSE,
	};
	struct event_stream *s =
		EXPECT("ends without begin are left out", events,
		       LOG_OPEN("") "16 1 0 create-begin task=0 flags=deferred trouble=fault\n"
				    "17 1 0 create-end task=0\n"
				    "18 1 0 task-begin task=0\n"
				    "19 1 0 task-end task=0\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.unmatched_ends == 6 && s->truth.read_faults == 1, "and counted");
	event_stream__free(s);
}

/* The stack pointer tells which of several open bodies ends, and which had ended unseen. */
static void test_lost(void)
{
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, TASK_CREATE, 1300, .key = 1),
		E(11, 1, TASK_CREATE_END, 1310),
		E(12, 1, TASK_CREATE, 1300, .key = 2),
		E(13, 1, TASK_CREATE_END, 1310),
		E(14, 1, WAIT_BEGIN, 1600, .arg = TRACE_WAIT_TASKWAIT),
		E(15, 1, TASK_BEGIN, 1500, .key = 1),
		E(16, 1, LOST, 0, .arg = 4),
		E(17, 1, TASK_BEGIN, 1500, .key = 2),
		E(18, 1, TASK_END, 1500),
		E(19, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKWAIT),
		CLOSE,
	};
	struct event_stream *s = EXPECT(
		"a body whose end was lost ends where another begins at its place", events,
		LOG_OPEN(" trouble=lost") "10 1 0 create-begin task=0 flags=deferred trouble=no-end,lost\n"
					  "11 1 0 create-end task=0\n"
					  "12 1 0 create-begin task=1 flags=deferred trouble=lost\n"
					  "13 1 0 create-end task=1\n"
					  "14 1 0 wait-begin kind=taskwait\n"
					  "15 1 0 task-begin task=0\n"
					  "16 1 0 lost count=4\n"
					  "17 1 0 task-end task=0\n"
					  "17 1 0 task-begin task=1\n"
					  "18 1 0 task-end task=1\n"
					  "19 1 0 wait-end kind=taskwait\n" LOG_CLOSE);

	if (s)
		CHECK(s->truth.lost == 4 && s->truth.never_ended == 1, "and what is lost is counted");
	event_stream__free(s);
}

static void test_sources(void)
{
	static const char *const lines[] = {"@source 7 file=a.c line=3 func=f",
					    "@site 0xb0 source=7",
					    "@site 0xb1 source=7",
					    "@site 0xb2 source=99",
					    "@process pid=1 runtime=libgomp",
					    NULL};
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, UNDEFERRED_BEGIN, 1500, .site = 0xb0),
		E(11, 1, UNDEFERRED_END, 1500),
		E(12, 1, WAIT_BEGIN, 1600, .site = 0xb1, .arg = TRACE_WAIT_TASKWAIT),
		E(13, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKWAIT),
		E(14, 1, WAIT_BEGIN, 1600, .site = 0xb1, .arg = TRACE_WAIT_TASKWAIT),
		E(15, 1, WAIT_END, 1608, .arg = TRACE_WAIT_TASKWAIT),
		E(16, 1, UNDEFERRED_BEGIN, 1500, .site = 0xb2),
		E(17, 1, UNDEFERRED_END, 1500),
		CLOSE,
	};
	struct event_stream *s = resolve("sources", lines, events, sizeof(events) / sizeof(events[0]));
	char *text = s ? log_of(s, 1) : strdup("");

	CHECK(strncmp(text,
		      "grain-log 1\n@process pid=1 runtime=libgomp\n@capture source=uprobes\n"
		      "@source 7 file=a.c line=3 func=f kind=task\n"
		      "@source 8 file=a.c line=3 func=f kind=taskwait\n"
		      "@source 9 kind=task module=0xb2\n@truth",
		      174) == 0 &&
		      strstr(text, "12 1 0 wait-begin kind=taskwait src=8\n") &&
		      strstr(text, "14 1 0 wait-begin kind=taskwait src=8\n") &&
		      strstr(text, "16 1 0 create-begin task=1 src=9"),
	      "one source a place and construct");
	free(text);
	event_stream__free(s);
}

/* Arbitrary events: nothing may crash, and what comes out must be sound. */
static void test_nonsense(void)
{
	static struct trace_event events[400];
	uint64_t seed = 88172645463325252u;
	int failures;

	failures = check_failures;
	for (int round = 0; round < 300 && check_failures == failures; round++) {
		char name[32];

		for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			events[i] = (struct trace_event){.time_ns = 100 + i + (seed & 3),
							 .tid = 1 + (seed >> 4) % 3,
							 .kind = (uint8_t)(1 + (seed >> 8) %
										       (TRACE_KIND_MAX - 1)),
							 .frame = 1000 + 8 * ((seed >> 16) % 40),
							 .key = 1 + (seed >> 32) % 6,
							 .site = (seed >> 40) % 3,
							 .arg = (seed >> 48) % 5,
							 .flags = (seed >> 60) == 0};
		}
		snprintf(name, sizeof(name), "nonsense %d", round);
		event_stream__free(resolve(name, NULL, events, sizeof(events) / sizeof(events[0])));
	}
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_reuse();
	test_undeferred();
	test_unclosed_in_task();
	test_unclosed_before_wait();
	test_unclosed_inside();
	test_unclosed_before_creation();
	test_unmatched();
	test_lost();
	test_sources();
	test_nonsense();
	resolve_end();
	CHECK_DONE();
}
