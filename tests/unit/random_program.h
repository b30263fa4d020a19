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
	MAX_FRAGMENTS = 8192,
	MAX_ACCESSES = 2,
	LOCATIONS = 3,
	MAX_LOOPS = 4,
	MAX_CHUNKS = 8
};

enum op_kind { OP_CREATE, OP_CREATE_UNDEFERRED, OP_WAIT, OP_GROUP, OP_GROUP_END, OP_REGION };

struct op {
	enum op_kind kind;
	int child;	 /* or the number of a region */
	uint64_t run_ns; /* of the only member of a region */
};

/* An access to one of a few locations; `set` numbers the sets of accesses to it by the task's siblings. */
struct access {
	int location, kind, set;
};

/* Task 0 is the code of the single; its tasks are numbered under the single. */
struct task {
	struct op ops[MAX_OPS];
	int op_count, parent, depth, ordinal, joins, regions;
	struct access accesses[MAX_ACCESSES];
	int access_count;
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

/* A chunk or section; some create an undeferred task. */
struct simulated_chunk {
	uint64_t run_ns, bookkeeping_ns, child_run_ns, child_create_ns;
	bool has_child;
};

struct simulated_loop {
	struct simulated_chunk chunks[MAX_CHUNKS];
	int chunk_count, next, arrived, barrier; /* of its end; -1: nowait */
	uint64_t end_bookkeeping_ns, path;
	bool sections, nowait;
};

struct program {
	struct task tasks[MAX_TASKS];
	int task_count, region_count;
	struct simulated_loop loops[MAX_LOOPS];
	int loop_count, barriers;
	/* The run. */
	int threads, winner, groups;
	struct frame stacks[MAX_THREADS][MAX_TASKS + 1];
	int depth[MAX_THREADS];
	uint64_t last_ns[MAX_THREADS], now_ns;
	struct fragment fragments[MAX_FRAGMENTS];
	int fragment_count;
	uint64_t member_run_ns[MAX_THREADS], member_wait_ns[MAX_THREADS];
	uint64_t member_path[MAX_THREADS], open_path; /* at the end of the loops; of their tasks not joined */
	uint64_t loops_run_ns, inner_run_ns;	      /* of all in loops, and in inner regions */
	struct frame suspended[MAX_TASKS];
	int suspended_count, suspensions;
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
				(struct op){.kind = kind == 5 ? OP_CREATE_UNDEFERRED : OP_CREATE,
					    .child = child};
		} else if (kind < 8) {
			t->ops[t->op_count++] = (struct op){.kind = OP_WAIT};
		} else if (kind == 9 && p->region_count < MAX_TASKS && program_random(p, 2)) {
			t->ops[t->op_count++] = (struct op){.kind = OP_REGION, .child = p->region_count++};
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

/* Dependences of the deferred children, and which of a location's sets each access is in. */
static inline void program_depend(struct program *p, struct task *parent)
{
	int last[LOCATIONS], set[LOCATIONS] = {0};

	for (int i = 0; i < LOCATIONS; i++)
		last[i] = -1;
	for (int i = 0; i < parent->op_count; i++) {
		struct task *t = &p->tasks[parent->ops[i].child];
		int used = 0;

		if (parent->ops[i].kind != OP_CREATE || program_random(p, 2))
			continue;
		for (int k = 0; k < 1 + (int)program_random(p, MAX_ACCESSES); k++) {
			struct access a = {.location = (int)program_random(p, LOCATIONS),
					   .kind = (int)program_random(p, 5)};
			bool shared = a.kind != 1 && a.kind != 2;

			if (used & 1 << a.location)
				continue;
			used |= 1 << a.location;
			if (!shared || last[a.location] != a.kind)
				set[a.location]++;
			last[a.location] = a.kind;
			a.set = set[a.location];
			t->accesses[t->access_count++] = a;
		}
	}
}

static inline bool program_precedes(const struct program *p, int before, int after)
{
	const struct task *a = &p->tasks[before], *b = &p->tasks[after];

	if (a->parent != b->parent)
		return false;
	for (int i = 0; i < a->access_count; i++)
		for (int k = 0; k < b->access_count; k++)
			if (a->accesses[i].location == b->accesses[k].location &&
			    a->accesses[i].set + 1 == b->accesses[k].set)
				return true;
	return false;
}

static inline void program_generate_loops(struct program *p)
{
	p->loop_count = (int)program_random(p, MAX_LOOPS + 1);
	for (int i = 0; i < p->loop_count; i++) {
		struct simulated_loop *l = &p->loops[i];

		l->sections = program_random(p, 3) == 0;
		l->nowait = program_random(p, 3) == 0;
		l->chunk_count = (int)program_random(p, MAX_CHUNKS + 1);
		for (int k = 0; k < l->chunk_count; k++)
			l->chunks[k].has_child = program_random(p, 3) == 0;
	}
}

static inline void program_generate(struct program *p, uint32_t seed)
{
	memset(p, 0, sizeof *p);
	p->random = seed * 7919u + 1;
	program_grow(p, -1, 0);
	for (int i = 0; i < p->task_count; i++)
		program_depend(p, &p->tasks[i]);
	program_generate_loops(p);
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
		t->segments[t->segment++] += spent; /* the rest of one after a suspension */
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

static inline bool program_may_begin(const struct program *p, int task)
{
	for (int i = 1; i < p->task_count && p->tasks[task].access_count; i++)
		if (program_precedes(p, i, task) && !p->tasks[i].ended)
			return false;
	return true;
}

/* Takes the running task off its thread; another may go on with it. */
static inline void program_suspend(struct program *p, int thread, struct frame *f)
{
	program_tick(p, thread);
	p->tasks[f->task].segment--;
	program_task_event(p, thread, "task-suspend", f->task);
	p->suspended[p->suspended_count++] = *f;
	p->suspensions++;
	p->depth[thread]--;
}

static inline bool program_resume(struct program *p, int thread, const struct frame *f)
{
	for (int i = 0; i < p->suspended_count; i++) {
		struct frame taken = p->suspended[i];

		if (f->state != BARRIER && !program_descends(p, taken.task, f->task))
			continue;
		program_tick(p, thread);
		program_task_event(p, thread, "task-switch", taken.task);
		p->suspended[i] = p->suspended[--p->suspended_count];
		p->stacks[thread][p->depth[thread]++] = taken;
		return true;
	}
	return false;
}

/* A region of one member, from its begin to its end. */
static inline void program_inner_region(struct program *p, int thread, struct frame *f)
{
	struct task *t = &p->tasks[f->task];
	struct op *op = &t->ops[f->op];
	int region = op->child + 2;

	program_tick(p, thread);
	fprintf(p->log, "%llu %d %d region-begin region=%d src=1 threads=1\n", (unsigned long long)p->now_ns,
		100 + thread, thread, region);
	p->now_ns += 1 + program_random(p, 5);
	fprintf(p->log, "%llu %d %d member-begin region=%d num=0\n", (unsigned long long)p->now_ns,
		100 + thread, thread, region);
	op->run_ns = 1 + program_random(p, 20);
	p->fragments[p->fragment_count++] = (struct fragment){p->now_ns, p->now_ns + op->run_ns, -1};
	p->now_ns += op->run_ns;
	p->inner_run_ns += op->run_ns;
	fprintf(p->log, "%llu %d %d member-end region=%d num=0\n", (unsigned long long)p->now_ns,
		100 + thread, thread, region);
	p->now_ns += 1 + program_random(p, 5);
	fprintf(p->log, "%llu %d %d region-end region=%d\n", (unsigned long long)p->now_ns, 100 + thread,
		thread, region);
	p->last_ns[thread] = p->now_ns;
	f->op++;
}

/* A task for a thread that waits: one of the waiting task's descendants, or any in the barrier. */
static inline int program_pick(struct program *p, const struct frame *f)
{
	int start = (int)program_random(p, (uint32_t)p->task_count);

	for (int k = 0; k < p->task_count; k++) {
		int i = (start + k) % p->task_count;

		if (i && p->tasks[i].created && !p->tasks[i].begun && !p->tasks[i].undeferred &&
		    program_may_begin(p, i) && (f->state == BARRIER || program_descends(p, i, f->task)))
			return i;
	}
	return -1;
}

static inline void program_create(struct program *p, int thread, struct frame *f)
{
	static const char *const kinds[] = {"in", "out", "inout", "mutexinoutset", "inoutset"};
	struct task *t = &p->tasks[f->task], *child = &p->tasks[t->ops[f->op].child];

	program_tick(p, thread);
	program_task_event(p, thread, "create-begin", t->ops[f->op].child);
	for (int i = 0; i < child->access_count; i++)
		fprintf(p->log, "%llu %d %d depend task=%d addr=%d kind=%s\n", (unsigned long long)p->now_ns,
			100 + thread, thread, t->ops[f->op].child, child->accesses[i].location,
			kinds[child->accesses[i].kind]);
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
	if (f->task && !t->undeferred && program_random(p, 8) == 0) {
		program_suspend(p, thread, f);
		return;
	}
	switch (t->ops[f->op].kind) {
	case OP_REGION:
		program_inner_region(p, thread, f);
		break;
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
		fprintf(p->log, "%llu %d %d group-begin\n", (unsigned long long)p->now_ns, 100 + thread,
			thread);
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
	if (program_random(p, 2) && program_resume(p, thread, f))
		return;
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

static inline void program_run_loops(struct program *p); /* random_loops.h */

/* Runs the program on a team and writes its event log. */
static inline void program_run(struct program *p, int threads, uint32_t schedule, FILE *log)
{
	char end[32];

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
		p->last_ns[i] = p->now_ns;
	}
	program_run_loops(p);
	for (int i = 0; i < threads; i++) {
		p->now_ns = p->last_ns[i] > p->now_ns ? p->last_ns[i] : p->now_ns;
		program_event(p, i, i == p->winner ? "single-begin src=1 won=1" : "single-begin src=1 won=0");
		p->depth[i] = 1;
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
	snprintf(end, sizeof end, "0.p0/b%d", p->barriers);
	program_join(p, &p->stacks[p->winner][0], end);
	for (int i = 0; i < threads; i++) {
		char text[64];

		program_tick(p, i);
		program_event(p, i, "wait-end kind=barrier-implicit");
		snprintf(text, sizeof text, "member-end region=1 num=%d", i);
		program_event(p, i, text);
	}
	fprintf(log, "%llu 100 0 region-end region=1\n", (unsigned long long)p->now_ns + 1);
}

#endif
