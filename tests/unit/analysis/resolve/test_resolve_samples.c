// SPDX-License-Identifier: BSD-2-Clause
/* Samples in a trace: their stacks, the grains that they were taken in, hot functions and lines, folded
 * stacks. */
#include "analysis/include/grain_samples.h"
#include "analysis/graph/graph.h"
#include "tests/unit/resolve_case.h"

#include <errno.h>

static const char *const lines[] = {
	"@counter 0 name=page-faults",
	"@sampling hz=99 clock=cpu-clock",
	"@address 0x10 func=hot file=a.c line=7 path=/src/a.c",
	"@address 0x14 func=hot file=b.h line=3 path=/src/b.h",
	"@address 0x20 func=body file=a.c line=20 path=/src/a.c",
	"@address 0x30 func=main file=a.c line=40 path=/src/a.c",
	"@address 0xffffffff00000005 func=\"clear;page\" module=[kernel]+0x5",
	"@address 0x40 func=\"\" module=libm.so.6+0x40 system=1",
	"@address 0x50 func=\"\" module=unknown+0x50",
	"@sampling lost=3",
	NULL,
};

#define SAMPLE(t, thread, n, a, b, c) E(t, thread, SAMPLE, b, .key = a, .extra = c, .arg = n)
#define MORE(t, thread, from, a, b, c) E(t, thread, SAMPLE_STACK, b, .key = a, .extra = c, .arg = from)

