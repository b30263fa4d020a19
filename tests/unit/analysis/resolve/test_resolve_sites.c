// SPDX-License-Identifier: BSD-2-Clause
/* Locks, and what the constructs of a trace are in the source. */
#include "tests/unit/resolve_case.h"

#include <inttypes.h>

/* A lock's wait has its own time; the source string of an event stands in for an unknown line. */
static void test_locks_and_idents(void)
{
	static const char *const lines[] = {"@source 1 file=a.c line=3 func=f",
					    "@site 0xb0 source=1",
					    "@ident 0xe0 text=\";src/dir/b.f90;sub_;17;5;;\"",
					    "@ident 0xe1 text=\";unknown;unknown;0;0;;\"",
					    "@ident 0xe2 text=nonsense",
					    NULL};
	static const struct trace_event events[] = {
		OPEN,
		E(10, 1, LOCK_WAIT, 1500, .key = 0x77, .extra = 5, .arg = TRACE_LOCK_CRITICAL, .site = 0xb0),
		E(11, 1, WAIT_BEGIN, 1500, .site = 0xc0, .extra = 0xe0, .arg = TRACE_WAIT_TASKWAIT),
		E(12, 1, WAIT_END, 1508, .arg = TRACE_WAIT_TASKWAIT),
		E(13, 1, WAIT_BEGIN, 1500, .site = 0xb0, .extra = 0xe0, .arg = TRACE_WAIT_TASKWAIT),
		E(14, 1, WAIT_END, 1508, .arg = TRACE_WAIT_TASKWAIT),
		E(15, 1, WAIT_BEGIN, 1500, .site = 0xc0, .extra = 0xe1, .arg = TRACE_WAIT_TASKWAIT),
		E(16, 1, WAIT_END, 1508, .arg = TRACE_WAIT_TASKWAIT),
		E(17, 1, LOOP_BEGIN, 1500, .key = 1, .extra = 2, .site = 0xc1, .arg = TRACE_LOOP_STATIC),
		E(17, 1, LOOP_PARAMS, 1500, .key = 1, .site = 0xe0),
		E(18, 1, LOOP_END, 1508),
		E(19, 1, SINGLE, 1500, .arg = 1, .site = 0xc2, .extra = 0xe2),
		E(20, 1, SINGLE_END, 1500),
		E(21, 1, WAIT_BEGIN, 1500, .extra = 0xe0, .arg = TRACE_WAIT_TASKWAIT),
		E(22, 1, WAIT_END, 1508, .arg = TRACE_WAIT_TASKWAIT),
		CLOSE,
	};
	struct event_stream *s =
		resolve("locks and idents", lines, events, sizeof(events) / sizeof(events[0]));
	char *text = s ? log_of(s, 1) : strdup("");

	CHECK(strstr(text, "\n5 1 0 lock-begin kind=critical addr=0x77 src=1\n10 1 0 lock-got kind=critical "
			   "addr=0x77\n"),
	      "the wait for a lock began before");
	CHECK(strstr(text, "file=b.f90 line=17 func=sub_ kind=taskwait path=src/dir/b.f90\n"),
	      "an ident's line");
	CHECK(strstr(text, "file=b.f90 line=17 func=sub_ kind=loop path=src/dir/b.f90\n"), "also for loops");
	CHECK(s && s->events[0].kind == EVENT_THREAD_BEGIN, "in order");
	if (s) {
		uint32_t src[4], n = 0;

		for (size_t i = 0; i < s->count; i++) {
			if (s->events[i].kind == EVENT_WAIT_BEGIN && n < 4)
				src[n++] = s->events[i].src;
		}
		CHECK(n == 4 && src[0] == src[3] && src[1] != src[0] && src[2] != src[0] &&
			      strcmp(s->sources[src[1]].file, "a.c") == 0 &&
			      strcmp(s->sources[src[2]].module, "0xc0") == 0,
		      "a known line comes first, a string without line tells nothing");
		CHECK(s->truth.events == sizeof(events) / sizeof(events[0]) && s->truth.unmatched_ends == 0,
		      "a lock's two events are one of the file: %" PRIu64, s->truth.events);
	}
	CHECK(!strstr(text, "module=0xc1"), "and nothing else of them");
	CHECK(strstr(text, "20 1 0 single-end won=1\n"), "a single's end that was seen");
	free(text);
	event_stream__free(s);
}

/* A region's call that is said to lie in another file than its body is where the body is. */
static void test_bodies_and_calls(void)
{
	static const char *const lines[] = {"@source 1 file=a.c line=30 func=main path=/src/a.c",
					    "@source 2 file=inline.h line=75 func=now path=/src/inline.h",
					    "@source 3 file=a.c line=40 func=main path=/src/a.c",
					    "@source 4 file=a.c line=41 func=main path=/src/a.c",
					    "@site 0x500 source=1",
					    "@site 0x31f source=2",
					    "@site 0x600 source=4",
					    "@site 0x41f source=3",
					    NULL};
	static const uint64_t body[] = {0x500, 0x600, 0x700}, call[] = {0x31f, 0x41f, 0x31f};
	static const uint32_t line[] = {30, 40, 75};

	for (size_t i = 0; i < sizeof(body) / sizeof(body[0]); i++) {
		const struct trace_event events[] = {
			E(1, 1, REGION_BEGIN, 2000, .key = body[i], .site = call[i], .arg = 1),
			E(2, 1, TEAM_START, 1900, .key = 77, .arg = 1),
			E(3, 1, TEAM_STARTED, 1908),
			E(5, 1, WAIT_BEGIN, 1850, .arg = TRACE_WAIT_REGION_END),
			E(6, 1, WAIT_END, 1858, .arg = TRACE_WAIT_REGION_END),
			E(7, 1, REGION_END, 2008),
		};
		struct event_stream *s =
			resolve("a call and its body", lines, events, sizeof(events) / sizeof(events[0]));
		uint32_t found = 0;

		for (size_t k = 0; s && k < s->count; k++)
			if (s->events[k].kind == EVENT_REGION_BEGIN && s->events[k].src != GRAIN_NONE)
				found = s->sources[s->events[k].src].line;
		CHECK(found == line[i], "body %zu: line %u", i, found);
		event_stream__free(s);
	}
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_locks_and_idents();
	test_bodies_and_calls();
	resolve_end();
	CHECK_DONE();
}
