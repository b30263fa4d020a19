// SPDX-License-Identifier: BSD-2-Clause
/* Serial code: which samples are in it, to whom they belong, and between which regions it is. */
#include "analysis/include/grain_account.h"
#include "tests/unit/graph_text.h"

#include <string.h>

#define HEAD                                                                                                 \
	GRAPH_HEAD "@source 4 file=b.c line=40 func=main kind=parallel\n"                                    \
		   "@sampling hz=49 clock=cycles\n"                                                          \
		   "@address 0x10 func=slow file=s.c line=5\n"                                               \
		   "@address 0x11 func=slow file=s.c line=7\n"                                               \
		   "@address 0x20 func=other file=o.c line=9\n"                                              \
		   "@address 0x30 func=memcpy file=m.S line=3 module=libc.so.6 system=1\n"                   \
		   "@address 0x40 func=body file=a.c line=11\n"                                              \
		   "@address 0x50 func=wait module=libgomp.so.1 system=1\n"

static const char program[] = HEAD "0 1 0 thread-begin\n"
				   "50 1 0 sample ip=0x20 stack=0x20\n"
				   "100 1 0 region-begin region=1 src=1 threads=2\n"
				   "100 1 0 member-begin region=1 num=0\n"
				   "100 2 1 member-begin region=1 num=1\n"
				   "150 1 0 sample ip=0x40 stack=0x40\n"
				   "150 2 1 sample ip=0x40 stack=0x40\n"
				   "200 1 0 member-end region=1 num=0\n"
				   "200 2 1 member-end region=1 num=1\n"
				   "200 1 0 region-end region=1\n"
				   /* The worker waits for the next region. That is no serial code. */
				   "210 2 1 sample ip=0x50 stack=0x50\n"
				   "300 1 0 sample ip=0x10 stack=0x10,0x20\n"
				   "400 1 0 sample ip=0x11 stack=0x11,0x20\n"
				   "500 1 0 sample ip=0x30 stack=0x30,0x11,0x20\n"
				   /* A region of one member is serial code. */
				   "600 1 0 region-begin region=2 src=1 threads=1\n"
				   "600 1 0 member-begin region=2 num=0\n"
				   "610 1 0 sample ip=0x20 stack=0x20\n"
				   "620 1 0 member-end region=2 num=0\n"
				   "620 1 0 region-end region=2\n"
				   "1000 1 0 region-begin region=3 src=4 threads=2\n"
				   "1000 1 0 member-begin region=3 num=0\n"
				   "1000 2 1 member-begin region=3 num=1\n"
				   "1100 1 0 member-end region=3 num=0\n"
				   "1100 2 1 member-end region=3 num=1\n"
				   "1100 1 0 region-end region=3\n"
				   "1200 1 0 thread-end\n";

static bool is_function(const struct grain_serial *serial, size_t i, const char *name, const char *file,
			uint32_t line, uint64_t samples)
{
	const struct grain_serial_function *f = &serial->functions[i];

	return i < serial->function_count && !strcmp(f->function, name) && !strcmp(f->file, file) &&
	       f->line == line && f->samples == samples;
}

static void test_program(void)
{
	struct grain_graph *g = graph_of_text("serial code", program);
	const struct grain_serial *serial = g ? grain_graph__serial(g) : NULL;

	if (!g)
		return;
	CHECK(serial->samples == 5 && serial->ns == 100 + 800 + 100, "samples of those who work alone count");
	CHECK(serial->function_count == 2 && is_function(serial, 0, "slow", "s.c", 7, 3),
	      "the hottest function is first, with its hottest line and what it called");
	CHECK(is_function(serial, 1, "other", "o.c", 9, 2), "the other one follows");
	CHECK(serial->gap_count == 3 && serial->gaps[0].ns == 800 && serial->gaps[0].times == 1 &&
		      serial->gaps[0].before != GRAIN_NONE && serial->gaps[0].after != GRAIN_NONE &&
		      serial->gaps[0].before != serial->gaps[0].after,
	      "the longest gap is between two regions");
	CHECK(serial->gaps[0].samples == 4 && serial->gaps[0].function == 0, "with its samples");
	CHECK(serial->gaps[1].ns == 100 && serial->gaps[2].ns == 100 &&
		      (serial->gaps[1].before == GRAIN_NONE) != (serial->gaps[2].before == GRAIN_NONE),
	      "the begin and the end are gaps");
	grain_graph__free(g);
}

static void test_without_samples(void)
{
	struct grain_graph *g = graph_of_text("no samples", GRAPH_HEAD "0 1 0 thread-begin\n"
								       "9 1 0 thread-end\n");

	if (g)
		CHECK(!grain_graph__serial(g)->samples && !grain_graph__serial(g)->function_count,
		      "without samples no function is named");
	grain_graph__free(g);
}

/* More pairs of regions than are told apart: their samples still count. */
static void test_many_pairs(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct grain_graph *g;

	fputs(GRAPH_HEAD "@address 0x10 func=slow file=s.c line=5\n", f);
	for (unsigned i = 0; i < 5000; i++)
		fprintf(f, "@source %u file=r.c line=%u func=main kind=parallel\n", i + 10, i + 1);
	for (unsigned i = 0; i < 5000; i++)
		fprintf(f,
			"%u 1 0 sample ip=0x10 stack=0x10\n"
			"%u 1 0 region-begin region=%u src=%u threads=2\n"
			"%u 1 0 member-begin region=%u num=0\n"
			"%u 2 1 member-begin region=%u num=1\n"
			"%u 2 1 member-end region=%u num=1\n"
			"%u 1 0 member-end region=%u num=0\n"
			"%u 1 0 region-end region=%u\n",
			10 * i, 10 * i + 5, i + 1, i + 10, 10 * i + 5, i + 1, 10 * i + 5, i + 1, 10 * i + 6,
			i + 1, 10 * i + 6, i + 1, 10 * i + 6, i + 1);
	fclose(f);
	g = graph_of_text("many pairs", text);
	if (g)
		CHECK(grain_graph__serial(g)->samples >= 4999 && grain_graph__serial(g)->gap_count <= 4096,
		      "pairs of regions are bounded, samples are not");
	grain_graph__free(g);
	free(text);
}

int main(void)
{
	test_program();
	test_without_samples();
	test_many_pairs();
	CHECK_DONE();
}
