/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random task programs, run by a simulated team. What the graph must say is
 * computed while they run, by other means than the library's: sums per task,
 * sets of tasks per wait, and a recursion over the program for the span.
 */
#ifndef GRAIND_TESTS_RANDOM_PROGRAM_H
#define GRAIND_TESTS_RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_TASKS = 160,
	MAX_OPS = 24,
	MAX_SEGMENTS = 64,
	MAX_THREADS = 4,
	MAX_DEPTH = 6,
	MAX_GROUPS = 24,
	MAX_FRAGMENTS = 8192
};

enum op_kind { OP_CREATE, OP_CREATE_UNDEFERRED, OP_WAIT, OP_GROUP, OP_GROUP_END };

struct op {
	enum op_kind kind;
	int child;
};

/* Task 0 is the code of the single; its tasks are numbered under the single. */
struct task {
	struct op ops[MAX_OPS];
	int op_count, parent, depth, ordinal, joins;
	bool undeferred;
	char id[128];
	/* Found while running. */
	uint64_t run_ns, wait_ns, create_ns;
	uint64_t segments[MAX_SEGMENTS];
	int segment;
	int groups[MAX_GROUPS], group_count; /* open at its creation, and own ones while it runs */
	int own_groups;
	bool created, begun, ended, joined;
	char join[160];
	uint64_t path_end;
};

struct frame {
	int task, op;
	enum { RUNNING, CREATING, WAITING, GROUP_WAITING, BARRIER } state;
	int waiting_group;
};

struct fragment {
	uint64_t start_ns, end_ns;
	int task;
};

struct program {
	struct task tasks[MAX_TASKS];
	int task_count;
	/* The run. */
	int threads, winner, groups;
	struct frame stacks[MAX_THREADS][MAX_TASKS + 1];
	int depth[MAX_THREADS];
	uint64_t last_ns[MAX_THREADS], now_ns;
	struct fragment fragments[MAX_FRAGMENTS];
	int fragment_count;
	uint64_t member_run_ns[MAX_THREADS], member_wait_ns[MAX_THREADS];
	uint32_t random;
	FILE *log;
};

static inline uint32_t program_random(struct program *p, uint32_t below)
{
	p->random = p->random * 1664525u + 1013904223u;
	return (p->random >> 8) % below;
}

static inline int program_grow(struct program *p, int parent, int depth)
{
	struct task *t = &p->tasks[p->task_count];
	int self = p->task_count++, ops = (int)program_random(p, depth ? 7 : 14), open = 0, children = 0;

	t->parent = parent;
	t->depth = depth;
	for (int i = 0; i < ops && t->op_count < MAX_OPS - 4; i++) {
		uint32_t kind = program_random(p, 10);

		if (kind < 6 && depth < MAX_DEPTH && p->task_count < MAX_TASKS) {
			int child = program_grow(p, self, depth + 1);

			p->tasks[child].undeferred = kind == 5;
			p->tasks[child].ordinal = children++;
			t->ops[t->op_count++] =
				(struct op){kind == 5 ? OP_CREATE_UNDEFERRED : OP_CREATE, child};
		} else if (kind < 8) {
			t->ops[t->op_count++] = (struct op){.kind = OP_WAIT};
		} else if (open && kind == 8) {
			t->ops[t->op_count++] = (struct op){.kind = OP_GROUP_END};
			open--;
		} else if (open < 3) {
			t->ops[t->op_count++] = (struct op){.kind = OP_GROUP};
			open++;
		}
	}
	while (open--)
		t->ops[t->op_count++] = (struct op){.kind = OP_GROUP_END};
	return self;
}

static inline void program_generate(struct program *p, uint32_t seed)
{
	memset(p, 0, sizeof *p);
	p->random = seed * 7919u + 1;
	program_grow(p, -1, 0);
	for (int i = 1; i < p->task_count; i++)
		snprintf(p->tasks[i].id, sizeof p->tasks[i].id, "%.100s.%d",
			 p->tasks[i].parent ? p->tasks[p->tasks[i].parent].id : "0.p0.s0",
			 p->tasks[i].ordinal);
	strcpy(p->tasks[0].id, "0.p0.s0");
}

