/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace, and the event log that resolving it must give. */
#ifndef GRAIND_TESTS_RESOLVE_CASE_H
#define GRAIND_TESTS_RESOLVE_CASE_H

#include "daemon/common/trace/trace_writer.h"
#include "tests/unit/check.h"
#include "tests/unit/stream_text.h"

#include <fcntl.h>

static char trace_path[] = "/tmp/graind-unit-resolve.XXXXXX";

/* time, thread, kind, frame, then key=, site=, arg=, flags= where needed */
#define E(t, thread, name, sp, ...)                                                                          \
	{                                                                                                    \
		.time_ns = t, .tid = thread, .kind = TRACE_##name, .frame = sp, ##__VA_ARGS__                \
	}

/* The first thing in which the streams differ, "" when nothing. */
static inline const char *difference(const struct event_stream *a, const struct event_stream *b)
{
	static char what[300];

	what[0] = '\0';
	for (size_t i = 0; i < a->count && i < b->count; i++) {
		const struct event *x = &a->events[i], *y = &b->events[i];

		if (memcmp(x, y, sizeof(*x)) == 0)
			continue;
		snprintf(what, sizeof(what),
			 "event %zu: %llu %u %s sub %u id %d src %d value %llu extra %llu; %llu %u %s sub %u "
			 "id %d src %d "
			 "value %llu extra %llu",
			 i, (unsigned long long)x->time_ns, x->tid, event_kind__name(x->kind), x->sub,
			 (int)x->id, (int)x->src, (unsigned long long)x->value, (unsigned long long)x->extra,
			 (unsigned long long)y->time_ns, y->tid, event_kind__name(y->kind), y->sub,
			 (int)y->id, (int)y->src, (unsigned long long)y->value, (unsigned long long)y->extra);
		return what;
	}
	if (a->count != b->count || a->task_count != b->task_count || a->region_count != b->region_count ||
	    a->loop_count != b->loop_count)
		return "counts";
	for (uint32_t i = 0; i < a->task_count; i++) {
		if (a->task_trouble[i] != b->task_trouble[i])
			snprintf(what, sizeof(what), "trouble of task %u: %u, %u", i, a->task_trouble[i],
				 b->task_trouble[i]);
	}
	for (uint32_t i = 0; i < a->region_count; i++) {
		if (a->region_trouble[i] != b->region_trouble[i])
			snprintf(what, sizeof(what), "trouble of region %u: %u, %u", i, a->region_trouble[i],
				 b->region_trouble[i]);
	}
	for (uint32_t i = 0; i < a->loop_count; i++) {
		if (memcmp(&a->loops[i], &b->loops[i], sizeof(a->loops[i])) != 0)
			snprintf(what, sizeof(what), "loop %u", i);
	}
	if (memcmp(&a->truth, &b->truth, offsetof(struct grain_truth, first_violation)) != 0)
		snprintf(what, sizeof(what),
			 "truth: unmatched %llu %llu, never begun %llu %llu, never ended %llu %llu, waits "
			 "%llu %llu",
			 (unsigned long long)a->truth.unmatched_begins,
			 (unsigned long long)b->truth.unmatched_begins,
			 (unsigned long long)a->truth.never_begun, (unsigned long long)b->truth.never_begun,
			 (unsigned long long)a->truth.never_ended, (unsigned long long)b->truth.never_ended,
			 (unsigned long long)a->truth.unclosed_waits,
			 (unsigned long long)b->truth.unclosed_waits);
	if (a->info.threads != b->info.threads || a->info.end_ns != b->info.end_ns)
		return snprintf(what, sizeof(what), "info: threads %u %u, end %llu %llu", a->info.threads,
				b->info.threads, (unsigned long long)a->info.end_ns,
				(unsigned long long)b->info.end_ns),
		       what;
	return what;
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
		CHECK_STR(difference(s, again), "", "%s: the stream of its log is equal", name);
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

/* Nothing in it is missing. */
static inline void whole(const struct event_stream *s, const char *what)
{
	if (!s)
		return;
	CHECK(s->loss_count == 0 && s->truth.unmatched_ends == 0 && s->truth.unmatched_begins == 0 &&
		      s->truth.never_begun == 0 && s->truth.never_ended == 0 && s->truth.unclosed_waits == 0,
	      "%s: nothing is missing", what);
	for (uint32_t i = 0; i < s->region_count; i++)
		CHECK(s->region_trouble[i] == 0, "%s: region %u is whole", what, i);
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
}

#endif
