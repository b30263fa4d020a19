/* SPDX-License-Identifier: BSD-2-Clause */
/* Span and parallelism of a random program that was run, by recursion over it and by trying all times. */
#ifndef GRAIND_TESTS_RANDOM_EXPECT_H
#define GRAIND_TESTS_RANDOM_EXPECT_H

#include "tests/unit/random_program.h"

/* The largest end of any path in the task's subtree, for tasks that lie in the group. */
static inline uint64_t program_group_end(const struct program *p, int task, uint64_t at)
{
	const struct task *t = &p->tasks[task];

	if (t->path_end > at)
		at = t->path_end;
	for (int i = 0; i < t->op_count; i++)
		if (t->ops[i].kind <= OP_CREATE_UNDEFERRED)
			at = program_group_end(p, t->ops[i].child, at);
	return at;
}

/* The heaviest path to the end of the task when it is reached with `at`. */
static inline uint64_t program_path(struct program *p, int task, uint64_t at)
{
	struct task *t = &p->tasks[task];
	int segment = 0, groups[MAX_OPS], open = 0;

	for (int i = 0; i < t->op_count; i++) {
		if (t->ops[i].kind == OP_GROUP) {
			groups[open++] = i;
			continue;
		}
		at += t->segments[segment++];
		if (t->ops[i].kind <= OP_CREATE_UNDEFERRED) {
			uint64_t from = at;

			for (int k = 1; k < p->task_count; k++)
				if (program_precedes(p, k, t->ops[i].child) && p->tasks[k].path_end > from)
					from = p->tasks[k].path_end;
			program_path(p, t->ops[i].child, from);
			continue;
		}
		if (t->ops[i].kind == OP_REGION) {
			at += t->ops[i].run_ns;
			continue;
		}
		for (int k = t->ops[i].kind == OP_GROUP_END ? groups[--open] : 0; k < i; k++) {
			if (t->ops[k].kind > OP_CREATE_UNDEFERRED)
				continue;
			if (t->ops[i].kind == OP_GROUP_END)
				at = program_group_end(p, t->ops[k].child, at);
			else if (p->tasks[t->ops[k].child].path_end > at)
				at = p->tasks[t->ops[k].child].path_end;
		}
	}
	at += t->segments[segment];
	t->path_end = at;
	return at;
}

static inline uint64_t program_span(struct program *p)
{
	uint64_t end;

	program_path(p, 0, p->member_path[p->winner]);
	end = program_group_end(p, 0, 0);
	for (int i = 0; i < p->threads; i++)
		if (p->member_path[i] + p->member_run_ns[i] > end)
			end = p->member_path[i] + p->member_run_ns[i];
	if (p->open_path > end)
		end = p->open_path;
	return end;
}

/* The smallest number of fragments at any time of the task's own, by trying all of them. */
static inline uint32_t program_parallelism(const struct program *p, int task)
{
	uint32_t least = UINT32_MAX;

	for (int i = 0; i < p->fragment_count; i++) {
		const struct fragment *own = &p->fragments[i];

		if (own->task != task)
			continue;
		/* The number changes only where a fragment starts or ends: look at those times, and its
		 * start. */
		for (int k = -1; k < p->fragment_count; k++) {
			for (int end = 0; end < 2; end++) {
				uint64_t at = k < 0 ? own->start_ns
					      : end ? p->fragments[k].end_ns
						    : p->fragments[k].start_ns;
				uint32_t n = 0;

				if (at < own->start_ns || at >= own->end_ns)
					continue;
				for (int m = 0; m < p->fragment_count; m++)
					n += p->fragments[m].start_ns <= at && at < p->fragments[m].end_ns;
				if (n < least)
					least = n;
			}
		}
	}
	return least;
}

#endif