/* Advances the clock for an event of the thread and charges what the thread did since its last one. */
static inline void program_tick(struct program *p, int thread)
{
	uint64_t spent;
	struct frame *f = &p->stacks[thread][p->depth[thread] - 1];
	struct task *t = &p->tasks[f->task];

	p->now_ns += 1 + program_random(p, 20);
	spent = p->now_ns - p->last_ns[thread];
	if (p->depth[thread] == 1 && (f->state == RUNNING || f->state == BARRIER) && thread != p->winner) {
		*(f->state == RUNNING ? &p->member_run_ns[thread] : &p->member_wait_ns[thread]) += spent;
	} else if (f->state == RUNNING) {
		t->run_ns += spent;
		t->segments[t->segment++] = spent;
	} else if (f->state == CREATING) {
		p->tasks[t->ops[f->op].child].create_ns += spent;
	} else {
		t->wait_ns += spent;
	}
	if (f->state == RUNNING)
		p->fragments[p->fragment_count++] =
			(struct fragment){p->last_ns[thread], p->now_ns,
					  thread != p->winner && p->depth[thread] == 1 ? -1 : f->task};
	p->last_ns[thread] = p->now_ns;
}

static inline void program_event(struct program *p, int thread, const char *text)
{
	fprintf(p->log, "%llu %d %d %s\n", (unsigned long long)p->now_ns, 100 + thread, thread, text);
}

static inline void program_task_event(struct program *p, int thread, const char *text, int task)
{
	fprintf(p->log, "%llu %d %d %s task=%d%s\n", (unsigned long long)p->now_ns, 100 + thread, thread,
		text, task,
		strcmp(text, "create-begin") ? ""
		: p->tasks[task].undeferred  ? " src=2 flags=undeferred"
					     : " src=2 flags=deferred");
}

static inline bool program_descends(const struct program *p, int task, int from)
{
	while (task >= 0 && task != from)
		task = p->tasks[task].parent;
	return task == from;
}

static inline bool program_in_group(const struct task *t, int group)
{
	for (int i = 0; i < t->group_count; i++)
		if (t->groups[i] == group)
			return true;
	return false;
}

/* Whether the wait concerns the task; those that an earlier wait has joined are not looked at. */
static inline bool program_awaits(const struct program *p, const struct frame *f, int task)
{
	const struct task *t = &p->tasks[task];

	if (!t->created || t->joined)
		return false;
	if (f->state == WAITING)
		return t->parent == f->task;
	if (f->state == GROUP_WAITING)
		return program_in_group(t, f->waiting_group);
	return true;
}

static inline bool program_wait_over(const struct program *p, const struct frame *f)
{
	for (int i = 1; i < p->task_count; i++)
		if (program_awaits(p, f, i) && !p->tasks[i].ended)
			return false;
	return true;
}

static inline void program_join(struct program *p, const struct frame *f, const char *name)
{
	for (int i = 1; i < p->task_count; i++) {
		if (program_awaits(p, f, i)) {
			p->tasks[i].joined = true;
			snprintf(p->tasks[i].join, sizeof p->tasks[i].join, "%s", name);
		}
	}
}

static inline void program_begin(struct program *p, int thread, int task)
{
	program_tick(p, thread);
	program_task_event(p, thread, "task-begin", task);
	p->tasks[task].begun = true;
	p->stacks[thread][p->depth[thread]++] = (struct frame){.task = task};
}

/* A task for a thread that waits: one of the waiting task's descendants, or any in the barrier. */
static inline int program_pick(struct program *p, const struct frame *f)
{
	int start = (int)program_random(p, (uint32_t)p->task_count);

	for (int k = 0; k < p->task_count; k++) {
		int i = (start + k) % p->task_count;

		if (i && p->tasks[i].created && !p->tasks[i].begun && !p->tasks[i].undeferred &&
		    (f->state == BARRIER || program_descends(p, i, f->task)))
			return i;
	}
	return -1;
}

static inline void program_create(struct program *p, int thread, struct frame *f)
{
	struct task *t = &p->tasks[f->task], *child = &p->tasks[t->ops[f->op].child];

	program_tick(p, thread);
	program_task_event(p, thread, "create-begin", t->ops[f->op].child);
	f->state = CREATING;
	child->created = true;
	child->group_count = t->group_count;
	memcpy(child->groups, t->groups, sizeof t->groups);
}

/* One step of a thread that executes code; false: it has reached the end of its task. */
static inline void program_execute(struct program *p, int thread, struct frame *f)
{
	struct task *t = &p->tasks[f->task];

	if (f->op == t->op_count) {
		program_tick(p, thread);
		if (f->task == 0) {
			program_event(p, thread, "single-end src=1 won=1");
			program_event(p, thread, "wait-begin kind=barrier-implicit");
			f->state = BARRIER;
			return;
		}
		program_task_event(p, thread, "task-end", f->task);
		t->ended = true;
		p->depth[thread]--;
		return;
	}
	switch (t->ops[f->op].kind) {
	case OP_CREATE:
	case OP_CREATE_UNDEFERRED:
		program_create(p, thread, f);
		break;
	case OP_WAIT:
		program_tick(p, thread);
		program_event(p, thread, "wait-begin kind=taskwait");
		f->state = WAITING;
		break;
	case OP_GROUP:
		/* No boundary: no tick, so that a segment stays one. */
		fprintf(p->log, "%llu %d %d group-begin\n", (unsigned long long)p->last_ns[thread],
			100 + thread, thread);
		t->groups[t->group_count++] = p->groups++;
		t->own_groups++;
		f->op++;
		break;
	case OP_GROUP_END:
		program_tick(p, thread);
		program_event(p, thread, "wait-begin kind=taskgroup");
		f->waiting_group = t->groups[--t->group_count];
		f->state = GROUP_WAITING;
		break;
	}
}

