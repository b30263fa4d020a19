/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace, and the event log that resolving it must give. */
#ifndef GRAIND_TESTS_RESOLVE_CASE_H
#define GRAIND_TESTS_RESOLVE_CASE_H

#include "daemon/common/trace_writer.h"
#include "tests/unit/check.h"
#include "tests/unit/stream_text.h"

#include <fcntl.h>

static char trace_path[] = "/tmp/graind-unit-resolve.XXXXXX";

/* time, thread, kind, frame, then key=, site=, arg=, flags= where needed */
#define E(t, thread, name, sp, ...)                                                                          \
	{                                                                                                    \
		.time_ns = t, .tid = thread, .kind = TRACE_##name, .frame = sp, ##__VA_ARGS__                \
	}

static inline bool same(const void *a, const void *b, size_t bytes)
{
	return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* The resolved stream, NULL when something failed; checks that its log is sound and gives an equal stream. */
static inline struct event_stream *resolve(const char *name, const char *const *lines,
					   const struct trace_event *events, size_t count)
{
	struct event_stream *s = NULL, *again = NULL;
	struct trace_writer *w = NULL;
	struct grain_error err;
	char *once, *twice;

	unlink(trace_path);
	if (trace_writer__create(AT_FDCWD, trace_path, NULL, &w))
		exit(1);
	for (; lines && *lines; lines++)
		trace_writer__text(w, *lines);
	if (trace_writer__events(w, events, count) || trace_writer__finish(w, NULL))
		exit(1);
	if (read_path(trace_path, 0, &s, &err)) {
		CHECK(0, "%s: %s", name, err.text);
		return NULL;
	}
	once = log_of(s, 1);
	if (read_path(temporary(once, strlen(once)), 0, &again, &err)) {
		CHECK(0, "%s: its log is sound: %s", name, err.text);
		printf("# %s\n", once);
	} else {
		twice = log_of(again, 1);
		CHECK_STR(twice, once, "%s: its log is stable", name);
		CHECK(again->count == s->count && again->task_count == s->task_count &&
			      memcmp(again->events, s->events, s->count * sizeof(*s->events)) == 0 &&
			      same(again->task_trouble, s->task_trouble, s->task_count) &&
			      same(again->region_trouble, s->region_trouble, s->region_count) &&
			      memcmp(&again->truth, &s->truth,
				     offsetof(struct grain_truth, first_violation)) == 0 &&
			      again->info.threads == s->info.threads && again->info.end_ns == s->info.end_ns,
		      "%s: the stream of its log is equal", name);
		free(twice);
	}
	free(once);
	event_stream__free(again);
	return s;
}

static inline struct event_stream *expect(const char *name, const struct trace_event *events, size_t count,
					  const char *log)
{
	struct event_stream *s = resolve(name, NULL, events, count);
	char *text;

	if (!s)
		return NULL;
	text = log_of(s, 0);
	CHECK_STR(text, log, "%s", name);
	free(text);
	return s;
}

#define EXPECT(name, events, log) expect(name, events, sizeof(events) / sizeof((events)[0]), log)

/* What most cases stand in: one thread in a region of one. */
#define OPEN                                                                                                 \
	E(1, 1, REGION_BEGIN, 2000), E(1, 1, TEAM_START, 1900, .key = 5, .arg = 1),                          \
		E(1, 1, TEAM_STARTED, 1908)
#define CLOSE                                                                                                \
	E(90, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),                                            \
		E(91, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END), E(92, 1, REGION_END, 2008)
#define LOG_OPEN(trouble)                                                                                    \
	"1 1 0 thread-begin\n1 1 0 region-begin region=0 threads=1" trouble                                  \
	"\n1 1 0 member-begin region=0 num=0\n"
#define LOG_CLOSE                                                                                            \
	"90 1 0 wait-begin kind=barrier-implicit\n91 1 0 wait-end kind=barrier-implicit\n"                   \
	"91 1 0 member-end region=0 num=0\n92 1 0 region-end region=0\n92 1 0 thread-end\n"

static inline int resolve_begin(void)
{
	int fd = mkstemp(trace_path);

	return fd < 0 ? -1 : close(fd);
}

static inline void resolve_end(void)
{
	unlink(trace_path);
	unlink(stream_path);
}

#endif
