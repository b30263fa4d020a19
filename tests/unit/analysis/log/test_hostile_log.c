/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event logs that break every rule: an error that names the line and what to
 * do, or with keep_going the damage counted and the rest analysed. Bounded time
 * and memory whatever the file says.
 */
#include "analysis/event/event.h"
#include "tests/unit/graph_text.h"
#include "tests/unit/hostile_file.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

static long rss_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static FILE *rewrite(void)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(1);
	return f;
}

static void put(const char *text, size_t bytes)
{
	FILE *f = rewrite();

	if (fwrite(text, 1, bytes, f) != bytes || fclose(f))
		exit(1);
}

#define TASKS                                                                                                \
	"1 1 0 create-begin task=1 src=2 flags=deferred\n2 1 0 create-end task=1\n"                          \
	"3 1 0 create-begin task=2 src=2 flags=deferred\n4 1 0 create-end task=2\n"                          \
	"5 1 0 wait-begin kind=taskwait\n6 1 0 task-begin task=1\n7 1 0 task-end task=1\n"                   \
	"8 1 0 task-begin task=2\n9 1 0 task-end task=2\n10 1 0 wait-end kind=taskwait\n"
/* In GRAPH_HEAD and TASKS. */
#define HEAD_LINES 5
#define TASK_LINES 10

/*
 * What is wrong stands after the sound tasks, `line` lines further on (its
 * first line is 1), and is said with `what`. Those that are kept: 2 tasks and
 * `more`.
 */
