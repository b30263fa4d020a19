// SPDX-License-Identifier: BSD-2-Clause
/*
 * Statistics record by record: over the ends of files, whatever thread's words come first, in memory that
 * follows what is open; and what a trace with such lines says of the whole run.
 */
#include "analysis/include/grain_fold.h"
#include "tests/unit/check.h"
#include "tests/unit/word_trace.h"

#include "analysis/include/grain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/graind-unit-fold.XXXXXX";
static int dirfd;

static int fold_file(struct trace_folder *folder, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC), error;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		exit(1);
	error = trace_folder__range(folder, fd, 0, (uint64_t)st.st_size);
	close(fd);
	return error;
}

/* The statistics of the files, the caller's; NULL: they cannot be folded. */
static char *statistics(const char *const *names, size_t count, uint64_t max_bytes)
{
	struct trace_folder *folder;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int error = 0;

	if (!out || trace_folder__new(max_bytes, &folder))
		exit(1);
	for (size_t i = 0; i < count && !error; i++)
		error = fold_file(folder, names[i]);
	if (!error)
		error = trace_folder__finish(folder, out);
	trace_folder__free(folder);
	fclose(out);
	if (error) {
		free(text);
		text = NULL;
	}
	return text;
}

static uint64_t value(const char *text, const char *line, const char *key)
{
	const char *at = text ? strstr(text, line) : NULL;

	at = at ? strstr(at, key) : NULL;
	return at ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

static const uint64_t creator[] = {
	WORD(TRACE_WORD_JOIN, 0, 0, 0),	   UINT64_C(3) << 32,
	WORD(TRACE_WORD_TIME, 0, 0, 0),	   1000,
	WORD(TRACE_TASK_CREATE, 9, 0, 0),  WORD(TRACE_TASK_CREATE_END, 0, 0, 30),
	WORD(TRACE_TASK_CREATE, 9, 0, 70), WORD(TRACE_TASK_CREATE_END, 0, 0, 20),
};
/* The second task, then the first; 150 and 250 ns. */
static const uint64_t executor[] = {
	WORD(TRACE_WORD_JOIN, 0, 0, 0),
	UINT64_C(4) << 32,
	WORD(TRACE_WORD_TIME, 0, 0, 0),
	1200,
	WORD(TRACE_TASK_BEGIN, 9, 0, 0),
	TRACE_WORD_KEY(3, 2),
	WORD(TRACE_TASK_END, 0, 0, 150),
	WORD(TRACE_TASK_BEGIN, 9, 0, 50),
	TRACE_WORD_KEY(3, 1),
	WORD(TRACE_TASK_END, 0, 0, 250),
};

static void check_both(const char *text, const char *how)
{
	CHECK(text && value(text, "@folded ", " tasks=") == 2 &&
		      value(text, "@folded ", " incomplete=") == 0 &&
		      strstr(text, " kind=task instances=2 leaves=2 undeferred=0 incomplete=0 "
				   "exec=2,400,150,250,0,85000 create=2,50,20,30,0,1300 wait=2,0,0,0,0,0 "
				   "buckets=8:2\n"),
	      "two tasks, %s", how);
	if (text && check_failures)
		printf("# %s", text);
}

static void over_files(void)
{
	const char *const two[] = {"a", "b"};
	char *text;

	for (uint32_t cut = 5; cut <= COUNT(executor); cut++) {
		struct trace_writer *a = create_at(dirfd, "a"), *b = create_at(dirfd, "b");

		put(a, 0, 1000, 2000, creator, COUNT(creator));
		put(a, 1, 1000, 2000, executor, cut);
		put(b, 1, 2000, 3000, executor + cut, (uint32_t)COUNT(executor) - cut);
		trace_writer__finish(a, NULL);
		trace_writer__finish(b, NULL);
		text = statistics(two, 2, 0);
		check_both(text, "cut into two files");
		free(text);
	}
}

static void any_order(void)
{
	const char *const two[] = {"a", "b"};
	struct trace_writer *a = create_at(dirfd, "a"), *b = create_at(dirfd, "b");
	char *text;

	put(a, 1, 1000, 2000, executor, COUNT(executor));
	put(b, 0, 1000, 2000, creator, COUNT(creator));
	trace_writer__finish(a, NULL);
	trace_writer__finish(b, NULL);
	text = statistics(two, 2, 0);
	check_both(text, "bodies read before their creations");
	free(text);
}

static void losses(void)
{
	const uint64_t words[] = {
		WORD(TRACE_WORD_JOIN, 0, 0, 0),
		UINT64_C(3) << 32,
		WORD(TRACE_WORD_TIME, 0, 0, 0),
		1000,
		WORD(TRACE_TASK_CREATE, 9, 0, 0),
		WORD(TRACE_TASK_CREATE_END, 0, 0, 30),
		WORD(TRACE_TASK_BEGIN, 9, 1, 10),
		WORD(TRACE_WORD_LOST, 0, 0, 0),
		7,
		1,
		WORD(TRACE_TASK_END, 0, 0, 100),
		WORD(TRACE_TASK_CREATE, 9, 0, 10),
		WORD(TRACE_TASK_CREATE_END, 0, 0, 10),
	};
	const char *const one[] = {"a"};
	struct trace_writer *a = create_at(dirfd, "a");
	char *text;

	put(a, 0, 1000, 2000, words, COUNT(words));
	trace_writer__finish(a, NULL);
	text = statistics(one, 1, 0);
	CHECK(value(text, "@folded ", " lost=") == 7 && value(text, "@folded ", " tasks=") == 2 &&
		      value(text, "@folded ", " incomplete=") == 2 &&
		      value(text, "@folded ", " never_begun=") == 1 &&
		      value(text, "@folded-row", " exec=") == 0,
	      "a task in which events are missing, and one that never began, are counted and not summed up");
	free(text);
}

/* `end`: each task is over before the next one is created. */
static void many_tasks(const char *name, uint32_t chunks, bool end)
{
	static uint64_t words[TRACE_WORDS_MAX];
	struct trace_writer *a = create_at(dirfd, name);
	uint64_t ns = 1000, per_chunk = TRACE_WORDS_MAX / 4;

	for (uint32_t c = 0; c < chunks; c++) {
		size_t n = 0;

		if (c == 0) {
			const uint64_t start[] = {WORD(TRACE_WORD_JOIN, 0, 0, 0), UINT64_C(3) << 32,
						  WORD(TRACE_WORD_TIME, 0, 0, 0), ns};

			memcpy(words, start, sizeof(start));
			n = COUNT(start);
		}
		for (uint64_t i = 0; i < per_chunk - 1; i++) {
			words[n++] = WORD(TRACE_TASK_CREATE, 9, 0, 10);
			words[n++] = WORD(TRACE_TASK_CREATE_END, 0, 0, 10);
			if (!end)
				continue;
			words[n++] = WORD(TRACE_TASK_BEGIN, 9, 1, 10);
			words[n++] = WORD(TRACE_TASK_END, 0, 0, 10);
		}
		put(a, 0, ns, ns + 40 * per_chunk, words, (uint32_t)n);
		ns += 40 * per_chunk;
	}
	trace_writer__finish(a, NULL);
}

static void bounded(void)
{
	const char *const one[] = {"a"};
	char *text;

	many_tasks("a", 64, true);
	text = statistics(one, 1, UINT64_C(24) << 20);
	CHECK(value(text, "@folded ", " tasks=") == 64 * (TRACE_WORDS_MAX / 4 - 1) &&
		      value(text, "@folded ", " most_open=") == 1,
	      "a million tasks in 24 MiB, one open at a time");
	free(text);
	many_tasks("a", 64, false);
	text = statistics(one, 1, UINT64_C(24) << 20);
	CHECK(!text, "a million open tasks do not fit there, which is an error and not more memory");
	free(text);
}

static int load(const char *const *lines, size_t count, struct grain_graph **graph)
{
	struct trace_writer *a = create_at(dirfd, "a");
	struct grain_error err = {.text = ""};
	char path[64];

	put(a, 0, 1000, 2000, creator, COUNT(creator));
	put(a, 1, 1000, 2000, executor, COUNT(executor));
	for (size_t i = 0; i < count; i++)
		trace_writer__text(a, lines[i]);
	trace_writer__finish(a, NULL);
	snprintf(path, sizeof(path), "%s/a", directory);
	return grain_graph__load(path, NULL, graph, &err);
}

static void whole_run(void)
{
	static const char *const lines[] = {
		"@folded events=1000 lost=5 tasks=900 chunks=7 regions=3 shares=2 incomplete=1 "
		"work_ns=123456 "
		"first_ns=1000 last_ns=501000 unknown=1",
		"@folded-row site=0x401000 ident=0x0 kind=task instances=900 leaves=890 undeferred=3 "
		"incomplete=1 "
		"exec=899,100000,1,5000,0,900000000 create=899,9000,10,20,0,99999 wait=899,0,0,0,0,0 "
		"buckets=4:890,13:9",
		"@folded-row site=0x402000 ident=0x0 kind=loop instances=7 leaves=7 undeferred=0 "
		"incomplete=0 "
		"exec=7,700,100,100,0,70000 create=7,70,10,10,0,700 wait=7,0,0,0,0,0 buckets=7:7",
	};
	struct grain_graph *graph = NULL;
	const struct grain_coverage *coverage;
	struct grain_profile row;

	CHECK(load(lines, COUNT(lines), &graph) == 0, "a trace with statistics is read");
	if (!graph)
		return;
	coverage = grain_graph__coverage(graph);
	CHECK(grain_graph__totals(graph)->tasks == 900 && grain_graph__totals(graph)->chunks == 7 &&
		      grain_graph__totals(graph)->wall_ns == 500000 &&
		      grain_graph__totals(graph)->work_ns == 123456 && grain_graph__truth(graph)->lost == 5 &&
		      grain_graph__truth(graph)->incomplete_grains == 1,
	      "totals are those of the whole run");
	CHECK(coverage->partial && coverage->grains == 2 && coverage->shares == 2 &&
		      coverage->run_regions == 3 && !coverage->why[0],
	      "what the graph has is said");
	CHECK(grain_graph__profile_count(graph) == 2,
	      "a construct without any events in the trace has its row");
	grain_graph__profile(graph, 0, &row);
	CHECK(row.instances == 900 && row.leaves == 890 && row.exec.sum == 100000 && row.exec.max == 5000 &&
		      row.graph_complete == 2 && row.exec_buckets[4] == 890 && row.exec_buckets[13] == 9,
	      "rows are those of the whole run");
	grain_graph__free(graph);
}

static void hostile(void)
{
	static const char *const bad[] = {
		"@folded events=-1",
		"@folded first_ns=2 last_ns=1",
		"@folded tasks=99999999999999999999999",
		"@folded-row site=0x1 instances=1",
		"@folded-row site=0x1 kind=tisk instances=1",
		"@folded-row site=0x1 kind=task instances=1 incomplete=2",
		"@folded-row site=0x1 kind=task instances=1 exec=2,1,1,1,0,1",
		"@folded-row site=0x1 kind=task instances=1 exec=1,1,1,1,0",
		"@folded-row site=0x1 kind=task instances=1 exec=1,1,1,1,0,1,1",
		"@folded-row site=0x1 kind=task instances=1 buckets=65:1",
		"@folded-row site=0x1 kind=task instances=1 buckets=1:,",
	};
	static const char *const huge[] = {
		"@folded-row site=0x1 kind=task instances=18446744073709551615 "
		"exec=18446744073709551615,18446744073709551615,9,3,18446744073709551615,"
		"18446744073709551615",
		"@folded-row site=0x1 kind=task instances=18446744073709551615 "
		"exec=18446744073709551615,18446744073709551615,9,3,18446744073709551615,"
		"18446744073709551615",
	};
	struct grain_graph *graph = NULL;
	size_t refused = 0;

	for (size_t i = 0; i < COUNT(bad); i++) {
		if (load(&bad[i], 1, &graph) == -EBADMSG)
			refused++;
		else
			printf("# taken: %s\n", bad[i]);
	}
	CHECK(refused == COUNT(bad), "lines that contradict themselves are refused");
	CHECK(load(huge, COUNT(huge), &graph) == 0, "numbers that do not add up any more are taken");
	if (graph) {
		struct grain_profile row;

		grain_graph__profile(graph, 0, &row);
		CHECK(row.instances == UINT64_MAX, "and stay the largest there is");
		grain_graph__free(graph);
	}
}

int main(void)
{
	if (!mkdtemp(directory) || (dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return 1;
	over_files();
	any_order();
	losses();
	bounded();
	whole_run();
	hostile();
	unlinkat(dirfd, "a", 0);
	unlinkat(dirfd, "b", 0);
	close(dirfd);
	rmdir(directory);
	CHECK_DONE();
}
