/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, escapes, tables and the text summary. */
#include <math.h>

#include "render/text/columns.h"
#include "render/include/render.h"
#include "tests/unit/check.h"
#include "tests/unit/graph_text.h"
#include "tests/unit/render_program.h"

static void test_numbers(void)
{
	CHECK_STR(format__time(0, "us").text, "0 ns", "no time");
	CHECK_STR(format__time(340, "us").text, "340 ns", "nanoseconds");
	CHECK_STR(format__time(999.6, "us").text, "1.00 us", "rounding up to the next unit");
	CHECK_STR(format__time(12345, "us").text, "12.3 us", "microseconds");
	CHECK_STR(format__time(1.27e6, "us").text, "1.27 ms", "milliseconds");
	CHECK_STR(format__time(99.96e9, "us").text, "100 s", "seconds");
	CHECK_STR(format__time(7500e9, "us").text, "2 h 05 min", "hours");
	CHECK_STR(format__time(NAN, "us").text, "-", "absent");
	CHECK_STR(format__count(1234567).text, "1,234,567", "thousands");
	CHECK_STR(format__count(999).text, "999", "no thousands");
	CHECK_STR(format__count_short(999499).text, "999k", "short count");
	CHECK_STR(format__count_short(999501).text, "1.0M", "short count rounding up");
	CHECK_STR(format__count_short(UINT64_MAX).text, "18E", "the largest count");
	CHECK_STR(format__percent(0.03).text, "<0.1", "a small share");
}

static void test_escapes(void)
{
	struct format_text text = {0};
	char out[64], tiny[5];

	format__add_xml(&text, "a<b>&\"'\x01\xff\xe2\x80\xaez\n");
	CHECK_STR(text.data, "a&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz&#10;",
		  "XML escapes");
	format__free(&text);
	CHECK_STR(format__clean(out, sizeof(out), "a\x1b[31mb\xc3\xa9\xc3", 99), "a?[31mb\xc3\xa9?",
		  "a terminal is not controlled");
	CHECK_STR(format__clean(out, sizeof(out), "/very/long/path/to/file.c:12", 14), "/ver..ile.c:12",
		  "long names are cut in the middle");
	CHECK(format__width(format__clean(out, sizeof(out),
					  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4)) == 4,
	      "widths count letters, not bytes");
	CHECK_STR(format__clean(tiny, sizeof(tiny), "ab\xc3\xa9\xc3\xa9", 99), "ab\xc3\xa9",
		  "a small buffer never gets half a letter");
}

static void test_columns(void)
{
	static const struct columns_column columns[] = {{.title = "NAME", .left = true, .cuttable = true},
							{.title = "n"}};
	struct columns table;
	char *data = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&data, &length);

	columns__init(&table, columns, 2);
	columns__add(&table, "abcdefghijklmnopqrstuvwxyz");
	columns__add(&table, "1");
	columns__add(&table, "x");
	columns__add(&table, "123");
	columns__print(&table, 16, out);
	fclose(out);
	CHECK_STR(data, "NAME           n\nabc..tuvwxyz   1\nx            123\n",
		  "a table is aligned and cut");
	free(data);
	columns__free(&table);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;
	char line[4096];

	while (*text) {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		if (format__width(line) > longest)
			longest = format__width(line);
		text += length + (text[length] == '\n');
	}
	return longest;
}

static char *summarize(const struct grain_graph *graph, const struct render_text_opts *opts, int *r)
{
	char *data = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&data, &length);

	*r = render__summary(graph, opts, out);
	fclose(out);
	return data;
}

/* Tasks that are far too small, all from one line. */
static void tiny_tasks(struct program *p, unsigned tasks)
{
	for (unsigned i = 0; i < tasks; i++) {
		p->time += 10;
		fprintf(p->log, "%llu %u 4 create-begin task=%u src=2 flags=undeferred\n", p->time, p->tid,
			p->tasks);
		program_say(p, 3000, "task-begin", "task", p->tasks);
		program_say(p, 50, "task-end", "task", p->tasks);
		program_say(p, 3000, "create-end", "task", p->tasks++);
	}
	program_say(p, 20, "wait-begin kind=taskwait", NULL, 0);
	program_say(p, 2000, "wait-end kind=taskwait", NULL, 0);
}

/* One region of 100 us with 6 events, each of which costs so many nanoseconds. */
static void test_trust(unsigned ns_per_event, const char *expected)
{
	char log[1024];
	struct grain_graph *graph;
	char *text;
	int r;

	snprintf(log, sizeof(log),
		 GRAPH_HEAD "@capture source=uprobes ns_per_event=%u\n"
			    "0 1 0 thread-begin\n0 1 0 region-begin region=1 src=1 threads=1\n"
			    "10 1 0 member-begin region=1 num=0\n99990 1 0 member-end region=1 num=0\n"
			    "100000 1 0 region-end region=1\n100000 1 0 thread-end\n",
		 ns_per_event);
	graph = graph_of_text("trust", log);
	if (!graph)
		return;
	text = summarize(graph, &(struct render_text_opts){0}, &r);
	CHECK(r == 0 && strstr(text, expected), "events of %u ns: %s", ns_per_event, expected);
	free(text);
	grain_graph__free(graph);
}