static const struct {
	const char *name, *lines;
	int line;
	const char *what;
	uint64_t dropped, more;
} rules[] = {
	{"an unknown task ends", "20 1 0 task-end task=77\n", 1, "not seen before", 1, 0},
	{"an unknown task is switched to", "20 1 0 task-switch task=77\n", 1, "not seen before", 1, 0},
	{"an unknown task has dependences", "20 1 0 depend task=77 addr=1 kind=in\n", 1, "not seen before", 1,
	 0},
	{"a task ends that has ended", "20 1 0 task-end task=1\n", 1, "not the end of what is open", 1, 0},
	{"a task begins that has ended", "20 1 0 task-begin task=1\n", 1, "begun before", 1, 0},
	{"a task is created twice", "20 1 0 create-begin task=1\n", 1, "created before", 1, 0},
	{"a task begins before its creation",
	 "20 1 0 task-begin task=9\n21 1 0 task-end task=9\n22 1 0 create-begin task=9\n"
	 "23 1 0 create-end task=9\n",
	 1, "before it is created", 2, 1},
	{"a wait ends that has not begun", "20 1 0 wait-end kind=taskwait\n", 1, "not the end", 1, 0},
	{"a wait ends as another", "20 1 0 wait-begin kind=taskwait\n21 1 0 wait-end kind=barrier\n", 2,
	 "not the end", 1, 0},
	{"work inside a wait", "20 1 0 wait-begin kind=taskwait\n21 1 0 loop-begin loop=1\n", 2,
	 "inside a wait", 1, 0},
	{"a region ends that has not begun", "20 1 0 region-end region=5\n", 1, "has not begun", 1, 0},
	{"a region begins twice",
	 "20 1 0 region-begin region=5\n21 1 0 region-end region=5\n22 1 0 region-begin region=5\n", 3,
	 "begun before", 1, 0},
	{"a member begins twice",
	 "20 1 0 region-begin region=5\n21 1 0 member-begin region=5 num=0\n"
	 "22 2 0 member-begin region=5 num=0\n",
	 3, "begins a member that has begun", 1, 0},
	{"a member with an endless number", "20 1 0 member-begin region=none num=18446744073709551615\n", 1,
	 "no team can have", 1, 0},
	{"an endless team", "20 1 0 region-begin region=5 threads=9223372036854775808\n", 1,
	 "more threads than", 1, 0},
	{"a chunk of no loop", "20 1 0 chunk-begin loop=3 lower=0 upper=1\n", 1, "has not begun", 1, 0},
	{"a chunk outside of its loop",
	 "20 1 0 loop-begin loop=3\n21 1 0 loop-end loop=3\n22 1 0 chunk-begin loop=3 lower=0 upper=1\n", 3,
	 "not directly inside", 1, 0},
	{"bounds beyond 2^63", "20 1 0 loop-begin loop=3 lower=9223372036854775808\n", 1,
	 "lower=\"9223372036854775808\"", 1, 0},
	{"bounds below -2^63", "20 1 0 loop-begin loop=3 lower=-9223372036854775809\n", 1,
	 "lower=\"-9223372036854775809\"", 1, 0},
	{"unsigned bounds beyond 2^64", "20 1 0 loop-begin loop=3 unsigned=1 upper=18446744073709551616\n", 1,
	 "upper=\"18446744073709551616\"", 1, 0},
	{"a time of 2^63", "9223372036854775808 1 0 create-begin task=9\n", 1, "the time is not a number", 1,
	 0},
	{"a time of 2^64 - 1", "18446744073709551615 1 0 create-begin task=9\n", 1,
	 "the time is not a number", 1, 0},
	{"a time that cannot be added up", "9223372036854775807 1 0 create-begin task=9\n", 1,
	 "more than a year after", 1, 0},
	{"a negative time", "-1 1 0 create-begin task=9\n", 1, "the time is not a number", 1, 0},
	{"a thread of 2^32", "20 4294967296 0 create-begin task=9\n", 1, "the thread is not a number", 1, 0},
	{"a CPU of 2^16", "20 1 65536 create-begin task=9\n", 1, "the CPU is not a number", 1, 0},
	{"a task of 2^64", "20 1 0 create-begin task=18446744073709551616\n", 1, "task=", 1, 0},
	{"time goes back", "20 1 0 sample ip=1\n19 1 0 sample ip=1\n", 2, "goes back from 20 to 19", 1, 0},
	{"a source of 2^32 - 1", "20 1 0 create-begin task=9 src=4294967295\n", 1, "src=", 1, 0},
	{"a source that nobody declares", "20 1 0 create-begin task=9 src=8\n", 1, "source 8", 0, 1},
	{"dependences after the creation",
	 "20 1 0 create-begin task=8\n21 1 0 create-end task=8\n22 1 0 depend task=8 addr=1 kind=in\n", 3,
	 "not inside its task's creation", 1, 1},
	{"a cycle of dependences",
	 "20 1 0 create-begin task=8\n20 1 0 depend task=8 addr=1 kind=out\n21 1 0 create-end task=8\n"
	 "22 1 0 create-begin task=9\n22 1 0 depend task=9 addr=1 kind=out\n"
	 "22 1 0 depend task=9 addr=2 kind=out\n22 1 0 depend task=8 addr=2 kind=out\n",
	 7, "not inside its task's creation", 1, 2},
	{"a task is moved that never began",
	 "20 1 0 create-begin task=8\n21 1 0 create-end task=8\n"
	 "22 1 0 task-switch task=8\n",
	 3, "not between its begin and its end", 1, 1},
	{"a task is discarded that runs", "20 1 0 task-begin task=8\n21 1 0 task-discard task=8\n", 2,
	 "discards a task", 1, 1},
	{"a thread ends with something open",
	 "20 1 0 thread-begin\n21 1 0 task-begin task=8\n22 1 0 thread-end\n", 3, "something is open", 1, 1},
	{"an unknown event", "20 1 0 task-sleep task=1\n", 1, "unknown event \"task-sleep\"", 1, 0},
	{"an event without its key", "20 1 0 create-begin src=2\n", 1, "needs task=", 1, 0},
	{"a key without a value", "20 1 0 create-begin task\n", 1, "only key=value pairs", 1, 0},
	{"a quote that does not end", "20 1 0 lost count=1 cause=\"x\n", 1, "only key=value pairs", 1, 0},
	{"the end of a line of another system", "20 1 0 create-begin task=9\r\n", 1, "task=\"9?\"", 1, 0},
	{"a terminal's escapes", "20 1 0 create-begin task=\033[2J\n", 1, "task=\"?[2J\"", 1, 0},
	{"bytes that are not UTF-8", "20 1 0 create-begin task=\xff\xfe\n", 1, "task=\"\xff\xfe\"", 1, 0},
	{"half a line", "20 1 0 create-begin ta", 1, "ends inside this line", 1, 0},
};