/* One task; a sample before the region, two in the task, one in its wait, one of another thread. */
static const struct trace_event events[] = {
	SAMPLE(1, 1, 1, 0x30, 0, 0),
	E(2, 1, REGION_BEGIN, 2000, .site = 0xa0),
	E(3, 1, TEAM_START, 1900, .key = 5, .arg = 1),
	E(5, 1, TEAM_STARTED, 1908),
	E(6, 1, TASK_CREATE, 1700, .key = 9, .site = 0xb0),
	E(8, 1, TASK_CREATE_END, 1700),
	E(10, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
	E(12, 1, TASK_BEGIN, 1500, .key = 9, .site = 0xc0),
	/* Pieces of two threads between one another; of five addresses, of which the last cannot be. */
	SAMPLE(20, 1, 5, 0x10, 0x20, 0x20),
	SAMPLE(20, 2, 1, 0x40, 0, 0),
	MORE(21, 1, 3, 0x30, 0x50, 0),
	/* Its second piece was lost. */
	SAMPLE(30, 1, 7, 0xffffffff00000005, 0x14, 0x20),
	MORE(31, 1, 6, 0x30, 0, 0),
	/* A reading is of the event after the sample. */
	E(39, 1, COUNTERS, 8, .arg = (uint32_t)TRACE_TASK_END << 16),
	SAMPLE(39, 1, 1, 0x10, 0, 0),
	E(40, 1, TASK_END, 1500),
	SAMPLE(50, 1, 2, 0x40, 0x20, 0),
	E(60, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
	E(62, 1, REGION_END, 2008),
};

static void test_stream(void)
{
	struct event_stream *s = resolve("samples", lines, events, sizeof(events) / sizeof(*events));
	char *log;

	if (!s)
		return;
	log = log_of(s, 1);
	CHECK(strstr(log, "20 1 0 sample ip=0x10 stack=0x10,0x20,0x20,0x30,0x50\n") != NULL,
	      "a stack in two pieces");
	CHECK(strstr(log, "20 2 0 sample ip=0x40\n") != NULL, "a sample of another thread between them");
	CHECK(strstr(log, "sample ip=0xffffffff00000005 stack=0xffffffff00000005,0x14,0x20\n") != NULL,
	      "of a stack without its middle the innermost part");
	CHECK(strstr(log, "40 1 0 task-end task=0 c0=8\n") != NULL, "a reading is not the sample's");
	CHECK(strstr(log, "@sampling hz=99 clock=cpu-clock\n") && strstr(log, "@sampling lost=3\n"),
	      "how it was sampled");
	free(log);
	CHECK(s->truth.events == 16, "pieces are no events (%llu)", (unsigned long long)s->truth.events);
	event_stream__free(s);
}

static char *folded_of(const struct grain_graph *graph)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int error = grain_graph__write_folded(graph, f);

	fclose(f);
	CHECK(error == 0, "folded stacks are written");
	return text;
}

/* "function self total" or "file:line self", one after the other. */
static char *hot_of(const struct grain_graph *graph, struct grain_hot_opts opts, uint64_t *samples)
{
	struct grain_hot *hot;
	char *text = NULL;
	size_t size, count;
	FILE *f = open_memstream(&text, &size);
	int error = grain_graph__hot(graph, &opts, &hot, &count, samples);

	for (size_t i = 0; i < count && !error; i++) {
		if (opts.lines)
			fprintf(f, "%s:%u %llu, ", hot[i].file, hot[i].line, (unsigned long long)hot[i].self);
		else
			fprintf(f, "%s(%s) %llu %llu, ", hot[i].function, hot[i].file,
				(unsigned long long)hot[i].self, (unsigned long long)hot[i].total);
	}
	fclose(f);
	free(hot);
	return text;
}

static void check_hot(const struct grain_graph *graph, struct grain_hot_opts opts, uint64_t samples,
		      const char *expected, const char *what)
{
	uint64_t of = 0;
	char *text = hot_of(graph, opts, &of);

	CHECK_STR(text, expected, "%s", what);
	CHECK(of == samples, "%s: of %llu samples", what, (unsigned long long)of);
	free(text);
}

static void test_graph(void)
{
	const struct grain_hot_opts all = {.profile = SIZE_MAX, .problem = -1},
				    task = {.profile = 0, .problem = -1};
	struct event_stream *s = resolve("samples", lines, events, sizeof(events) / sizeof(*events));
	struct grain_hot_opts opts = all;
	struct grain_sampling sampling;
	struct grain_graph *graph = NULL;
	struct grain_error err;
	char *folded;

	CHECK(s && grain_graph__build(s, NULL, &graph, &err) == 0, "a graph");
	if (!graph)
		return;
	grain_graph__sampling(graph, &sampling);
	CHECK(sampling.asked && sampling.hz == 99 && sampling.lost == 3 &&
		      !strcmp(sampling.clock, "cpu-clock"),
	      "how it was sampled");
	CHECK(sampling.samples == 6 && sampling.grains == 3 && sampling.members == 0 &&
		      sampling.runtime == 1 && sampling.outside == 2,
	      "where it was: %llu of %llu in grains, %llu in members, %llu in the runtime, %llu outside",
	      (unsigned long long)sampling.grains, (unsigned long long)sampling.samples,
	      (unsigned long long)sampling.members, (unsigned long long)sampling.runtime,
	      (unsigned long long)sampling.outside);
	check_hot(graph, all, 6,
		  "hot(a.c) 2 3, libm.so.6() 2 2, main(a.c) 1 2, clear;page([kernel]) 1 1, body(a.c) 0 3, ",
		  "functions of the program");
	check_hot(graph, task, 3, "hot(a.c) 2 3, clear;page([kernel]) 1 1, body(a.c) 0 2, main(a.c) 0 1, ",
		  "functions of the task");
	opts.lines = true;
	check_hot(graph, opts, 6, "a.c:7 2, a.c:20 1, b.h:3 1, libm.so.6:0 1, a.c:40 1, ",
		  "lines of the program");
	opts.profile = 0;
	check_hot(graph, opts, 3, "a.c:7 2, b.h:3 1, ", "lines of the task: the kernel's time is the line's");
	opts.profile = SIZE_MAX;
	opts.problem = GRAIN_PROBLEM_CACHE_MISS_RATIO;
	check_hot(graph, opts, 0, "", "of grains with a problem that none has");
	folded = folded_of(graph);
	CHECK_STR(folded,
		  "program;body;hot;clear:page 1\nprogram;body;libm.so.6 1\nprogram;hot 1\nprogram;libm.so.6 "
		  "1\n"
		  "program;main 1\nprogram;main;body;body;hot 1\n",
		  "folded stacks");
	free(folded);
	grain_graph__free(graph);
}

/* What a log may say of samples, and may not. */
static void test_log(void)
{
	static const struct {
		const char *what, *text;
		int expected;
	} cases[] = {
		{"an address alone", "1 1 0 sample ip=0x7\n", 0},
		{"a stack", "1 1 0 sample ip=0x7 stack=0x7,0x8\n", 0},
		{"a stack that is none", "1 1 0 sample ip=0x7 stack=0x7,,8\n", -EBADMSG},
		{"a stack of words", "1 1 0 sample ip=0x7 stack=main\n", -EBADMSG},
		{"no address", "1 1 0 sample\n", -EBADMSG},
		{"an address declared twice", "@address 0x7 func=a\n@address 0x7 func=b\n", -EBADMSG},
		{"an address without a number", "@address func=a\n", -EBADMSG},
		{"a rate that is none", "@sampling hz=often\n", -EBADMSG},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct grain_graph *graph = NULL;
		struct grain_error err = {""};
		FILE *f = fopen(trace_path, "w");
		int error;

		fprintf(f, "grain-log 1\n%s", cases[i].text);
		fclose(f);
		error = grain_graph__load(trace_path, NULL, &graph, &err);
		CHECK(error == cases[i].expected, "%s: %s", cases[i].what, error ? err.text : "read");
		grain_graph__free(graph);
	}
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_stream();
	test_graph();
	test_log();
	resolve_end();
	CHECK_DONE();
}
