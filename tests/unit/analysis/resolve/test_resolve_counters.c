// SPDX-License-Identifier: BSD-2-Clause
/* Readings of counters in a trace: every event that one record becomes has the reading before it, others have
 * none. */
#include "tests/unit/resolve_case.h"

static const char *const two[] = {"@counter 0 name=page-faults", "@counter 1 name=task-clock",
				  "@counter-absent name=cycles why=\"this machine has no such counter\"",
				  "@counter-share 1 share=0.25", NULL};

#define READ(t, thread, of, a, b) E(t, thread, COUNTERS, a, .key = b, .arg = (uint32_t)TRACE_##of << 16)

/* A task in a region; its end is only seen by the barrier's, whose reading it has then. */
static void test_task(void)
{
	static const struct trace_event events[] = {
		READ(1, 1, REGION_BEGIN, 0, 0),
		E(2, 1, REGION_BEGIN, 2000, .site = 0xa0),
		E(3, 1, TEAM_START, 1900, .key = 5, .arg = 1),
		READ(4, 1, TEAM_STARTED, 1, 10),
		E(5, 1, TEAM_STARTED, 1908),
		READ(6, 1, TASK_CREATE, 2, 20),
		E(6, 1, TASK_CREATE, 1700, .key = 9, .site = 0xb0),
		READ(7, 1, TASK_CREATE_END, 3, 30),
		E(8, 1, TASK_CREATE_END, 1700),
		READ(9, 1, WAIT_BEGIN, 4, 40),
		E(10, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
		READ(11, 1, TASK_BEGIN, 5, 50),
		E(12, 1, TASK_BEGIN, 1500, .key = 9, .site = 0xc0),
		READ(13, 1, TASK_END, 25, 60),
		E(14, 1, TASK_END, 1500),
		READ(15, 1, WAIT_END, 26, 70),
		E(16, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
		READ(17, 1, REGION_END, 27, 80),
		E(18, 1, REGION_END, 2008),
	};
	struct event_stream *s = resolve("a task", two, events, sizeof(events) / sizeof(*events));
	char *log;

	if (!s)
		return;
	log = log_of(s, 1);
	CHECK_STR(log,
		  "grain-log 1\n"
		  "@counter 0 name=page-faults\n"
		  "@counter 1 name=task-clock\n"
		  "@counter-absent name=cycles why=\"this machine has no such counter\"\n"
		  "@counter-share 1 share=0.25\n"
		  "@capture source=uprobes\n"
		  "@source 0 kind=parallel module=0xa0\n"
		  "@source 1 kind=task module=0xb0\n"
		  "@truth events=10 lost=0 unmatched_begins=0 unmatched_ends=0 never_begun=0 never_ended=0 "
		  "unclosed_waits=0 read_faults=0 damaged=0\n"
		  "2 1 0 thread-begin c0=0 c1=0\n"
		  "2 1 0 region-begin region=0 src=0 threads=1 c0=0 c1=0\n"
		  "5 1 0 member-begin region=0 num=0 c0=1 c1=10\n"
		  "6 1 0 create-begin task=0 src=1 flags=deferred c0=2 c1=20\n"
		  "8 1 0 create-end task=0 c0=3 c1=30\n"
		  "10 1 0 wait-begin kind=barrier-implicit c0=4 c1=40\n"
		  "12 1 0 task-begin task=0 c0=5 c1=50\n"
		  "14 1 0 task-end task=0 c0=25 c1=60\n"
		  "16 1 0 wait-end kind=barrier-implicit c0=26 c1=70\n"
		  "16 1 0 member-end region=0 num=0 c0=26 c1=70\n"
		  "18 1 0 region-end region=0 c0=27 c1=80\n"
		  "18 1 0 thread-end c0=27 c1=80\n",
		  "a task has its readings");
	free(log);
	CHECK(s->counter_count == 2 && s->counters[1].share == 0.25 && s->absent_counter_count == 1,
	      "which counters, which not, which part of the time");
	event_stream__free(s);
}

/* A reading whose event was lost is of no other; one of which a part is unknown is none. */
static void test_gaps(void)
{
	static const struct trace_event events[] = {
		READ(1, 1, REGION_BEGIN, 0, 0),
		E(2, 1, REGION_BEGIN, 2000, .site = 0xa0),
		READ(3, 1, TEAM_START, 1, 10),
		E(4, 1, TEAM_STARTED, 1908),
		E(5, 1, COUNTERS, 2, .key = 20, .arg = 1u << 8 | (uint32_t)TRACE_SINGLE << 16),
		E(6, 1, SINGLE, 1700, .arg = 1),
		E(7, 1, COUNTERS, 3, .arg = 3 | (uint32_t)TRACE_REGION_END << 16),
		E(8, 1, COUNTERS, 4, .arg = 255 | (uint32_t)TRACE_REGION_END << 16),
		E(9, 1, REGION_END, 2008),
	};
	struct event_stream *s = resolve("gaps", two, events, sizeof(events) / sizeof(*events));
	uint32_t first = 0, second = 0;

	for (size_t i = 0; s && i < s->reading_count; i++) {
		first += s->readings[i].counter == 0;
		second += s->readings[i].counter == 1;
	}
	CHECK(s && first == 2 && second == 3, "what was not read is not there (%u, %u)", first, second);
	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_task();
	test_gaps();
	resolve_end();
	CHECK_DONE();
}