static void test_rules(void)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		char text[4096], where[32];
		struct grain_graph *g;
		int rc;

		snprintf(text, sizeof text, GRAPH_HEAD TASKS "%s", rules[i].lines);
		snprintf(where, sizeof where, ": line %d: ", HEAD_LINES + TASK_LINES + rules[i].line);
		put(text, strlen(text));
		rc = load(false, &g);
		CHECK(rc == -EBADMSG && !g && strstr(err.text, where) && strstr(err.text, rules[i].what) &&
			      strstr(err.text, "--keep-going") && !strchr(err.text, '\n') &&
			      !strchr(err.text, '\033') && !strchr(err.text, '\r'),
		      "%s: refused with its line", rules[i].name);
		if (check_failures)
			printf("# %s\n", err.text);
		grain_graph__free(g);
		rc = load(true, &g);
		CHECK(rc == 0 && g && grain_graph__info(g)->damaged &&
			      grain_graph__truth(g)->dropped == rules[i].dropped &&
			      grain_graph__totals(g)->tasks == 2 + rules[i].more && is_sound(g) &&
			      context_at(g, "0.0").exec_ns == 1 && !context_at(g, "0.1").incomplete,
		      "%s: counted, the rest is kept", rules[i].name);
		if (g && check_failures)
			printf("# dropped %llu, tasks %llu\n",
			       (unsigned long long)grain_graph__truth(g)->dropped,
			       (unsigned long long)grain_graph__totals(g)->tasks);
		grain_graph__free(g);
	}
}

/* What is allowed although it looks odd. */
static void test_tolerated(void)
{
	static const struct {
		const char *name, *lines;
	} odd[] = {
		{"numbers near 2^64", "20 1 0 create-begin task=18446744073709551615\n"
				      "21 1 0 create-end task=18446744073709551615\n"
				      "22 1 0 loop-begin loop=18446744073709551615\n"
				      "22 1 0 loop-end loop=18446744073709551615\n"
				      "23 1 0 lost count=18446744073709551615\n24 1 0 lost count=5\n"},
		{"a key said twice counts as said last", "20 1 0 create-begin task=1 task=9 flags=undeferred "
							 "flags=deferred\n21 1 0 create-end task=9\n"},
		{"unknown keys, whatever is in them", "20 1 0 sample ip=1 \xff\x01=\xfe\x02 x=\"a b\"\n"},
		{"a name that is not UTF-8",
		 "@source 9 file=\xff\xfe.c line=1\n20 1 0 create-begin task=9 src=9\n"
		 "21 1 0 create-end task=9\n"},
		{"many spaces", "20  1  0   sample    ip=1  \n"},
	};

	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		char text[4096];
		struct grain_graph *g;
		int rc;

		snprintf(text, sizeof text, GRAPH_HEAD TASKS "%s", odd[i].lines);
		put(text, strlen(text));
		rc = load(false, &g);
		CHECK(rc == 0 && g && !grain_graph__info(g)->damaged && is_sound(g), "%s: %s", odd[i].name,
		      err.text);
		grain_graph__free(g);
	}
}

/* A file is cut anywhere. */
static void test_every_cut(void)
{
	static const char text[] = GRAPH_HEAD TASKS;
	size_t cuts = 0, refused = 0, kept = 0;

	for (size_t n = sizeof GRAPH_HEAD - 1; n < sizeof text - 1; n++) {
		bool at_line = text[n - 1] == '\n';
		struct grain_graph *g;
		int rc;

		put(text, n);
		cuts++;
		rc = load(false, &g);
		refused += at_line ? rc == 0 : rc == -EBADMSG && strstr(err.text, "ends inside this line");
		grain_graph__free(g);
		rc = load(true, &g);
		kept += rc == 0 && is_sound(g) && grain_graph__info(g)->damaged == !at_line &&
			grain_graph__truth(g)->dropped == !at_line;
		grain_graph__free(g);
	}
	CHECK(refused == cuts && cuts > 250, "cut at %zu of %zu places: refused inside of lines", refused,
	      cuts);
	CHECK(kept == cuts, "cut at %zu of %zu places: the rest is kept", kept, cuts);
}

/* Zeros in the file, as a crash of the machine leaves them. */
static void test_zeros(void)
{
	static const char text[] = GRAPH_HEAD TASKS "20 1 0 create-begin task=3\n21 1 0 create-end task=3\n";
	static const char name[] = "grain-log 1\n1 1 0 lost\0xyzxyzxyzxyzxyz count=1\n";
	static const char crlf[] = "grain-log 1\r\n1 1 0 thread-begin\r\n";
	size_t places = 0, right = 0;
	struct grain_graph *g;

	for (size_t at = sizeof GRAPH_HEAD - 1; at + 40 < sizeof text; at += 3) {
		char copy[sizeof text];
		bool refused, kept;

		memcpy(copy, text, sizeof text);
		memset(copy + at, 0, 40);
		put(copy, sizeof text - 1);
		places++;
		refused = load(false, &g) == -EBADMSG && strstr(err.text, ": line ") && !g;
		grain_graph__free(g);
		kept = load(true, &g) == 0 && grain_graph__truth(g)->dropped > 0 && is_sound(g);
		grain_graph__free(g);
		right += refused && kept;
		if (!refused || !kept)
			printf("# zeros at %zu: %s\n", at, err.text);
	}
	CHECK(right == places && places > 100, "zeros at %zu places", places);
	put(name, sizeof name - 1);
	CHECK(load(false, &g) == -EBADMSG && strstr(err.text, "a zero byte"), "a zero in an event's name: %s",
	      err.text);
	grain_graph__free(g);
	put(crlf, sizeof crlf - 1);
	CHECK(load(true, &g) == -EBADMSG && strstr(err.text, "line 1") && strstr(err.text, "CR LF"),
	      "CR LF throughout: %s", err.text);
	grain_graph__free(g);
}

