/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs from event logs written in the tests, and their elements by identifier. */
#ifndef GRAIND_TESTS_GRAPH_TEXT_H
#define GRAIND_TESTS_GRAPH_TEXT_H

#include "analysis/include/grain.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define GRAPH_HEAD                                                                                           \
	"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=2\n"                         \
	"@source 1 file=a.c line=10 func=main kind=parallel\n@source 2 file=a.c line=20 func=f kind=task\n"  \
	"@source 3 file=a.c line=30 func=g kind=task\n"

/* The graph of a log's text; on failure a failed check and NULL. */
static inline struct grain_graph *graph_of_text_opts(const char *name, const char *text,
						     const struct grain_load_opts *opts)
{
	char path[] = "/tmp/graind-unit-XXXXXX";
	struct grain_error err = {{0}};
	struct grain_graph *g = NULL;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int error = -1;

	if (f) {
		fputs(text, f);
		fclose(f);
		error = grain_graph__load(path, opts, &g, &err);
		unlink(path);
	}
	CHECK(error == 0, "%s: loads", name);
	if (error)
		printf("# %d %s\n", error, err.text);
	return g;
}

/* `settings` NULL: the defaults. */
static inline struct grain_graph *graph_of_text_set(const char *name, const char *text,
						    const struct grain_settings *settings)
{
	struct grain_load_opts opts = {.keep_events = true, .settings = settings};

	return graph_of_text_opts(name, text, &opts);
}

static inline struct grain_graph *graph_of_text(const char *name, const char *text)
{
	return graph_of_text_set(name, text, NULL);
}

static inline uint32_t context_named(const struct grain_graph *g, const char *id)
{
	char text[256];

	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		grain_graph__context_id(g, i, text, sizeof text);
		if (strcmp(text, id) == 0)
			return i;
	}
	return GRAIN_NONE;
}

/* A context that must exist: a failed check and zeroes when it does not. */
static inline struct grain_context context_at(const struct grain_graph *g, const char *id)
{
	struct grain_context c = {.parent = GRAIN_NONE, .join = GRAIN_NONE};
	uint32_t index = context_named(g, id);

	CHECK(index != GRAIN_NONE, "context %s exists", id);
	if (index != GRAIN_NONE)
		grain_graph__context(g, index, &c);
	return c;
}

static inline void check_times(const struct grain_graph *g, const char *id, uint64_t exec, uint64_t create,
			       uint64_t wait)
{
	struct grain_context c = context_at(g, id);

	CHECK(c.exec_ns == exec && c.create_ns == create && c.wait_ns == wait,
	      "%s: exec %llu create %llu wait %llu", id, (unsigned long long)exec, (unsigned long long)create,
	      (unsigned long long)wait);
	if (c.exec_ns != exec || c.create_ns != create || c.wait_ns != wait)
		printf("# got exec %llu create %llu wait %llu\n", (unsigned long long)c.exec_ns,
		       (unsigned long long)c.create_ns, (unsigned long long)c.wait_ns);
}

/* `join` NULL: none. */
static inline void check_joined(const struct grain_graph *g, const char *id, const char *parent,
				const char *join)
{
	struct grain_context c = context_at(g, id);
	char text[256] = "none";

	if (c.parent != GRAIN_NONE)
		grain_graph__context_id(g, c.parent, text, sizeof text);
	CHECK_STR(text, parent ? parent : "none", "%s: its parent", id);
	strcpy(text, "none");
	if (c.join != GRAIN_NONE)
		grain_graph__join_id(g, c.join, text, sizeof text);
	CHECK_STR(text, join ? join : "none", "%s: its join", id);
}

static inline void check_near(double got, double expected, const char *what)
{
	int same = isnan(expected) ? isnan(got) : fabs(got - expected) <= 1e-9 * (1 + fabs(expected));

	CHECK(same, "%s is %.6g", what, expected);
	if (!same)
		printf("# got %.9g\n", got);
}

static inline void check_sound(const struct grain_graph *g, const char *name)
{
	const struct grain_truth *t = grain_graph__truth(g);
	const struct grain_totals *totals = grain_graph__totals(g);

	CHECK_STR(t->first_violation, "", "%s: time is conserved", name);
	CHECK(totals->work_ns >= totals->span_ns, "%s: work >= span", name);
	CHECK(totals->burdened_span_ns >= totals->span_ns, "%s: burdened span >= span", name);
}

static inline void check_totals(const struct grain_graph *g, const char *name, uint64_t work, uint64_t span)
{
	const struct grain_totals *t = grain_graph__totals(g);

	CHECK(t->work_ns == work && t->span_ns == span, "%s: work %llu span %llu", name,
	      (unsigned long long)work, (unsigned long long)span);
	if (t->work_ns != work || t->span_ns != span)
		printf("# got work %llu span %llu\n", (unsigned long long)t->work_ns,
		       (unsigned long long)t->span_ns);
	check_sound(g, name);
}

#endif
