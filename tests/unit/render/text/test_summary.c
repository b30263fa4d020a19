/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars, tables that lose columns, and what the text summary draws. */
#include <math.h>
#include <stdlib.h>

#include "render/text/bars.h"
#include "render/text/columns.h"
#include "render/include/render.h"
#include "tests/unit/graph_text.h"

#define FULL "\u2588"

static void test_bars(void)
{
	const double values[] = {0, 1, 4, 8, 0, 9, 0};
	char out[BARS_BYTES];

	bar__draw(out, 0.5, 8, false);
	CHECK_STR(out, "####", "half a bar");
	bar__draw(out, 0, 8, true);
	CHECK_STR(out, "", "nothing is nothing");
	bar__draw(out, NAN, 8, true);
	CHECK_STR(out, "", "nor is what is not known");
	bar__draw(out, 1e-9, 8, true);
	CHECK_STR(out, "\u258f", "next to nothing shows");
	bar__draw(out, 1e-9, 8, false);
	CHECK_STR(out, "#", "in ASCII, too");
	bar__draw(out, 0.3125, 8, true);
	CHECK_STR(out, FULL FULL "\u258c", "two and a half of eight");
	bar__draw(out, 7, 3, true);
	CHECK_STR(out, FULL FULL FULL, "no more than all");
	bar__draw(out, 1, SIZE_MAX, true);
	CHECK(format__width(out) == BARS_MOST, "no longer than there is room");
	bar__line(out, values, 7, 8, true);
	CHECK_STR(out, " \u2581\u2584\u2588 \u2588", "a line, without what is empty behind it");
	bar__line(out, values, 7, 8, false);
	CHECK_STR(out, " .-# #", "in ASCII");
	bar__line(out, values, 7, 0, true);
	CHECK(strspn(out, " ") == strlen(out), "a line of nothing");
}

static char *print(struct columns *table, unsigned width)
{
	char *data = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&data, &length);

	columns__print(table, width, out);
	fclose(out);
	return data;
}

static void test_columns(void)
{
	static const struct columns_column columns[] = {{.title = "NAME", .left = true, .cuttable = true},
							{.title = "first", .optional = 2},
							{.title = "second", .optional = 1},
							{.title = "bar", .bar = true}};
	struct columns table;
	char *text;

	columns__init(&table, columns, 4);
	columns__add(&table, "/a/long/name/of/a/file.c:12");
	columns__add(&table, "111");
	columns__add(&table, "2");
	columns__add_share(&table, 1);
	text = print(&table, 60);
	CHECK_STR(text,
		  "NAME                         first  second  bar\n"
		  "/a/long/name/of/a/file.c:12    111       2  ################\n",
		  "a bar takes what is left");
	free(text);
	text = print(&table, 40);
	CHECK_STR(text, "NAME               first second bar\n/a/lo..a/file.c:12   111      2 ########\n",
		  "names are cut before columns go");
	free(text);
	text = print(&table, 33);
	CHECK_STR(text, "NAME              second bar\n/a/lo../file.c:12      2 ########\n",
		  "the largest number goes first");
	free(text);
	text = print(&table, 17);
	CHECK_STR(text, "NAME     bar\n/a..c:12 ########\n", "in the end what has to");
	free(text);
	table.colour = true;
	text = print(&table, 17);
	CHECK_STR(text, "\033[1mNAME\033[0m     \033[1mbar\033[0m\n/a..c:12 \033[36m########\033[0m\n",
		  "colours take no columns");
	free(text);
	columns__free(&table);
}

static char *summarize(const struct grain_graph *graph, const struct render_text_opts *opts)
{
	char *data = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&data, &length);

	CHECK(render__summary(graph, opts, out) == 0, "a summary is written");
	fclose(out);
	return data;
}

/* The line of `text` that begins with `start`, and the one that is `down` below it, into `out`. */
static const char *line_below(const char *text, const char *start, unsigned down, char out[512])
{
	const char *at = strstr(text, start);

	for (; at && down; down--) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	snprintf(out, 512, "%.*s", at ? (int)strcspn(at, "\n") : 4, at ? at : "none");
	return out;
}

/*
 * PPOPP16 figure 3: 720 ns in 60 parts of 12 ns. Member 0 runs chunks from 130
 * to 230, 240 to 540 and 550 to 600, member 1 from 140 to 340 and 350 to 450.
 */