/* Missing events concern what was on the thread then: not what was suspended, elsewhere, or over. */
static void test_losses(void)
{
	static const char text[] =
		"grain-log 1\n"
		"1 1 0 task-begin task=0\n1 1 0 task-end task=0\n"   /* over */
		"2 1 0 task-begin task=1\n3 1 0 task-begin task=2\n" /* both on the thread */
		"3 2 0 task-begin task=3\n"			     /* elsewhere */
		"4 3 0 task-begin task=4\n4 3 0 task-suspend task=4\n"
		"5 4 0 region-begin region=0\n5 4 0 member-begin region=0 num=0\n"
		"6 1 0 lost count=1\n"
		"7 1 0 task-begin task=5\n"  /* later */
		"8 5 0 task-switch task=2\n" /* moved when it was marked already */
		"9 2 0 task-switch task=5\n9 1 0 lost count=1\n9 5 0 task-begin task=6\n"
		"10 0 0 lost count=1\n11 1 0 task-begin task=7\n11 3 0 task-switch task=4\n";
	static const bool lost[] = {false, true, true, true, false, true, true, false};
	struct event_stream *s = NULL;
	size_t wrong = 0;

	put(text, sizeof text - 1);
	CHECK(event_stream__read(path, NULL, &s, &err) == 0, "losses: %s", err.text);
	if (!s)
		return;
	for (size_t i = 0; i < sizeof lost; i++)
		wrong += !(s->task_trouble[i] & EVENT_TROUBLE_LOST) == lost[i];
	CHECK(wrong == 0 && s->region_trouble[0] & EVENT_TROUBLE_LOST && s->truth.lost == 3,
	      "losses: what was on a thread is marked");
	event_stream__free(s);
	/* The same of one more thread instead of all. */
	{
		static const bool own[] = {false, true, true, false, false, false, false, false};
		char copy[sizeof text];

		memcpy(copy, text, sizeof text);
		memcpy(strstr(copy, "10 0 0"), "10 9 0", 6);
		put(copy, sizeof text - 1);
		s = NULL;
		if (event_stream__read(path, NULL, &s, &err))
			exit(1);
		for (size_t i = 0; i < sizeof own; i++)
			wrong += !(s->task_trouble[i] & EVENT_TROUBLE_LOST) == own[i];
		CHECK(wrong == 0 && !(s->region_trouble[0] & EVENT_TROUBLE_LOST),
		      "losses: nothing else is marked");
		event_stream__free(s);
	}
}

/* 100 MB in one line, in three kinds of lines. */
static void test_long_lines(void)
{
	static const char *const starts[] = {"20 1 0 sample ip=1 x=", "@machine host=", "# "};

	for (size_t i = 0; i < 3; i++) {
		char *block = malloc(1 << 20);
		FILE *f = rewrite();
		struct grain_graph *g;
		double before;
		long rss;
		int rc;

		memset(block, 'x', 1 << 20);
		fprintf(f, GRAPH_HEAD TASKS "%s", starts[i]);
		for (int n = 0; n < 100; n++)
			fwrite(block, 1, 1 << 20, f);
		fprintf(f, "\n21 1 0 create-begin task=3 src=2\n22 1 0 create-end task=3\n");
		fclose(f);
		free(block);
		before = now_s();
		rss = rss_kb();
		rc = load(false, &g);
		if (i < 2)
			CHECK(rc == -EBADMSG && strstr(err.text, ": line 16: longer than"),
			      "a line of 100 MB: %s", err.text);
		else
			CHECK(rc == 0 && grain_graph__totals(g)->tasks == 3, "a comment of 100 MB");
		grain_graph__free(g);
		rc = load(true, &g);
		CHECK(rc == 0 && grain_graph__totals(g)->tasks == 3 &&
			      grain_graph__truth(g)->dropped == (i < 2) && is_sound(g),
		      "a line of 100 MB is left out");
		CHECK(now_s() - before < 3, "in %.2f s", now_s() - before);
		CHECK(rss_kb() - rss < 32 << 10, "with %ld KB", rss_kb() - rss);
		grain_graph__free(g);
	}
}

