// SPDX-License-Identifier: BSD-2-Clause
/* Parts of a trace that is being written: what is in them, that they are traces, that they stay small. */
#include "daemon/graind/trace_part.h"
#include "daemon/common/trace_writer.h"
#include "tests/unit/check.h"
#include "tests/unit/word_trace.h"

#include "analysis/grain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

static char directory[] = "/tmp/graind-unit-part.XXXXXX";

/* Tasks that the only thread of a team creates and runs; keys that do not compress well. */
static void tasks(struct trace_writer *w, uint64_t from, uint64_t count)
{
	for (uint64_t i = from; i < from + count; i++) {
		uint64_t key = i * UINT64_C(0x9e3779b97f4a7c15) | 1, t = 1000 + i * 1000;
		const struct trace_event events[] = {
			{.time_ns = t,
			 .key = key,
			 .site = 0x401000,
			 .frame = 900,
			 .tid = 7,
			 .kind = TRACE_TASK_CREATE},
			{.time_ns = t + 10, .frame = 950, .tid = 7, .kind = TRACE_TASK_CREATE_END},
			{.time_ns = t + 20,
			 .key = key,
			 .site = 0x402000,
			 .frame = 800,
			 .tid = 7,
			 .kind = TRACE_TASK_BEGIN},
			{.time_ns = t + 90, .frame = 800, .tid = 7, .kind = TRACE_TASK_END},
		};

		if (trace_writer__events(w, events, 4))
			exit(1);
	}
}

static struct trace_writer *begin(int dirfd)
{
	const struct trace_event events[] = {
		{.time_ns = 1, .site = 0x400500, .frame = 2000, .tid = 7, .kind = TRACE_REGION_BEGIN},
		{.time_ns = 2, .key = 77, .frame = 1900, .arg = 1, .tid = 7, .kind = TRACE_TEAM_START},
		{.time_ns = 3, .frame = 1908, .tid = 7, .kind = TRACE_TEAM_STARTED},
	};
	struct trace_writer *w = create_at(dirfd, "trace");

	trace_writer__text(w, "@process pid=7 exe=/opt/app");
	trace_writer__text(w, "@capture source=uprobes late=0 ns_per_event=900");
	if (trace_writer__events(w, events, 3) || trace_writer__flush(w))
		exit(1);
	return w;
}

struct seen {
	uint64_t tasks, bytes;
	bool damaged;
};

/* The next part as the analysis reads it; the error otherwise. */
static int part(int trace, uint64_t *from, struct seen *out)
{
	const struct grain_load_opts opts = {.keep_going = true};
	struct grain_graph *graph = NULL;
	struct grain_error err = {.text = ""};
	struct stat st;
	int fd, error = trace_part__make(trace, from, &fd);

	*out = (struct seen){0};
	if (error)
		return error;
	if (fstat(fd, &st) == 0)
		out->bytes = (uint64_t)st.st_size;
	error = grain_graph__load_fd(fd, "part", &opts, &graph, &err);
	if (error)
		printf("# %s\n", err.text);
	if (!error) {
		out->tasks = grain_graph__totals(graph)->tasks;
		out->damaged = grain_graph__truth(graph)->dropped > 0;
	}
	grain_graph__free(graph);
	close(fd);
	return error;
}

