// SPDX-License-Identifier: BSD-2-Clause
/*
 * make_trace OUT TASKS THREADS [CHUNKS [LINE...]]: writes the trace of an invented
 * program: one parallel region, in it a dynamic loop of CHUNKS chunks (0), then
 * a single whose winner creates the root of a tree of TASKS tasks; each inner
 * task creates two children and waits for them. A simulated scheduler runs it on THREADS threads; runtime
 * blocks and stack addresses are reused as a real runtime does.
 */
#include "daemon/common/trace/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOBODY UINT32_MAX
#define BATCH 2048

enum {
	SITE_REGION = 0x401100,
	SITE_ROOT = 0x401200,
	SITE_LEFT = 0x401300,
	SITE_RIGHT = 0x401310,
	SITE_WAIT = 0x401320,
	SITE_LOOP = 0x401180
};

struct task {
	uint32_t parent, size; /* of its subtree */
	uint32_t child[2];
	uint64_t created, key;
	uint8_t phase, pending;
	bool started;
};

enum phase { AT_LOOP, IN_LOOP, IN_SINGLE, IN_BARRIER, IN_REGION_END, DONE };

struct thread {
	uint64_t clock;
	uint32_t *stack; /* tasks */
	uint32_t depth;
	enum phase phase;
	struct trace_event batch[BATCH];
	uint32_t batched;
};

static struct trace_writer *writer;
static struct task *tasks;
static uint32_t task_count, task_used, task_done, chunk_count, chunk_used;
static uint32_t *queue, queued;
static uint64_t *free_keys, next_key = 0x7f0000001000;
static uint32_t free_key_count;
static struct thread *threads;
static uint32_t thread_count, in_barrier, in_region_end, deepest;
static uint64_t seed = 88172645463325252u;

static uint64_t noise(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static void need(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "make_trace: %s: %s\n", what, strerror(-error));
		exit(1);
	}
}

/* As a capture empties its rings: one CPU after the other. */
static void drain(void)
{
	for (uint32_t i = 0; i < thread_count; i++) {
		need(trace_writer__events(writer, threads[i].batch, threads[i].batched), "write");
		threads[i].batched = 0;
	}
}

static void emit_wide(struct thread *t, uint8_t kind, uint64_t key, uint64_t extra, uint64_t site,
		      uint64_t frame, uint32_t arg)
{
	uint32_t index = (uint32_t)(t - threads);

	t->batch[t->batched++] = (struct trace_event){.time_ns = t->clock++,
						      .key = key,
						      .site = site,
						      .frame = frame,
						      .extra = extra,
						      .tid = 1000 + index,
						      .arg = arg,
						      .cpu = (uint16_t)index,
						      .kind = kind};
	if (t->batched == BATCH)
		drain();
}

static void emit(struct thread *t, uint8_t kind, uint64_t key, uint64_t site, uint64_t frame, uint32_t arg)
{
	emit_wide(t, kind, key, 0, site, frame, arg);
}

/* The stack pointer of the thread's innermost activity, which uses 512 bytes. */
static uint64_t sp(const struct thread *t)
{
	return 0x7ffd00000000 + ((uint64_t)(t - threads) << 24) - 4096 - 512ull * t->depth;
}

static uint32_t create(struct thread *t, uint32_t parent, uint32_t size, uint64_t site)
{
	uint32_t id = task_used++;
	uint64_t key = free_key_count ? free_keys[--free_key_count] : (next_key += 192);

	tasks[id] = (struct task){
		.parent = parent, .size = size, .child = {NOBODY, NOBODY}, .created = t->clock, .key = key};
	emit(t, TRACE_TASK_CREATE, key, site, sp(t) - 200, 0);
	t->clock += 200 + noise(100);
	emit(t, TRACE_TASK_CREATE_END, 0, 0, sp(t) - 100, 0);
	queue[queued++] = id;
	return id;
}

static void begin(struct thread *t, uint32_t id)
{
	tasks[id].started = true;
	if (t->clock <= tasks[id].created)
		t->clock = tasks[id].created + 1;
	t->stack[t->depth++] = id;
	if (t->depth > deepest)
		deepest = t->depth;
	emit(t, TRACE_TASK_BEGIN, tasks[id].key, 0x401400, sp(t), 0);
}