/* Writes the same event `count` times, with numbers. */
static void repeat(FILE *f, const char *event, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fprintf(f, "%u 1 0 %s=%u\n", 10 + i, event, i);
}

/* Deep and wide files: no recursion, nothing quadratic. */
static void test_depth(void)
{
#ifdef __SANITIZE_ADDRESS__
	const unsigned many = 200000, tenth = many / 10;
#else
	const unsigned many = 1000000, tenth = many / 10;
#endif
	struct grain_graph *g;
	FILE *f = rewrite();

	fputs("grain-log 1\n", f);
	for (unsigned i = 0; i < many; i++)
		fprintf(f, "%u 1 0 region-begin region=%u threads=1\n%u 1 0 member-begin region=%u num=0\n",
			10 + i, i, 10 + i, i);
	fclose(f);
	g = load_large("deeply nested regions", false);
	if (g)
		CHECK(grain_graph__region_count(g) == many, "all of them are there");
	grain_graph__free(g);
	f = rewrite();
	fputs("grain-log 1\n", f);
	for (unsigned i = 0; i < many; i++)
		fprintf(f, "%u 1 0 create-begin task=%u flags=undeferred\n%u 1 0 task-begin task=%u\n",
			10 + i, i, 10 + i, i);
	fclose(f);
	g = load_large("deeply nested tasks", false);
	if (g)
		CHECK(grain_graph__totals(g)->tasks == many, "all of them are there");
	grain_graph__free(g);
	f = rewrite();
	fputs("grain-log 1\n", f);
	repeat(f, "task-begin task", tenth);
	for (unsigned i = 0; i < tenth; i++)
		fprintf(f, "%u %u 0 task-switch task=%u\n", many + i, 1 + i % 2, i);
	fclose(f);
	grain_graph__free(load_large("very many tasks taken from below others", false));
	f = rewrite();
	fputs("grain-log 1\n", f);
	for (unsigned i = 0; i < tenth; i++)
		fprintf(f, "%u %u 0 task-begin task=%u\n", i, 1 + i, i);
	for (unsigned i = 0; i < tenth; i++)
		fprintf(f, "%u 0 0 lost count=1\n%u 1 0 lost count=1\n", many + i, many + i);
	fclose(f);
	grain_graph__free(load_large("very many losses on as many threads", false));
	f = rewrite();
	fputs("grain-log 1\n", f);
	repeat(f, "loop-begin loop", tenth);
	fclose(f);
	grain_graph__free(load_large("very many nested loops", false));
	f = rewrite();
	fputs("grain-log 1\n", f);
	repeat(f, "loop-end loop", tenth);
	fclose(f);
	g = load_large("very many wrong lines", true);
	if (g)
		CHECK(grain_graph__truth(g)->dropped == tenth, "all of them are counted");
	grain_graph__free(g);
}

/* Small files that ask for much memory. */
static void test_bounds(void)
{
	const struct grain_load_opts opts = {.max_bytes = 24 << 20};
	struct grain_graph *g = NULL;
	FILE *f = rewrite();
	long rss = rss_kb();
	int rc;

	fputs("grain-log 1\n", f);
	for (unsigned i = 0; i < 4000; i++)
		fprintf(f, "%u 1 0 region-begin region=%u threads=65535\n%u 1 0 region-end region=%u\n", i, i,
			i, i);
	fclose(f);
	rc = load(false, &g);
	CHECK(rc == 0 && rss_kb() - rss < 400 << 10, "teams of which nothing was seen: %d, %ld KB", rc,
	      rss_kb() - rss);
	grain_graph__free(g);
	g = NULL;
	f = rewrite();
	fputs("grain-log 1\n", f);
	for (unsigned i = 0; i < 1000000; i++)
		fprintf(f, "%u 1 0 sample ip=1\n", 1000 + i);
	fclose(f);
	rc = grain_graph__load(path, &opts, &g, &err);
	CHECK(rc == -E2BIG && !g && strstr(err.text, "memory"), "the bound holds: %s", err.text);
	grain_graph__free(g);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	test_rules();
	test_tolerated();
	test_every_cut();
	test_zeros();
	test_losses();
	test_long_lines();
	test_bounds();
	test_depth();
	unlink(path);
	CHECK_DONE();
}
