// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words that a hostile process wrote take little in a file and much when they
 * are read: what the process that reads them takes stays within its bound, and
 * where that does not do one line says so.
 */
#include "analysis/include/grain.h"
#include "tests/unit/check.h"
#include "tests/unit/word_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define BOUND (UINT64_C(96) << 20)
/* Of pages that are larger than what is in them, and of the program itself. */
#define BEYOND (UINT64_C(24) << 20)

static char path[] = "/tmp/graind-unit-bound-XXXXXX";

/* One event after the other; `at` counts them. Returns its words. */
typedef uint32_t (*event_fn)(uint64_t at, uint64_t words[8]);

static uint32_t creations(uint64_t at, uint64_t words[8])
{
	words[0] = WORD(at & 1 ? TRACE_TASK_CREATE_END : TRACE_TASK_CREATE, 9, 0, 1);
	return 1;
}

static uint32_t tasks(uint64_t at, uint64_t words[8])
{
	static const uint64_t task[] = {
		WORD(TRACE_TASK_CREATE, 9, 0, 1),
		WORD(TRACE_TASK_CREATE_END, 0, 0, 1),
		WORD(TRACE_WAIT_BEGIN, 9, TRACE_WAIT_TASKWAIT, 1),
		WORD(TRACE_TASK_BEGIN, 9, 1, 1),
		WORD(TRACE_TASK_END, 0, 0, 1),
		WORD(TRACE_WAIT_END, 0, TRACE_WAIT_TASKWAIT, 1),
	};

	words[0] = task[at % COUNT(task)];
	return 1;
}

static uint32_t turns(uint64_t at, uint64_t words[8])
{
	words[0] = TRACE_WORD_TURN | 1 << 7 | UINT64_C(1) << 32;
	words[1] = at & UINT32_MAX;
	return 2;
}

static uint32_t loops(uint64_t at, uint64_t words[8])
{
	words[0] = WORD(TRACE_LOOP_BEGIN, 9, 0, 1);
	words[1] = TRACE_LOOP_DYNAMIC;
	words[2] = 0;
	words[3] = at;
	words[4] = WORD(TRACE_LOOP_PARAMS, 0, 0, 1);
	words[5] = words[6] = 1;
	return 7;
}

static uint32_t regions(uint64_t at, uint64_t words[8])
{
	words[0] = WORD(TRACE_REGION_BEGIN, 9, 0, 1);
	words[1] = TRACE_REGION_OUTERMOST;
	words[2] = 0x401000 + at;
	return 3;
}

static uint32_t members(uint64_t at, uint64_t words[8])
{
	words[0] = WORD(TRACE_MEMBER_BEGIN, 9, 0, 1);
	words[1] = at;
	words[2] = (uint32_t)at;
	return 3;
}

static uint32_t waits(uint64_t at, uint64_t words[8])
{
	words[0] = WORD(TRACE_WAIT_BEGIN, 9, at % 4, 1);
	return 1;
}

static uint32_t groups(uint64_t at, uint64_t words[8])
{
	(void)at;
	words[0] = WORD(TRACE_GROUP_BEGIN, 9, 0, 1);
	return 1;
}

static uint32_t dependences(uint64_t at, uint64_t words[8])
{
	if (at % 8 == 7) {
		words[0] = WORD(TRACE_TASK_CREATE, 9, 0, 1);
		return 1;
	}
	words[0] = WORD(TRACE_DEPEND, 0, 1, 1);
	words[1] = at * 64;
	return 2;
}

static uint32_t locks(uint64_t at, uint64_t words[8])
{
	words[0] = WORD(TRACE_LOCK_WAIT, 9, 0, 1);
	words[1] = at * 64;
	words[2] = 1;
	return 3;
}

static uint32_t losses(uint64_t at, uint64_t words[8])
{
	words[0] = WORD(TRACE_WORD_LOST, 0, 0, 1);
	words[1] = at;
	words[2] = at;
	return 3;
}

/* `streams`: each chunk is another thread's. */
static void write_trace(event_fn event, uint32_t chunks, bool streams)
{
	static uint64_t words[TRACE_WORDS_MAX];
	struct trace_writer *w = create_at(AT_FDCWD, path);
	uint64_t at = 0;

	trace_writer__text(w, "@capture source=shim late=0");
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		uint32_t used = 0;

		words[used++] = WORD(TRACE_WORD_JOIN, 0, 0, 0);
		words[used++] = (uint64_t)(streams ? chunk + 1 : 1) << 32 | 100;
		words[used++] = WORD(TRACE_WORD_TIME, 0, 0, 0);
		words[used++] = (uint64_t)(chunk + 1) << 20;
		words[used++] = WORD(TRACE_REGION_BEGIN, 9, 0, 0);
		words[used++] = TRACE_REGION_OUTERMOST;
		words[used++] = 0x401000;
		words[used++] = WORD(TRACE_MEMBER_BEGIN, 9, 0, 1);
		words[used++] = chunk + 1;
		words[used++] = 0;
		while (used + 8 <= TRACE_WORDS_MAX)
			used += event(at++, words + used);
		put(w, streams ? chunk * 1000 : 0, (uint64_t)(chunk + 1) << 20, (uint64_t)(chunk + 2) << 20,
		    words, used);
	}
	if (trace_writer__finish(w, NULL))
		exit(1);
}

/* In a process of its own, whose memory is looked at. */
static int load(struct rusage *usage)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		const struct grain_load_opts opts = {.keep_going = true,
						     .keep_events = true,
						     .max_bytes = BOUND};
		struct grain_graph *g = NULL;
		struct grain_error err = {""};
		int error = grain_graph__load(path, &opts, &g, &err);

		if (error && (error != -E2BIG || !strstr(err.text, "needs more than 96 MiB of memory") ||
			      strchr(err.text, '\n')))
			printf("# %d %s\n", error, err.text);
		else
			error = error ? E2BIG : 0;
		fflush(stdout);
		_exit(error < 0 ? 1 : error);
	}
	if (child < 0 || wait4(child, &status, 0, usage) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void bounded(const char *name, event_fn event, uint32_t chunks, bool streams)
{
	struct rusage usage;
	uint64_t peak;
	int status;

	write_trace(event, chunks, streams);
	status = load(&usage);
	peak = (uint64_t)usage.ru_maxrss << 10;
	CHECK(status == 0 || status == E2BIG, "%u chunks of %s: %s", chunks, name,
	      status == E2BIG ? "refused with a line" : "read within the bound");
#if !defined(__SANITIZE_ADDRESS__)
	CHECK(peak <= BOUND + BEYOND, "%u chunks of %s: %llu MiB of %llu", chunks, name,
	      (unsigned long long)(peak >> 20), (unsigned long long)(BOUND >> 20));
#else
	(void)peak;
#endif
}

int main(void)
{
	static const struct {
		const char *name;
		event_fn event;
	} all[] = {
		{"creations", creations}, {"tasks", tasks},	{"turns of loops", turns},
		{"loops", loops},	  {"regions", regions}, {"members", members},
		{"waits", waits},	  {"groups", groups},	{"dependences", dependences},
		{"locks", locks},	  {"losses", losses},
	};
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	/* Too much for the graph, for the events, and at once. */
	for (size_t i = 0; i < COUNT(all); i++) {
		bounded(all[i].name, all[i].event, 5, false);
		bounded(all[i].name, all[i].event, 12, true);
#ifdef __SANITIZE_ADDRESS__
		/* Of the memory nothing is judged. */
		if (i % 4)
			continue;
#endif
		bounded(all[i].name, all[i].event, 40, i & 1);
	}
	unlink(path);
	CHECK_DONE();
}