static void step_task(struct thread *t)
{
	uint32_t id = t->stack[t->depth - 1], rest = tasks[id].size - 1, left = rest - rest * 2 / 5;
	struct task *task = &tasks[id];

	switch (task->phase) {
	case 0:
		t->clock += 500 + noise(2000);
		if (left) {
			task->pending++;
			task->child[0] = create(t, id, left, SITE_LEFT);
		}
		task->phase = left ? 1 : 4;
		break;
	case 1:
		t->clock += 100;
		if (rest > left) {
			task->pending++;
			task->child[1] = create(t, id, rest - left, SITE_RIGHT);
		}
		task->phase = 2;
		break;
	case 2:
		t->clock += 100;
		emit(t, TRACE_WAIT_BEGIN, 0, SITE_WAIT, sp(t) - 128, TRACE_WAIT_TASKWAIT);
		task->phase = 3;
		break;
	case 3:
		for (int i = 1; i >= 0; i--) {
			if (task->child[i] != NOBODY && !tasks[task->child[i]].started) {
				begin(t, task->child[i]);
				return;
			}
		}
		t->clock += 400;
		if (task->pending)
			return;
		emit(t, TRACE_WAIT_END, 0, 0, sp(t) - 120, TRACE_WAIT_TASKWAIT);
		task->phase = 4;
		break;
	default:
		t->clock += 1000 + noise(8000);
		emit(t, TRACE_TASK_END, 0, 0, sp(t), 0);
		free_keys[free_key_count++] = task->key;
		if (task->parent != NOBODY)
			tasks[task->parent].pending--;
		t->depth--;
		task_done++;
	}
}

static void step_member(struct thread *t)
{
	uint32_t index = (uint32_t)(t - threads);

	t->clock += 300;
	switch (t->phase) {
	case AT_LOOP:
		t->phase = chunk_count ? IN_LOOP : IN_SINGLE;
		if (!chunk_count)
			break;
		emit_wide(t, TRACE_LOOP_BEGIN, 0, 16ull * chunk_count - 1, SITE_LOOP, sp(t) - 80,
			  TRACE_LOOP_DYNAMIC);
		emit_wide(t, TRACE_LOOP_PARAMS, 1, 16, 0, sp(t) - 80, 0);
		break;
	case IN_LOOP:
		if (chunk_used < chunk_count) {
			emit_wide(t, TRACE_CHUNK_BEGIN, 16ull * chunk_used, 16ull * chunk_used + 15, 0,
				  sp(t) - 80, 0);
			chunk_used++;
			t->clock += 2000 + noise(6000);
			emit(t, TRACE_CHUNK_NEXT, 0, 0, sp(t) - 80, 0);
		} else {
			emit(t, TRACE_LOOP_END, 0, 0, sp(t) - 80, 0);
			t->phase = IN_SINGLE;
		}
		break;
	case IN_SINGLE:
		emit(t, TRACE_SINGLE, 0, 0, sp(t), index == 0);
		if (index == 0)
			create(t, NOBODY, task_count, SITE_ROOT);
		emit(t, TRACE_WAIT_BEGIN, 0, 0x401220, sp(t) - 64, TRACE_WAIT_BARRIER);
		in_barrier++;
		t->phase = IN_BARRIER;
		break;
	case IN_BARRIER:
		while (queued && tasks[queue[queued - 1]].started)
			queued--;
		if (queued) {
			begin(t, queue[--queued]);
		} else if (in_barrier == thread_count && task_done == task_count) {
			emit(t, TRACE_WAIT_END, 0, 0, sp(t) - 56, TRACE_WAIT_BARRIER);
			t->clock += 50;
			emit(t, TRACE_WAIT_BEGIN, 0, 0, sp(t) - 64, TRACE_WAIT_REGION_END);
			in_region_end++;
			t->phase = IN_REGION_END;
		} else {
			t->clock += 700;
		}
		break;
	case IN_REGION_END:
		if (in_region_end < thread_count)
			break;
		emit(t, TRACE_WAIT_END, 0, 0, sp(t) - 56, TRACE_WAIT_REGION_END);
		if (index == 0)
			emit(t, TRACE_REGION_END, 0, 0, sp(t) + 1032, 0);
		t->phase = DONE;
		break;
	case DONE:
		break;
	}
}