static void test_events(int dirfd)
{
	struct trace_writer *w = begin(dirfd);
	int trace = openat(dirfd, "trace", O_RDONLY);
	struct seen seen;
	uint64_t from = 0, all;

	tasks(w, 0, 100);
	CHECK(trace_writer__flush(w) == 0 && part(trace, &from, &seen) == 0 && seen.tasks == 100 &&
		      !seen.damaged,
	      "the first part has all: %d tasks", (int)seen.tasks);
	CHECK(part(trace, &from, &seen) == -EAGAIN, "nothing new");
	tasks(w, 100, 50);
	CHECK(part(trace, &from, &seen) == -EAGAIN, "nothing that is in the file");
	CHECK(trace_writer__flush(w) == 0 && part(trace, &from, &seen) == 0 && seen.tasks == 50 &&
		      !seen.damaged,
	      "the second one what came since: %d tasks", (int)seen.tasks);
	trace_writer__text(w, "@module start=0x1 end=0x2 offset=0x0 path=/x");
	CHECK(trace_writer__flush(w) == 0 && part(trace, &from, &seen) == -EAGAIN, "lines alone are no part");
	for (all = 150; all < 400000; all += 5000) {
		tasks(w, all, 5000);
		trace_writer__flush(w);
	}
	CHECK(part(trace, &from, &seen) == 0 && seen.tasks > 5000 && seen.tasks < all - 150 && !seen.damaged,
	      "of much the latest: %d tasks", (int)seen.tasks);
	CHECK(seen.bytes > TRACE_PART_BYTES / 2 && seen.bytes < TRACE_PART_BYTES + 65536,
	      "in no more room than a part has: %d bytes", (int)seen.bytes);
	CHECK(part(trace, &from, &seen) == -EAGAIN, "nothing new");
	trace_writer__finish(w, NULL);
	close(trace);
}

/* A chunk of which only a part is in the file. */
static void test_cut(int dirfd)
{
	struct trace_writer *w = begin(dirfd);
	int trace = openat(dirfd, "trace", O_RDWR);
	uint64_t from = 0;
	struct seen seen;
	struct stat st;

	tasks(w, 0, 100);
	trace_writer__flush(w);
	fstat(trace, &st);
	tasks(w, 100, 100);
	trace_writer__flush(w);
	trace_writer__abandon(w);
	CHECK(ftruncate(trace, st.st_size + 40) == 0 && part(trace, &from, &seen) == 0 && seen.tasks == 100 &&
		      from == (uint64_t)st.st_size,
	      "up to the last whole chunk");
	from = 0;
	CHECK(ftruncate(trace, 20) == 0 && part(trace, &from, &seen) == -EBADMSG, "no header, no trace");
	close(trace);
}

static void test_words(int dirfd)
{
	const uint64_t first[] = {
		WORD(TRACE_WORD_TIME, 0, 0, 0),
		1000,
		WORD(TRACE_REGION_BEGIN, 9, 0, 0),
		2,
		0,
		WORD(TRACE_TEAM_START, 0, 0, 5),
		77,
		1,
		WORD(TRACE_TEAM_STARTED, 0, 0, 5),
		0,
	};
	const uint64_t task[] = {
		WORD(TRACE_TASK_CREATE, 9, 0, 10),
		WORD(TRACE_TASK_CREATE_END, 0, 0, 10),
		WORD(TRACE_TASK_BEGIN, 9, 1, 10),
		WORD(TRACE_TASK_END, 0, 0, 70),
	};
	struct trace_writer *w = create_at(dirfd, "trace");
	int trace = openat(dirfd, "trace", O_RDONLY);
	uint64_t from = 0, now = 1010;
	struct seen seen;

	trace_writer__text(w, "@capture source=shim late=0");
	put(w, 0, 900, now, first, COUNT(first));
	for (int i = 0; i < 20; i++, now += 100)
		put(w, 0, now, now + 100, task, COUNT(task));
	CHECK(part(trace, &from, &seen) == 0 && seen.tasks == 20, "words: %d tasks", (int)seen.tasks);
	CHECK(part(trace, &from, &seen) == -EAGAIN, "nothing new");
	for (int i = 0; i < 20; i++, now += 100)
		put(w, 0, now, now + 100, task, COUNT(task));
	CHECK(part(trace, &from, &seen) == 0 && seen.tasks == 40,
	      "what came since, from the beginning: %d tasks", (int)seen.tasks);
	trace_writer__abandon(w);
	close(trace);
}

int main(void)
{
	int dirfd = mkdtemp(directory) ? open(directory, O_RDONLY | O_DIRECTORY) : -1;

	if (dirfd < 0)
		return 2;
	test_events(dirfd);
	test_cut(dirfd);
	test_words(dirfd);
	unlinkat(dirfd, "trace", 0);
	rmdir(directory);
	close(dirfd);
	CHECK_DONE();
}
