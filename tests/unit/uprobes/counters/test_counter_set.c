// SPDX-License-Identifier: BSD-2-Clause
/* The counters of a capture as text: what the worker says of them is as untrusted as the names that it was
 * given. */
#include "tests/unit/check.h"
#include "uprobes/counters/counter_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct counter_set set;

static void test_round(void)
{
	static const char text[] = "counter\tpage-faults\t\n"
				   "counter\tcycles\tthis machine has no such counter\n"
				   "counter\tPAPI_L1_TCM\t\n"
				   "event\t0\t0\t1\t0x2\t0x0\t0x0\t6\n"
				   "event\t2\t0\t4\t0xff43\t0x1\t0x2\t2\n"
				   "event\t2\t1\t3\t0x10001\t0x0\t0x0\t1\n";
	char *again = NULL;
	size_t size;
	FILE *f;

	CHECK(counter_set__read(text, &set) == 0 && set.counter_count == 3 && set.event_count == 3,
	      "three counters, of one two events");
	CHECK(!strcmp(set.counters[1].absent, "this machine has no such counter") &&
		      set.events[1].config == 0xff43 && set.events[1].config1 == 1 &&
		      set.events[1].config2 == 2 && set.events[2].term.minus == 1 &&
		      set.events[2].exclude_user && set.events[1].exclude_kernel &&
		      set.events[0].exclude_hypervisor,
	      "with all that belongs to them");
	f = open_memstream(&again, &size);
	CHECK(f && counter_set__write(&set, f) == 0 && fclose(f) == 0 && !strcmp(again, text),
	      "written again it is the same");
	free(again);
	counter_set__drop_events(&set, 0);
	CHECK(set.event_count == 2 && set.events[0].term.counter == 2, "a counter's events can be dropped");
}

static void test_refused(void)
{
	static const struct {
		const char *what, *text;
	} cases[] = {
		{"noise", "xyz"},
		{"a counter without a reason", "counter\ta\n"},
		{"a counter without a name", "counter\t\t\n"},
		{"one thing too many", "counter\ta\t\tb\n"},
		{"a name with a control character", "counter\ta\033[2J\t\n"},
		{"a long name", "counter\taaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				"aaaaaaaaaaaaaaa\t\n"},
		{"nine counters",
		 "counter\ta\t\ncounter\tb\t\ncounter\tc\t\ncounter\td\t\ncounter\te\t\ncounter\tf\t\n"
		 "counter\tg\t\ncounter\th\t\ncounter\ti\t\n"},
		{"an event of no counter", "counter\ta\t\nevent\t1\t0\t1\t0x2\t0x0\t0x0\t0\n"},
		{"an event of an absent counter", "counter\ta\tno\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t0\n"},
		{"a tracepoint", "counter\ta\t\nevent\t0\t0\t2\t0x2\t0x0\t0x0\t0\n"},
		{"a breakpoint", "counter\ta\t\nevent\t0\t0\t5\t0x2\t0x0\t0x0\t0\n"},
		{"a PMU that is none", "counter\ta\t\nevent\t0\t0\t4000000000\t0x2\t0x0\t0x0\t0\n"},
		{"a number cut short", "counter\ta\t\nevent\t0\t0\t1\t0x2\t0x0\n"},
		{"more after the number", "counter\ta\t\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t0 1\n"},
		{"events out of order", "counter\ta\t\ncounter\tb\t\nevent\t1\t0\t1\t0x2\t0x0\t0x0\t0\n"
					"event\t0\t0\t1\t0x2\t0x0\t0x0\t0\n"},
		{"unknown bits", "counter\ta\t\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t8\n"},
		{"nine events",
		 "counter\ta\t\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t0\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t0\n"
		 "event\t0\t0\t1\t0x2\t0x0\t0x0\t0\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t0\n"
		 "event\t0\t0\t1\t0x2\t0x0\t0x0\t0\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t0\n"
		 "event\t0\t0\t1\t0x2\t0x0\t0x0\t0\nevent\t0\t0\t1\t0x2\t0x0\t0x0\t0\n"
		 "event\t0\t0\t1\t0x2\t0x0\t0x0\t0\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		CHECK(counter_set__read(cases[i].text, &set) == -EBADMSG, "refused: %s", cases[i].what);
	CHECK(counter_set__read("", &set) == 0 && set.counter_count == 0, "nothing is no counter");
}

/* What the kernel counts of each thread by itself needs no perf event, but for one mode of the processor
 * alone. */
static void test_kept(void)
{
	struct counter_fds *fds = NULL;

	CHECK(counter_set__read("counter\tpage-faults\t\ncounter\tcycles:u\t\ncounter\ttask-clock\t\n"
				"counter\tcpu-migrations\t\n"
				"event\t0\t0\t1\t0x2\t0x0\t0x0\t0\nevent\t1\t0\t1\t0x5\t0x0\t0x0\t6\n"
				"event\t2\t0\t1\t0x1\t0x0\t0x0\t4\nevent\t3\t0\t1\t0x4\t0x0\t0x0\t0\n",
				&set) == 0 &&
		      set.event_count == 4 && set.perf_count == 1,
	      "of four events one is a perf event");
	CHECK(set.events[0].term.source == RING_COUNTER_PERF && set.events[0].term.counter == 1 &&
		      set.events[1].term.source == RING_COUNTER_FAULTS && set.events[1].term.counter == 0 &&
		      set.events[2].term.source == RING_COUNTER_CLOCK && set.events[2].term.counter == 2 &&
		      set.events[3].term.source == RING_COUNTER_MIGRATIONS,
	      "which comes first");
	counter_set__drop_events(&set, 1);
	CHECK(set.event_count == 3 && set.perf_count == 0, "without it there is none");
	CHECK(counter_fds__open(&set, 1, &fds) == 0 && fds && set.event_count == 3 &&
		      counter_fds__share(fds, 0) == 1,
	      "the others are always to be had, and all of the time");
	counter_fds__free(fds);
}

/* What a processor does not have is absent, the rest is there and comes first. */
static void test_open(void)
{
	struct counter_fds *fds = NULL;

	CHECK(counter_set__read("counter\tnone\t\ncounter\tpage-faults:u\t\n"
				"event\t0\t0\t1\t0xffff\t0x0\t0x0\t0\nevent\t1\t0\t1\t0x2\t0x0\t0x0\t6\n",
				&set) == 0,
	      "a software event that no kernel has, and one that each has");
	CHECK(counter_fds__open(&set, 1, &fds) == 0, "are opened");
	if (!fds)
		return;
	if (!set.event_count) {
		printf("skip - page faults on CPU 0: %s\n", set.counters[1].absent);
	} else {
		CHECK(!strcmp(set.counters[0].name, "page-faults:u") && set.event_count == 1 &&
			      set.events[0].term.counter == 0 && counter_fds__get(fds, 0, 0) >= 0 &&
			      counter_fds__share(fds, 0) == 1,
		      "the one that can be had is counted, first, all of the time");
		CHECK(!strcmp(set.counters[1].name, "none") &&
			      !strcmp(set.counters[1].absent, "this machine has no such counter"),
		      "the other is absent: %s", set.counters[1].absent);
	}
	counter_fds__free(fds);
}

int main(void)
{
	test_round();
	test_refused();
	test_kept();
	test_open();
	CHECK_DONE();
}