static void simulate(void)
{
	uint64_t team = 0x7f0000000100;

	for (uint32_t i = 0; i < thread_count; i++)
		threads[i].clock = 1000000000u + i * 1500;
	emit(&threads[0], TRACE_REGION_BEGIN, 0x401400, SITE_REGION, sp(&threads[0]) + 1024, 0);
	emit(&threads[0], TRACE_TEAM_START, team, 0, sp(&threads[0]) + 512, thread_count);
	emit(&threads[0], TRACE_TEAM_STARTED, 0, 0, sp(&threads[0]) + 520, 0);
	for (uint32_t i = 1; i < thread_count; i++)
		emit(&threads[i], TRACE_MEMBER_BEGIN, team, 0x401400, sp(&threads[i]), i);
	for (;;) {
		struct thread *next = NULL;

		for (uint32_t i = 0; i < thread_count; i++) {
			if (threads[i].phase != DONE && (!next || threads[i].clock < next->clock))
				next = &threads[i];
		}
		if (!next)
			break;
		if (next->depth)
			step_task(next);
		else
			step_member(next);
	}
	drain();
}

static void describe(void)
{
	static const struct {
		unsigned site, line;
		const char *kind;
	} sources[] = {{SITE_REGION, 20, "parallel"}, {SITE_ROOT, 23, "task"},	   {SITE_LEFT, 9, "task"},
		       {SITE_RIGHT, 11, "task"},      {SITE_WAIT, 13, "taskwait"}, {SITE_LOOP, 21, "loop"}};

	trace_writer__text(writer, "@machine host=nowhere cores=8 sockets=1 kernel=0.0");
	trace_writer__textf(
		writer,
		"@process pid=1000 uid=0 exe=/nowhere/tree cmd=\"tree %u\" runtime=libgomp threads=%u",
		task_count, thread_count);
	trace_writer__text(writer,
			   "@capture source=uprobes method=none ns_per_event=900 resolution_ns=650 late=0");
	for (unsigned i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		trace_writer__textf(writer,
				    "@source %u file=tree.c line=%u func=tree kind=%s path=/nowhere/tree.c",
				    i, sources[i].line, sources[i].kind);
		trace_writer__textf(writer, "@site 0x%x source=%u", sources[i].site, i);
	}
}

int main(int argc, char **argv)
{
	struct trace_writer_stats stats;
	bool enough = argc >= 4;
	long task_limit = enough ? atol(argv[2]) : 0, thread_limit = enough ? atol(argv[3]) : 0,
	     chunk_limit = argc >= 5 ? atol(argv[4]) : 0;

	if (task_limit < 1 || task_limit > 100000000 || thread_limit < 1 || thread_limit > 256 ||
	    chunk_limit < 0 || chunk_limit > 100000000) {
		fprintf(stderr, "usage: make_trace OUT TASKS THREADS [CHUNKS]\n");
		return 2;
	}
	chunk_count = (uint32_t)chunk_limit;
	task_count = (uint32_t)task_limit;
	thread_count = (uint32_t)thread_limit;
	tasks = calloc(task_count, sizeof(*tasks));
	queue = calloc(task_count, sizeof(*queue));
	free_keys = calloc(task_count, sizeof(*free_keys));
	threads = calloc(thread_count, sizeof(*threads));
	if (!tasks || !queue || !free_keys || !threads)
		need(-ENOMEM, "memory");
	for (uint32_t i = 0; i < thread_count; i++) {
		threads[i].stack = calloc(65536, sizeof(uint32_t));
		if (!threads[i].stack)
			need(-ENOMEM, "memory");
	}
	unlink(argv[1]);
	need(trace_writer__create(AT_FDCWD, argv[1], NULL, &writer), argv[1]);
	describe();
	simulate();
	for (int i = 5; i < argc; i++)
		trace_writer__text(writer, argv[i]);
	trace_writer__textf(writer, "@end reason=exit end_ns=%llu", (unsigned long long)threads[0].clock);
	need(trace_writer__finish(writer, &stats), "finish");
	printf("%u tasks, %llu events, %llu bytes, deepest stack %u\n", task_count,
	       (unsigned long long)stats.events, (unsigned long long)stats.bytes, deepest);
	return 0;
}