static inline void program_go_on(struct program *p, int thread, struct frame *f)
{
	struct task *t = &p->tasks[f->task];
	char name[160];
	int child;

	if (f->state == CREATING) {
		child = t->ops[f->op].child;
		if (p->tasks[child].undeferred && !p->tasks[child].begun) {
			program_begin(p, thread, child);
			return;
		}
		program_tick(p, thread);
		program_task_event(p, thread, "create-end", child);
		f->state = RUNNING;
		f->op++;
		return;
	}
	if (f->state != BARRIER && program_wait_over(p, f)) {
		program_tick(p, thread);
		program_event(p, thread,
			      f->state == WAITING ? "wait-end kind=taskwait" : "wait-end kind=taskgroup");
		if (f->task == 0)
			snprintf(name, sizeof name, "0.p0.%d/j%d", p->winner, t->joins++);
		else
			snprintf(name, sizeof name, "%.140s/j%d", t->id, t->joins++);
		program_join(p, f, name);
		f->state = RUNNING;
		f->op++;
		return;
	}
	child = program_pick(p, f);
	if (child > 0)
		program_begin(p, thread, child);
}

static inline bool program_done(const struct program *p)
{
	for (int i = 0; i < p->threads; i++)
		if (p->depth[i] != 1 || p->stacks[i][0].state != BARRIER)
			return false;
	for (int i = 1; i < p->task_count; i++)
		if (!p->tasks[i].ended)
			return false;
	return true;
}

/* Runs the program on a team and writes its event log. */
static inline void program_run(struct program *p, int threads, uint32_t schedule, FILE *log)
{
	p->threads = threads;
	p->random = schedule * 104729u + 11;
	p->log = log;
	p->winner = (int)program_random(p, (uint32_t)threads);
	fprintf(log,
		"grain-log 1\n@process pid=100 uid=0 exe=/a cmd=a runtime=libgomp threads=%d\n"
		"@source 1 file=a.c line=1 func=main kind=parallel\n@source 2 file=a.c line=2 func=f "
		"kind=task\n"
		"0 100 0 region-begin region=1 src=1 threads=%d\n",
		threads, threads);
	p->now_ns = 10;
	for (int i = 0; i < threads; i++) {
		char text[64];

		snprintf(text, sizeof text, "member-begin region=1 num=%d", i);
		program_event(p, i, text);
		program_event(p, i, i == p->winner ? "single-begin src=1 won=1" : "single-begin src=1 won=0");
		p->depth[i] = 1;
		p->last_ns[i] = p->now_ns;
		p->stacks[i][0] = (struct frame){.task = 0};
	}
	for (int i = 0; i < threads; i++) {
		if (i == p->winner)
			continue;
		program_tick(p, i);
		program_event(p, i, "single-end src=1 won=0");
		program_event(p, i, "wait-begin kind=barrier-implicit");
		p->stacks[i][0].state = BARRIER;
	}
	while (!program_done(p)) {
		int thread = (int)program_random(p, (uint32_t)threads);
		struct frame *f = &p->stacks[thread][p->depth[thread] - 1];

		if (f->state == RUNNING)
			program_execute(p, thread, f);
		else
			program_go_on(p, thread, f);
	}
	program_join(p, &p->stacks[p->winner][0], "0.p0/b0");
	for (int i = 0; i < threads; i++) {
		char text[64];

		program_tick(p, i);
		program_event(p, i, "wait-end kind=barrier-implicit");
		snprintf(text, sizeof text, "member-end region=1 num=%d", i);
		program_event(p, i, text);
	}
	fprintf(log, "%llu 100 0 region-end region=1\n", (unsigned long long)p->now_ns + 1);
}

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
			program_path(p, t->ops[i].child, at);
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

	program_path(p, 0, 0);
	end = program_group_end(p, 0, 0);
	for (int i = 0; i < p->threads; i++)
		if (p->member_run_ns[i] > end)
			end = p->member_run_ns[i];
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
