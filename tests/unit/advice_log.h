/* SPDX-License-Identifier: BSD-2-Clause */
/* Event logs of programs that are made up to have one thing wrong with them. */
#ifndef GRAIND_TESTS_ADVICE_LOG_H
#define GRAIND_TESTS_ADVICE_LOG_H

#include "tests/unit/graph_text.h"

#include <stdarg.h>

#define LOG_THREADS 8

/* Definitions: 1 a.c:10 parallel, 2 a.c:20 task f, 3 a.c:30 task g, 4 a.c:40 loop, 5 a.c:50 critical. */
struct log {
	FILE *head, *thread[LOG_THREADS];
	char *head_text, *thread_text[LOG_THREADS];
	size_t head_size, thread_size[LOG_THREADS];
	uint64_t now[LOG_THREADS]; /* of each thread; an event is written at its thread's */
	int threads;
};

__attribute__((format(printf, 3, 4))) static inline void log_event(struct log *l, int thread,
								   const char *format, ...)
{
	va_list list;

	fprintf(l->thread[thread], "%llu %d %d ", (unsigned long long)l->now[thread], thread + 1, thread);
	va_start(list, format);
	vfprintf(l->thread[thread], format, list);
	va_end(list);
	fputc('\n', l->thread[thread]);
}

static inline void log_open(struct log *l, int threads)
{
	*l = (struct log){.threads = threads};
	l->head = open_memstream(&l->head_text, &l->head_size);
	for (int i = 0; i < threads; i++)
		l->thread[i] = open_memstream(&l->thread_text[i], &l->thread_size[i]);
	fprintf(l->head,
		"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=%d\n"
		"@source 1 file=a.c line=10 func=main kind=parallel\n@source 2 file=a.c line=20 func=f "
		"kind=task\n"
		"@source 3 file=a.c line=30 func=g kind=task\n@source 4 file=a.c line=40 func=h kind=loop\n"
		"@source 5 file=a.c line=50 func=h kind=critical\n",
		threads);
}

static inline uint64_t log_latest(const struct log *l)
{
	uint64_t latest = 0;

	for (int i = 0; i < l->threads; i++)
		if (l->now[i] > latest)
			latest = l->now[i];
	return latest;
}

/* The n-th region starts when all threads are done with what was before. */
static inline void log_team(struct log *l, int number)
{
	uint64_t start = log_latest(l);

	l->now[0] = start;
	log_event(l, 0, "region-begin region=%d src=1 threads=%d", number, l->threads);
	for (int i = 0; i < l->threads; i++) {
		l->now[i] = start;
		log_event(l, i, "member-begin region=%d num=%d", number, i);
	}
}

/* A member comes to the barrier at the region's end; tasks that it executes from now on run in it. */
static inline void log_barrier(struct log *l, int thread)
{
	log_event(l, thread, "wait-begin kind=barrier-implicit");
}

/* All members leave it, and the region. */
static inline void log_end_team(struct log *l, int number)
{
	uint64_t end = log_latest(l);

	for (int i = l->threads; i-- > 0;) {
		l->now[i] = end;
		log_event(l, i, "wait-end kind=barrier-implicit");
		log_event(l, i, "member-end region=%d num=%d", number, i);
	}
	log_event(l, 0, "region-end region=%d", number);
}

static inline void log_create(struct log *l, int thread, int task, int source, uint64_t cost)
{
	log_event(l, thread, "create-begin task=%d src=%d flags=deferred", task, source);
	l->now[thread] += cost;
	log_event(l, thread, "create-end task=%d", task);
}

/* A whole task without runtime calls. */
static inline void log_task(struct log *l, int thread, int task, uint64_t exec)
{
	log_event(l, thread, "task-begin task=%d", task);
	l->now[thread] += exec;
	log_event(l, thread, "task-end task=%d", task);
}

static inline void log_loop(struct log *l, int thread, int loop, const char *schedule)
{
	log_event(l, thread, "loop-begin loop=%d src=4 %s", loop, schedule);
}

static inline void log_chunk(struct log *l, int thread, int loop, int lower, int upper, uint64_t bookkeeping,
			     uint64_t exec)
{
	l->now[thread] += bookkeeping;
	log_event(l, thread, "chunk-begin loop=%d lower=%d upper=%d", loop, lower, upper);
	l->now[thread] += exec;
	log_event(l, thread, "chunk-end loop=%d", loop);
}

static inline void log_loop_end(struct log *l, int thread, int loop)
{
	log_event(l, thread, "loop-end loop=%d", loop);
	log_barrier(l, thread);
}

/* The graph of what was written; the log is gone then. */
static inline struct grain_graph *log_graph(struct log *l, const char *name,
					    const struct grain_load_opts *opts)
{
	struct grain_graph *g;

	for (int i = 0; i < l->threads; i++) {
		fclose(l->thread[i]);
		fputs(l->thread_text[i], l->head);
		free(l->thread_text[i]);
	}
	fclose(l->head);
	g = graph_of_text_opts(name, l->head_text, opts);
	free(l->head_text);
	if (g)
		check_sound(g, name);
	return g;
}

/* The advice of that kind; a failed check when there is none, or more than one. */
static inline bool find_advice(const struct grain_graph *g, const char *name, enum grain_advice_kind kind,
			       struct grain_advice *out)
{
	int found = 0;

	*out = (struct grain_advice){.finding = "", .text = ""};
	for (size_t i = grain_graph__advice_count(g); i-- > 0;) {
		struct grain_advice a;

		grain_graph__advice(g, i, &a);
		if (a.kind != kind)
			continue;
		*out = a;
		found++;
	}
	CHECK(found == 1, "%s: one %s advice", name, grain_advice__kind_name(kind));
	return found == 1;
}

/* Exactly these kinds, a bit each. */
static inline void check_kinds(const struct grain_graph *g, const char *name, unsigned expected)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < grain_graph__advice_count(g); i++) {
		struct grain_advice a;

		grain_graph__advice(g, i, &a);
		kinds |= 1u << a.kind;
		if (!(expected >> a.kind & 1))
			printf("# %s (%llu ns): %s -> %s\n", grain_advice__kind_name(a.kind),
			       (unsigned long long)a.saves_ns, a.finding, a.text);
	}
	CHECK(kinds == expected, "%s: its kinds of advice", name);
	if (kinds != expected)
		printf("# got 0x%x, expected 0x%x\n", kinds, expected);
}

static inline void check_saves(const struct grain_advice *a, const char *name, uint64_t expected)
{
	CHECK(a->saves_ns == expected, "%s: it saves %llu ns", name, (unsigned long long)expected);
	if (a->saves_ns != expected)
		printf("# got %llu\n", (unsigned long long)a->saves_ns);
}

static inline void check_worst(const struct grain_graph *g, const struct grain_advice *a, const char *name,
			       const char *expected)
{
	char id[128] = "none";

	if (a->evidence.worst != GRAIN_NONE)
		grain_graph__context_id(g, a->evidence.worst, id, sizeof id);
	CHECK_STR(id, expected, "%s: the worst is named", name);
}

#endif
