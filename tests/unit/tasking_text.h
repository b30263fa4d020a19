/* SPDX-License-Identifier: BSD-2-Clause */
/* Task profiles of event logs written in the tests: rows by source line, and what they must say. */
#ifndef GRAIND_TESTS_TASKING_TEXT_H
#define GRAIND_TESTS_TASKING_TEXT_H

#include "analysis/include/grain_tasking.h"
#include "tests/unit/graph_text.h"

#define HEAD                                                                                                 \
	"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=2\n"                         \
	"@source 1 file=a.c line=10 func=main kind=parallel\n@source 2 file=a.c line=20 func=f kind=task\n"  \
	"@source 3 file=a.c line=30 func=g kind=task\n@source 4 file=a.c line=40 func=main kind=taskwait\n"  \
	"@source 5 file=a.c line=50 func=f kind=taskwait\n@source 6 file=a.c line=60 func=g kind=taskwait\n" \
	"@source 7 file=a.c line=70 func=main kind=barrier\n"
#define REGION "0 1 0 region-begin region=1 src=1 threads=1\n0 1 0 member-begin region=1 num=0\n"

static inline uint32_t definition_at(const struct grain_graph *g, uint32_t line)
{
	for (uint32_t i = 0; i < grain_graph__definition_count(g); i++) {
		struct grain_definition d;

		grain_graph__definition(g, i, &d);
		if (d.line == line)
			return i;
	}
	return GRAIN_NONE;
}

/* caller 0: an implicit or initial task. */
static inline struct grain_scheduling_point point_at(const struct grain_graph *g, const char *kind,
						     uint32_t line, uint32_t caller)
{
	struct grain_scheduling_point p = {0};

	for (size_t i = 0; i < grain_graph__scheduling_point_count(g); i++) {
		grain_graph__scheduling_point(g, i, &p);
		if (strcmp(p.kind, kind) == 0 && p.definition == definition_at(g, line) &&
		    p.in_task == (caller != 0) &&
		    p.caller == (caller ? definition_at(g, caller) : GRAIN_NONE))
			return p;
	}
	CHECK(0, "there is a %s at line %u", kind, line);
	return (struct grain_scheduling_point){0};
}

static inline void check_point(const struct grain_graph *g, const char *kind, uint32_t line, uint32_t caller,
			       uint64_t visits, const uint64_t expected[4])
{
	struct grain_scheduling_point p = point_at(g, kind, line, caller);
	int same = p.visits == visits && p.executing_ns == expected[1] && p.management_ns == expected[2] &&
		   p.idle_ns == expected[3] && p.time_ns == expected[0];

	CHECK(same, "%s at line %u: %llu visits, %llu executing, %llu management, %llu idle", kind, line,
	      (unsigned long long)visits, (unsigned long long)expected[1], (unsigned long long)expected[2],
	      (unsigned long long)expected[3]);
	if (!same)
		printf("# got %llu visits, %llu = %llu %llu %llu\n", (unsigned long long)p.visits,
		       (unsigned long long)p.time_ns, (unsigned long long)p.executing_ns,
		       (unsigned long long)p.management_ns, (unsigned long long)p.idle_ns);
}
#define POINT(g, kind, line, caller, visits, ...)                                                            \
	check_point(g, kind, line, caller, visits, (const uint64_t[4]){__VA_ARGS__})

/* The stub of tasks from line `task`. */
static inline void check_stub(const struct grain_graph *g, const struct grain_scheduling_point *p,
			      uint32_t task, uint64_t fragments, uint64_t sum, uint64_t min, uint64_t max)
{
	struct grain_stub s = {0};
	uint32_t found = 0;

	for (uint32_t i = 0; i < p->stubs; i++) {
		struct grain_stub stub;

		grain_graph__stub(g, p->first_stub + i, &stub);
		if (stub.definition == definition_at(g, task)) {
			s = stub;
			found++;
		}
	}
	CHECK(found == 1 && s.fragments == fragments && s.exec.sum == sum && s.exec.min == min &&
		      s.exec.max == max,
	      "%s: a stub of %llu fragments, %llu", p->kind, (unsigned long long)fragments,
	      (unsigned long long)sum);
	if (s.fragments != fragments || s.exec.sum != sum)
		printf("# got %llu, %llu (%llu to %llu)\n", (unsigned long long)s.fragments,
		       (unsigned long long)s.exec.sum, (unsigned long long)s.exec.min,
		       (unsigned long long)s.exec.max);
}

static inline struct grain_task_construct construct_at(const struct grain_graph *g, uint32_t line)
{
	struct grain_task_construct c = {0};
	uint32_t index = grain_graph__construct_of(g, definition_at(g, line));

	CHECK(index != GRAIN_NONE, "there is a task construct at line %u", line);
	if (index != GRAIN_NONE)
		grain_graph__task_construct(g, index, &c);
	return c;
}

static inline void check_sum(const char *what, const struct grain_stat *s, uint64_t sum, uint64_t min,
			     uint64_t max)
{
	CHECK(s->sum == sum && s->min == min && s->max == max, "%s: %llu, from %llu to %llu", what,
	      (unsigned long long)sum, (unsigned long long)min, (unsigned long long)max);
	if (s->sum != sum || s->min != min || s->max != max)
		printf("# got %llu, from %llu to %llu\n", (unsigned long long)s->sum,
		       (unsigned long long)s->min, (unsigned long long)s->max);
}

static inline void check_barriers(const struct grain_graph *g, const uint64_t expected[4])
{
	struct grain_barriers b;
	int known = grain_graph__region_barriers(g, 0, &b);

	CHECK(known && b.time_ns == expected[0] && b.executing_ns == expected[1] &&
		      b.management_ns == expected[2] && b.idle_ns == expected[3],
	      "barriers of the region: %llu = %llu + %llu + %llu", (unsigned long long)expected[0],
	      (unsigned long long)expected[1], (unsigned long long)expected[2],
	      (unsigned long long)expected[3]);
}

#endif