static void test_time(void)
{
	struct render_text_opts opts = {.columns = 80};
	struct grain_graph *graph = NULL;
	char line[512], *text;

	CHECK(grain_graph__load("tests/data/ppopp16_figure3_loop.log", NULL, &graph, NULL) == 0,
	      "a loop to summarize");
	if (!graph)
		return;
	text = summarize(graph, &opts);
	CHECK_STR(line_below(text, "\nPARALLELISM", 1, line),
		  "PARALLELISM: grains that run at a time, of 2 threads; mean 1.04", "750 ns in 720");
	line_below(text, "\nPARALLELISM", 2, line);
	CHECK(strspn(line, " ") == 2 + 10, "nothing runs before 130 ns (part 10): %zu", strspn(line, " "));
	CHECK(strlen(line) == 2 + 50, "nor from 600 ns (part 50) on: %zu", strlen(line));
	CHECK(strspn(line + 2 + 21, "#") == 7, "both run from 252 to 336 ns");
	CHECK(strspn(line + 2 + 38, "-+") == 7, "one from 456 to 540");
	CHECK(line_below(text, "\nPARALLELISM", 3, line) && strcmp(line + strlen(line) - 6, "720 ns") == 0 &&
		      strlen(line) == 2 + 60,
	      "the scale ends where the line would: %s", line);
	CHECK_STR(line_below(text, "\nTHREAD", 2, line),
		  "100          3  450 ns         62  ###################", "the busiest thread first");
	CHECK_STR(line_below(text, "\nTHREAD", 3, line), "101          2  300 ns         42  #############",
		  "then the other");
	CHECK_STR(line_below(text, "\nCHUNKS OF", 2, line),
		  "figure3.c:23         4-7       5  150 ns  50 ns  300 ns  #######################",
		  "chunks of four iterations");
	free(text);
	opts.unicode = true;
	text = summarize(graph, &opts);
	CHECK(strstr(text, FULL FULL FULL) && !strstr(text, "###"), "blocks where there is UTF-8");
	free(text);
	grain_graph__free(graph);
}

/* Iterations are not what the variable goes through: the step is two. Member 1 gets none. */
static void test_chunks(void)
{
	static const char log[] =
		GRAPH_HEAD "@source 4 file=a.c line=12 func=main kind=loop\n"
			   "0 100 0 region-begin region=1 src=1 threads=2\n"
			   "1 100 0 member-begin region=1 num=0\n"
			   "1 101 0 member-begin region=1 num=1\n"
			   "2 100 0 loop-begin loop=1 src=4 sched=guided lower=0 upper=18 step=2 chunk=1\n"
			   "10 100 0 chunk-begin loop=1 lower=0 upper=12\n"
			   "80 100 0 chunk-end loop=1\n"
			   "81 100 0 chunk-begin loop=1 lower=14 upper=16\n"
			   "101 100 0 chunk-end loop=1\n"
			   "102 100 0 chunk-begin loop=1 lower=18 upper=18\n"
			   "112 100 0 chunk-end loop=1\n"
			   "113 100 0 loop-end loop=1\n"
			   "114 100 0 wait-begin kind=barrier-implicit\n"
			   "114 101 0 wait-begin kind=barrier-implicit\n"
			   "120 100 0 wait-end kind=barrier-implicit\n"
			   "120 101 0 wait-end kind=barrier-implicit\n"
			   "121 100 0 member-end region=1 num=0\n"
			   "121 101 0 member-end region=1 num=1\n"
			   "130 100 0 region-end region=1\n";
	static const char *const expected[] = {
		"a.c:12              1       1  10 ns  10 ns  10 ns  ########",
		"                  2-3       1  20 ns  20 ns  20 ns  ########",
		"                  4-7       1  70 ns  70 ns  70 ns  ########",
	};
	struct grain_graph *graph = graph_of_text("a loop of step two", log);
	struct render_text_opts opts = {.columns = 72};
	char line[512], *text;

	if (!graph)
		return;
	text = summarize(graph, &opts);
	for (unsigned i = 0; i < 3; i++) {
		line_below(text, "\nCHUNKS OF", i + 2, line);
		CHECK(strncmp(line, expected[i], strlen(expected[i]) - 8) == 0 && strstr(line, " ###"),
		      "chunks of %u iterations and more: %s", 1u << i, line);
	}
	CHECK_STR(line_below(text, "\nTHREAD", 3, line), "101          0    0 ns        0.0",
		  "a thread without a grain is told");
	free(text);
	grain_graph__free(graph);
}