static void test_summary(void)
{
	static const unsigned widths[] = {60, 80, 132};
	struct grain_error err = {{0}};
	struct grain_graph *graph = program_make(tiny_tasks, 400, 1, 0, 1, &err);
	struct render_text_opts opts = {0};
	char *text, *end;
	int r, lines = 0;

	CHECK(graph != NULL, "a program to summarize %s", err.text);
	if (!graph)
		return;
	text = summarize(graph, &opts, &r);
	for (end = text; *end && lines < 5; end++)
		lines += *end == '\n';
	CHECK(r == 0 && lines == 5, "the summary is written");
	CHECK(strstr(text, "b.c:12") && strstr(text, "b.c:12") < end,
	      "the first five lines name the source line of the worst problem");
	CHECK(strstr(text, "  do ") && strstr(text, "  do ") < end, "and what to do");
	CHECK(!memmem(text, (size_t)(end - text), "..", 2), "in whole sentences");
	CHECK(strncmp(end, "  lost   99 % of thread time: handing out", 39) == 0,
	      "then what is lost, in one line");
	end = strchr(end, '\n') + 1;
	CHECK(strstr(text, "  trust  ") && strstr(text, "  trust  ") <= end, "whether to trust it follows");
	CHECK(strstr(text, "costs up to") && strstr(text, "costs up to") < end, "and the cost");
	CHECK(strstr(text, "absent: work deviation ("), "absent metrics have their reason");
	free(text);
	for (size_t i = 0; i < 3; i++) {
		opts.columns = widths[i];
		text = summarize(graph, &opts, &r);
		CHECK(r == 0 && longest_line(text) <= widths[i], "it fits %u columns (%zu)", widths[i],
		      longest_line(text));
		CHECK(!strchr(text, '\x1b'), "without colour unless asked");
		free(text);
	}
	opts = (struct render_text_opts){.colour = true, .job = 3};
	text = summarize(graph, &opts, &r);
	CHECK(r == 0 && strstr(text, "\x1b[1") && strstr(text, "job 3"), "with colour when asked");
	free(text);
	grain_graph__free(graph);
}

static void test_no_problem(void)
{
	struct grain_error err = {{0}};
	struct program p = {.seed = 1};
	struct grain_graph *graph = NULL;
	struct render_text_opts opts = {0};
	char *text;
	int r;

	if (program_start(&p, 1,
			  "/opt/\xc2\x9b"
			  "2Jprog",
			  "f") == 0) {
		program_region(&p, program_flat, 0);
		graph = program_finish(&p, 1, &err);
	}
	CHECK(graph != NULL, "a program without tasks %s", err.text);
	if (!graph)
		return;
	text = summarize(graph, &opts, &r);
	CHECK(r == 0 && strncmp(text, "No ", 3) == 0, "no problem is said first: %.80s", text);
	CHECK(strstr(text, "pid 7") && !strstr(text, "\xc2\x9b"),
	      "and the terminal is not controlled by the program's name");
	free(text);
	grain_graph__free(graph);
}

/* Runs of blanks as one. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || (from > text && from[-1] != ' '))
			*to++ = *from;
	*to = '\0';
}

/*
 * Member 0 is in the barrier from 1260 to 1620, member 1 from 1160 to 1630;
 * tasks run for 330 and 200 of it; a task can be begun from 1200 to 1270 and
 * from 1290 to 1410. Of the taskwait's 190 task 2 runs for 100, and until 1410
 * it could be begun.
 */
static void test_task_profile(void)
{
	static const char *const lines[] = {
		"\nONE TASK function exec inclusive creates waits manages switches at once\n",
		"\nfib.c:8 fib 123 ns 223 ns 23 ns 30 ns 27 ns 1 2\n",
		"\nimpl. barrier fib.c:20 - 2 300 ns 830 ns 64 20 16\n",
		"\ntaskwait unknown fib.c:8 1 90 ns 190 ns 53 5.3 42\n",
		"\n0.p0 fib.c:20 2 650 ns 3 1.14 2 64 20 16\n",
		"\n 2 2 300 ns 150 ns 100 ns 200 ns 150 ns 0 ns 0 ns ################\n",
	};
	static const unsigned widths[] = {80, 120};
	struct render_text_opts opts = {.columns = 80};
	struct grain_graph *graph = NULL;
	char *text;
	int r;

	CHECK(grain_graph__load("tests/data/fib_two_threads.log", NULL, &graph, NULL) == 0,
	      "a log to summarize");
	if (!graph)
		return;
	text = summarize(graph, &opts, &r);
	squeeze(text);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		CHECK(r == 0 && strstr(text, lines[i]), "the task profile has row %zu", i);
	free(text);
	for (size_t i = 0; i < 2; i++) {
		opts.columns = widths[i];
		text = summarize(graph, &opts, &r);
		CHECK(longest_line(text) <= widths[i], "the task profile fits %u columns (%zu)", widths[i],
		      longest_line(text));
		CHECK(!strstr(text, "O..") && !strstr(text, "..TED"), "and its titles are whole");
		free(text);
	}
	grain_graph__free(graph);
}

int main(void)
{
	test_numbers();
	test_escapes();
	test_columns();
	test_summary();
	test_trust(1000, "  trust  yes: 0 events lost");
	test_trust(4000, "  trust  graph yes, times no: 0 events lost");
	test_task_profile();
	test_no_problem();
	CHECK_DONE();
}
