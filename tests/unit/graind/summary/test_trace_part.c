// SPDX-License-Identifier: BSD-2-Clause
/* Parts of a trace that is being written: what is in them, that they are traces, that they stay small. */
#include "daemon/graind/summary/trace_part.h"
#include "daemon/common/trace/trace_writer.h"
#include "tests/unit/check.h"
#include "tests/unit/word_trace.h"

#include "analysis/include/grain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#define CPUS 8u

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
static int part_of(int trace, int later, uint64_t *from, struct seen *out)
{
	const struct grain_load_opts opts = {.keep_going = true};
	struct grain_graph *graph = NULL;
	struct grain_error err = {.text = ""};
	struct stat st;
	int fd, error = trace_part__make(trace, later, CPUS, from, &fd);

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

static int part(int trace, uint64_t *from, struct seen *out)
{
	return part_of(trace, -1, from, out);
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
	CHECK(seen.bytes > TRACE_PART_BYTES(CPUS) / 2 && seen.bytes < TRACE_PART_BYTES(CPUS) + 65536,
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

#define TICKS 100 /* of a task */

/* Tasks, with where the thread is before each `every`th; its clock, `now`, goes on. */
static void word_tasks(struct trace_writer *w, uint32_t stream, uint64_t *now, uint64_t from, uint64_t count,
		       uint64_t every)
{
	static uint64_t words[TRACE_WORDS_MAX];
	uint64_t begin = *now;
	uint32_t used = 0;

	for (uint64_t i = from; i < from + count; i++, *now += TICKS) {
		if (i % every == 0) {
			words[used++] = WORD(TRACE_WORD_HERE, 0, 0, 3);
			words[used++] = TRACE_WORD_HERE_MARK;
			words[used++] = *now;
			words[used++] = TRACE_WORD_KEY(stream + 1, i);
		}
		words[used++] = WORD(TRACE_TASK_CREATE, 9, 0, 10);
		words[used++] = WORD(TRACE_TASK_CREATE_END, 0, 0, 10);
		words[used++] = WORD(TRACE_TASK_BEGIN, 9, 1, 10);
		words[used++] = WORD(TRACE_TASK_END, 0, 0, TICKS - 30);
	}
	put(w, stream, begin, *now, words, used);
}

static void begin_words(struct trace_writer *w, uint64_t *now)
{
	const uint64_t first[] = {
		WORD(TRACE_WORD_JOIN, 0, 0, 0),
		UINT64_C(1) << 32 | 7,
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

	trace_writer__text(w, "@capture source=shim late=0");
	put(w, 0, 900, 1010, first, COUNT(first));
	*now = 1010;
}

static void test_words(int dirfd)
{
	struct trace_writer *w = create_at(dirfd, "trace");
	int trace = openat(dirfd, "trace", O_RDONLY);
	uint64_t from = 0, now;
	struct seen seen;

	begin_words(w, &now);
	word_tasks(w, 0, &now, 0, 20, 1000);
	CHECK(part(trace, &from, &seen) == 0 && seen.tasks == 20 && !seen.damaged, "words: %d tasks",
	      (int)seen.tasks);
	CHECK(part(trace, &from, &seen) == -EAGAIN, "nothing new");
	word_tasks(w, 0, &now, 20, 30, 40);
	CHECK(part(trace, &from, &seen) == 0 && seen.tasks == 10 && !seen.damaged,
	      "what came since, from where a thread says where it is: %d tasks", (int)seen.tasks);
	word_tasks(w, 0, &now, 50, 20, 1000);
	CHECK(part(trace, &from, &seen) == 0 && seen.tasks == 0, "it does not: %d tasks", (int)seen.tasks);
	trace_writer__abandon(w);
	close(trace);
}

static void test_many_words(int dirfd)
{
	struct trace_writer *w = create_at(dirfd, "trace");
	int trace = openat(dirfd, "trace", O_RDONLY);
	uint64_t from = 0, now, all = 10 * TRACE_PART_WORDS(CPUS) / 40000 * 10000;
	struct seen seen;

	begin_words(w, &now);
	for (uint64_t i = 0; i < all; i += 10000)
		word_tasks(w, 0, &now, i, 10000, 500);
	CHECK(part(trace, &from, &seen) == 0 && seen.tasks > TRACE_PART_WORDS(CPUS) / 4 / 2 &&
		      seen.tasks <= TRACE_PART_WORDS(CPUS) / 4 && !seen.damaged,
	      "of many words the latest: %d tasks", (int)seen.tasks);
	trace_writer__abandon(w);
	close(trace);
}

/* Cut anywhere, also within where the thread says where it is: what follows that is there. */
static void test_cut_words(int dirfd)
{
	const uint64_t here[] = {WORD(TRACE_WORD_HERE, 0, 0, 3), TRACE_WORD_HERE_MARK, 0,
				 TRACE_WORD_KEY(1, 20)};
	struct trace_writer *w = create_at(dirfd, "trace");
	int trace = openat(dirfd, "trace", O_RDONLY);
	uint64_t from, now;
	struct seen seen;
	struct stat st;

	begin_words(w, &now);
	word_tasks(w, 0, &now, 0, 20, 1000);
	for (uint32_t cut = 0; cut <= COUNT(here); cut++) {
		uint64_t words[COUNT(here)];

		memcpy(words, here, sizeof(words));
		words[2] = now;
		fstat(trace, &st);
		from = (uint64_t)st.st_size;
		/* The part begins with the end of a task, with which a reader cannot begin. */
		put(w, 0, now, now + TICKS, (const uint64_t[]){WORD(TRACE_TASK_END, 0, 0, TICKS)}, 1);
		now += TICKS;
		put(w, 0, now, now + 1, words, cut);
		put(w, 0, now + 1, now + 2, words + cut, (uint32_t)COUNT(here) - cut);
		word_tasks(w, 0, &now, 20, 10, 1000);
		CHECK(part(trace, &from, &seen) == 0 && seen.tasks == 10 && !seen.damaged,
		      "cut after %u words: %d tasks", cut, (int)seen.tasks);
	}
	trace_writer__abandon(w);
	close(trace);
}

/* Events go to another file, which has no lines. */
static void test_later(int dirfd)
{
	struct trace_writer *w = create_at(dirfd, "trace"), *other = create_at(dirfd, "later");
	int trace = openat(dirfd, "trace", O_RDONLY), later = openat(dirfd, "later", O_RDONLY);
	uint64_t from = 0, now;
	struct seen seen;

	begin_words(w, &now);
	trace_writer__flush(w);
	CHECK(part_of(trace, later, &from, &seen) == -EAGAIN, "the later file has nothing yet");
	for (int i = 0; i < 3; i++)
		word_tasks(other, 0, &now, (uint64_t)i * 50, 50, 70);
	CHECK(part_of(trace, later, &from, &seen) == 0 && seen.tasks == 150 && !seen.damaged,
	      "of the later file: %d tasks", (int)seen.tasks);
	trace_writer__rotate(other, dirfd, "later2");
	close(later);
	unlinkat(dirfd, "later", 0);
	later = openat(dirfd, "later2", O_RDONLY);
	unlinkat(dirfd, "later2", 0);
	word_tasks(other, 0, &now, 150, 50, 170);
	CHECK(part_of(trace, later, &from, &seen) == 0 && seen.tasks == 30 && !seen.damaged,
	      "of the next one, from where a thread says where it is: %d tasks", (int)seen.tasks);
	CHECK(part_of(trace, trace, &from, &seen) == 0 && seen.tasks == 0, "of one that has none");
	trace_writer__abandon(w);
	trace_writer__abandon(other);
	close(later);
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
	test_many_words(dirfd);
	test_cut_words(dirfd);
	test_later(dirfd);
	unlinkat(dirfd, "trace", 0);
	rmdir(directory);
	close(dirfd);
	CHECK_DONE();
}