static size_t widest(const char *text, size_t *trailing)
{
	size_t most = 0;
	char line[4096];

	for (*trailing = 0; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		most = format__width(line) > most ? format__width(line) : most;
		*trailing += length && line[length - 1] == ' ';
	}
	return most;
}

/* Long names of C++ and hostile ones are cut in the middle; nothing is wrapped, nothing hangs over. */
/* What the kernel did not tell of the scheduler, and what was lost of that. */
static void test_switches(void)
{
	static const char log[] =
		GRAPH_HEAD "0 1 0 create-begin task=1 src=2 flags=deferred\n2 1 0 create-end task=1\n"
			   "10 1 0 wait-begin kind=taskwait\n20 1 0 task-begin task=1\n"
			   "30 1 0 off-cpu reason=preempted\n45 1 0 on-cpu\n50 1 0 on-cpu\n"
			   "60 1 0 lost count=1234 of=switches\n"
			   "100 1 0 task-end task=1\n110 1 0 wait-end kind=taskwait\n120 1 0 thread-end\n";
	struct render_text_opts opts = {.columns = 80};
	struct grain_graph *graph = graph_of_text("switches", log);
	char *text;

	if (!graph)
		return;
	text = summarize(graph, &opts);
	CHECK(strstr(text, "\n  1,234 records of switches were lost: "), "lost switches");
	CHECK(strstr(text, "\n  1 switch of the program's threads was not told "), "untold switches");
	CHECK(strstr(text, "1,234 events lost, 0 grains incomplete"), "no grain suffers from these");
	free(text);
	grain_graph__free(graph);
}

static void test_widths(void)
{
	static const char *const logs[] = {"tests/data/constructs_two_threads.log",
					   "tests/data/fib_two_threads.log",
					   "tests/data/ppopp16_figure3_loop.log"};
	static const char names[] = GRAPH_HEAD
		"@source 4 file=/a/very/long/path/to/some/very/long/file/name/that/nobody/types.cc "
		"line=123456 "
		"func=\"std::__1::vector<std::pair<int, std::map<long, "
		"char>>>::operator()(<lambda()>)\xe2\x80\xae\" kind=task\n"
		"0 100 0 region-begin region=1 src=4 threads=2\n1 100 0 member-begin region=1 num=0\n"
		"2 100 0 create-begin task=1 src=4 flags=deferred\n9 100 0 create-end task=1\n"
		"10 100 0 wait-begin kind=taskwait src=4\n11 100 0 task-begin task=1\n"
		"20 100 0 task-end task=1\n21 100 0 wait-end kind=taskwait\n"
		"22 100 0 wait-begin kind=barrier-implicit\n23 100 0 wait-end kind=barrier-implicit\n"
		"24 100 0 member-end region=1 num=0\n25 100 0 region-end region=1\n";
	struct grain_graph *graphs[4] = {NULL, NULL, NULL, graph_of_text("long names", names)};

	for (size_t i = 0; i < 3; i++)
		CHECK(grain_graph__load(logs[i], NULL, &graphs[i], NULL) == 0, "%s", logs[i]);
	for (size_t i = 0; i < 4; i++) {
		size_t over = 0, hanging = 0, escapes = 0, trailing;

		for (unsigned columns = 60; graphs[i] && columns <= 200; columns++) {
			struct render_text_opts opts = {.columns = columns, .unicode = columns % 2};
			char *text = NULL;
			size_t length = 0;
			FILE *out = open_memstream(&text, &length);

			render__summary(graphs[i], &opts, out);
			fclose(out);
			over += widest(text, &trailing) > columns;
			hanging += trailing;
			escapes += strchr(text, '\033') || strstr(text, "\xe2\x80\xae");
			free(text);
		}
		CHECK(!over && !hanging && !escapes,
		      "graph %zu fits 60 to 200 columns (%zu, %zu, %zu do not)", i, over, hanging, escapes);
		grain_graph__free(graphs[i]);
	}
}

int main(void)
{
	test_bars();
	test_columns();
	test_time();
	test_chunks();
	test_switches();
	test_widths();
	CHECK_DONE();
}
