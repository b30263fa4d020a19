// SPDX-License-Identifier: BSD-2-Clause
/* Begins that name the data of their task, for a runtime in which only the program's functions are observed.
 */
#include "analysis/resolve/task_blocks.h"
#include "tests/unit/resolve_case.h"

#include <stdlib.h>

#define CREATE(t, sp, block, body)                                                                           \
	E(t, 1, TASK_CREATE, sp, .key = block, .arg = TRACE_TASK_BODY_KNOWN, .extra = body),                 \
		E(t, 1, TASK_CREATE_END, sp + 8)
#define BEGIN(t, thread, sp, data, body)                                                                     \
	E(t, thread, TASK_BEGIN, sp, .key = data, .arg = TRACE_BEGIN_DATA, .site = body)

/* Region, members and ends as they are seen in the program's functions: member 0 says which team it is. */
static void test_in_program(void)
{
	static const struct trace_event events[] = {
		E(1, 1, REGION_BEGIN, 2000, .arg = 2 | TRACE_REGION_OUTERMOST, .key = 0xf0),
		E(2, 2, MEMBER_BEGIN, 9000, .key = 0x640, .arg = 1),
		E(3, 1, MEMBER_BEGIN, 1900, .key = 0x640, .arg = 0),
		CREATE(4, 1800, 0x10000, 0xf1),
		CREATE(5, 1800, 0x10140, 0xf2),
		BEGIN(6, 2, 8000, 0x10140 + 208, 0xf2),
		E(7, 2, TASK_END, 8000),
		BEGIN(8, 1, 1700, 0x10000 + 224, 0xf1),
		E(9, 1, TASK_END, 1700),
		E(10, 1, WAIT_BEGIN, 1892, .arg = TRACE_WAIT_REGION_END),
		E(10, 2, WAIT_BEGIN, 8992, .arg = TRACE_WAIT_REGION_END),
		E(11, 1, REGION_END, 2008),
	};
	struct event_stream *s =
		resolve("bodies in the program", NULL, events, sizeof(events) / sizeof(events[0]));

	whole(s, "bodies in the program");
	if (s)
		CHECK(s->task_count == 2 && s->region_count == 1 && s->info.threads == 2,
		      "two tasks, two members");
	event_stream__free(s);
}

/* What has no creation is no other's begin: another body, an address before all, one too far behind. */
static void test_without_creation(void)
{
	static const struct trace_event events[] = {
		OPEN,
		CREATE(2, 1800, 0x10000, 0xf1),
		BEGIN(3, 1, 1700, 0x10000 + 208, 0xf2),
		E(4, 1, TASK_END, 1700),
		BEGIN(5, 1, 1700, 0xfff0, 0xf1),
		E(6, 1, TASK_END, 1700),
		BEGIN(7, 1, 1700, 0x10000 + 70000, 0xf1),
		E(8, 1, TASK_END, 1700),
		CLOSE,
	};
	struct event_stream *s = resolve("no creation", NULL, events, sizeof(events) / sizeof(events[0]));

	if (s)
		CHECK(s->truth.unmatched_begins == 3 && s->truth.never_begun == 1, "are counted: %llu, %llu",
		      (unsigned long long)s->truth.unmatched_begins,
		      (unsigned long long)s->truth.never_begun);
	event_stream__free(s);
}

/* The recording began inside of a region whose end is not seen: the next one says that it is not in it. */
static void test_outermost(void)
{
	static const struct trace_event events[] = {
		E(1, 1, WAIT_BEGIN, 1900, .arg = TRACE_WAIT_BARRIER),
		E(2, 1, WAIT_END, 1908, .arg = TRACE_WAIT_BARRIER),
		E(3, 1, REGION_BEGIN, 2100, .arg = 1 | TRACE_REGION_OUTERMOST),
		E(4, 1, MEMBER_BEGIN, 2000, .key = 0x640, .arg = 0),
		E(5, 1, WAIT_BEGIN, 1992, .arg = TRACE_WAIT_REGION_END),
		E(6, 1, REGION_END, 2108),
	};
	struct event_stream *s = EXPECT("after an unknown region", events,
					"1 1 0 thread-begin\n"
					"1 1 0 member-begin region=none num=0\n"
					"1 1 0 wait-begin kind=barrier\n"
					"2 1 0 wait-end kind=barrier\n"
					"3 1 0 member-end region=none num=0\n"
					"3 1 0 region-begin region=0 threads=1\n"
					"4 1 0 member-begin region=0 num=0\n"
					"5 1 0 wait-begin kind=barrier-implicit\n"
					"6 1 0 wait-end kind=barrier-implicit\n"
					"6 1 0 member-end region=0 num=0\n"
					"6 1 0 region-end region=0\n"
					"6 1 0 thread-end\n");

	event_stream__free(s);
}

#define OBJECTS 400

/* Any number of objects, begun in any order, also where objects are reused; against a list searched from one
 * end. */
static void test_blocks(void)
{
	struct grain_load_opts opts = {0};
	struct task_blocks blocks = {0};
	uint64_t start[OBJECTS], body[OBJECTS], seed = 7;
	size_t wrong = 0, taken = 0;
	struct budget budget;

	budget__init(&budget, &opts);
	memset(start, 0, sizeof(start));
	for (int step = 0; step < 200000; step++) {
		uint64_t roll = seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t i = (roll >> 33) % OBJECTS;

		if (!start[i]) {
			start[i] = 0x700000 + i * 480 + (roll >> 20) % 3 * 16;
			body[i] = 0xb000 + (roll >> 50) % 4;
			wrong += task_blocks__add(&blocks, start[i], body[i], &budget) != 0;
		} else if (roll >> 60 < 2) {
			start[i] = 0; /* freed without having begun */
		} else {
			taken++;
			wrong += task_blocks__take(&blocks, start[i] + 208 + (roll >> 40) % 100, body[i]) !=
				 start[i];
			start[i] = 0;
		}
	}
	CHECK(wrong == 0 && taken > 10000, "%zu objects found by an address inside of them, %zu wrong", taken,
	      wrong);
	task_blocks__free(&blocks, &budget);
}

int main(void)
{
	int fd = mkstemp(trace_path);

	if (fd < 0)
		return 1;
	test_in_program();
	test_without_creation();
	test_outermost();
	test_blocks();
	unlink(trace_path);
	CHECK_DONE();
}
