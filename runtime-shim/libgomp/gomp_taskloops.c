// SPDX-License-Identifier: BSD-2-Clause
/*
 * Taskloops. The runtime either creates all tasks first, which we see by the copies that it makes, and then
 * waits for them; or it runs them one after another. In the second case, a copy function would make it hold
 * all copies on the stack at the same time. So the runtime gets a copy function only if it needs one, or if
 * it will create the tasks first.
 */
#include "runtime-shim/libgomp/gomp_task.h"

#include <alloca.h>
#include <string.h>

typedef unsigned long long ull;

/* With more tasks per thread than this, the runtime defers none. */
#define DEFERRED_MAX 64

/* The begin of a block. The runtime writes its first two words and reads the third. */
struct loop_head {
	uint64_t bounds[2];
	void *reductions; /* the third word of the program's data */
	struct head head;
	const struct taskloop *loop;
	uint64_t step;
};

struct taskloop {
	struct loop_head head; /* the part that is the same in all blocks */
	struct call call;
	struct taskloop *outer;
	bool at_once;	     /* its tasks run one after the other */
	bool grouped;	     /* it has its own taskgroup */
	bool begun;	     /* that taskgroup has begun */
	bool waits;	     /* that taskgroup waits */
	uint64_t created_at; /* time of the last task, in ticks */
};

_Static_assert(offsetof(struct taskloop, head) == 0 &&
		       offsetof(struct loop_head, reductions) == 2 * sizeof(void *),
	       "where the runtime writes and reads");
#define LOOP_AFTER (sizeof(struct loop_head) - offsetof(struct loop_head, loop))

/* The taskloop whose call the thread is in. */
static __thread struct taskloop *open_loop __attribute__((tls_model("initial-exec")));

static void begin_wait(struct taskloop *loop)
{
	if (!loop->begun || loop->waits)
		return;
	loop->waits = true;
	shim__put_at(loop->call.local, loop->created_at,
		     SHIM_WORD(SHIM_WAIT_BEGIN, shim__site(loop->call.caller, SHIM_SITE_TASKGROUP),
			       RING_WAIT_TASKGROUP));
}

void gomp__taskloop_waits(void)
{
	if (UNLIKELY(open_loop && !open_loop->at_once))
		begin_wait(open_loop);
}

static void begin_group(struct taskloop *loop)
{
	if (!loop->grouped || loop->begun)
		return;
	SHIM_EVENT(loop->call.local, SHIM_GROUP_BEGIN, shim__site(loop->call.caller, SHIM_SITE_TASKGROUP), 0);
	loop->begun = true;
}

static void fill(const struct taskloop *loop, void *to)
{
	memcpy(to, &loop->head, sizeof(loop->head));
	gomp__fill(&loop->call, to);
}

static void copy(void *to, void *from)
{
	struct taskloop *loop = from;

	if (!loop->at_once) {
		begin_group(loop);
		gomp__created(&loop->call, SHIM_SITE_TASKLOOP);
	}
	fill(loop, to);
	if (loop->at_once)
		return;
	SHIM_EVENT(loop->call.local, SHIM_TASK_CREATE_END, 0, 0);
	loop->created_at = loop->call.local->ticks;
}

static void body(void *block)
{
	struct loop_head *in = block;
	struct head *head = &in->head;
	struct shim_local *local = shim__here();
	struct taskloop *loop = open_loop;
	void *payload;
	bool at_once;

	TAKE_OVER(block);
	at_once = loop && loop == in->loop && loop->at_once;
	payload = (char *)head + head->payload;
	memcpy(payload, in->bounds, sizeof(in->bounds));
	gomp__taskloop_waits();
	/* A taskloop that began in an earlier recording is not continued in another one. */
	if (!local || (at_once && loop->call.local != local)) {
		head->body(payload);
		return;
	}
	if (at_once) {
		begin_group(loop);
		gomp__created(&loop->call, SHIM_SITE_TASKLOOP);
		head->key = loop->call.head.key;
		/* A taskloop inside the body does not belong to this call. */
		open_loop = NULL;
	}
	gomp__begin_body(local, head);
	SHIM_EVENT2(local, SHIM_TASK_BOUNDS, 0, 0, in->bounds[0], in->bounds[1] - in->step);
	head->body(payload);
	gomp__end_body(local);
	if (!at_once)
		return;
	SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
	loop->created_at = local->ticks;
	open_loop = loop;
}

/* How many tasks the runtime will make from this many iterations. */
static ull count_tasks(const struct runtime *runtime, ull iterations, unsigned flags, unsigned long tasks)
{
	if (flags & GOMP_GRAINSIZE) {
		ull grains = tasks ? iterations / tasks : iterations;

		if (flags & GOMP_STRICT && tasks)
			grains += iterations % tasks != 0;
		return grains ? grains : 1;
	}
	if (!tasks)
		tasks = runtime__ask(runtime, RUNTIME_THREADS);
	return tasks < iterations ? tasks : iterations;
}

static bool runs_at_once(const struct runtime *runtime, ull iterations, unsigned flags, unsigned long tasks)
{
	return !(flags & GOMP_IF) || !runtime__ask(runtime, RUNTIME_LEVEL) ||
	       runtime__ask(runtime, RUNTIME_IN_FINAL) ||
	       count_tasks(runtime, iterations, flags, tasks) >
		       DEFERRED_MAX * (ull)runtime__ask(runtime, RUNTIME_THREADS);
}

/*
 * Records the begin; false: nothing is recorded. This takes the entry point's own arguments: the struct
 * that they go into is the taskloop.
 */
static bool begin(struct taskloop *loop, const struct binding *to, body_fn fn, void *data, copy_fn copier,
		  unsigned flags, uint64_t step, const void *caller)
{
	struct shim_local *local = runtime__here(to);
	uint32_t arg = (flags & GOMP_LOW_FLAGS) | RING_TASK_OF_TASKLOOP |
		       (flags & GOMP_NOGROUP ? RING_TASK_NOGROUP : 0);

	if (!local)
		return false;
	*loop = (struct taskloop){
		.head = {.loop = loop, .step = step},
		.call = {.head = {.body = fn, .arg = arg},
			 .data = data,
			 .copy = copier,
			 .local = local,
			 .caller = caller},
		.outer = open_loop,
		.grouped = !(flags & GOMP_NOGROUP),
	};
	if (flags & GOMP_REDUCTION)
		loop->head.reductions = ((void **)data)[2];
	SHIM_EVENT1(local, SHIM_TASKLOOP_BEGIN, shim__site(caller, SHIM_SITE_TASKLOOP), arg,
		    (uint64_t)(uintptr_t)fn);
	loop->created_at = local->ticks;
	open_loop = loop;
	local->children = true;
	return true;
}

static void end(struct taskloop *loop)
{
	struct shim_local *local = loop->call.local;

	open_loop = loop->outer;
	if (loop->begun) {
		begin_wait(loop);
		SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_TASKGROUP);
	}
	SHIM_EVENT(local, SHIM_TASKLOOP_END, 0, 0);
}

#define TASKLOOP(name, T, iterations)                                                                        \
	EXPORT void name(body_fn fn, void *data, copy_fn copier, long size, long align, unsigned flags,      \
			 unsigned long tasks, int priority, T start, T end_, T step)                         \
	{                                                                                                    \
		REAL(name, void, body_fn, void *, copy_fn, long, long, unsigned, unsigned long, int, T, T,   \
		     T);                                                                                     \
		struct taskloop loop;                                                                        \
		void *block = &loop;                                                                         \
                                                                                                             \
		if (!begin(&loop, to, fn, data, copier, flags, (uint64_t)step, CALLER)) {                    \
			real_##name(fn, data, copier, size, align, flags, tasks, priority, start, end_,      \
				    step);                                                                   \
			return;                                                                              \
		}                                                                                            \
		loop.at_once = runs_at_once(to->runtime, iterations, flags, tasks);                          \
		size = gomp__lay_out(&loop.call, offsetof(struct loop_head, head), LOOP_AFTER, size,         \
				     &align);                                                                \
		if (loop.at_once && !copier) {                                                               \
			block = alloca((size_t)(size + align));                                              \
			block = (void *)(((uintptr_t)block + (uintptr_t)align - 1) & -(uintptr_t)align);     \
			fill(&loop, block);                                                                  \
		}                                                                                            \
		real_##name(body, block, loop.at_once && !copier ? NULL : copy, size, align, flags, tasks,   \
			    priority, start, end_, step);                                                    \
		end(&loop);                                                                                  \
	}

static ull iterations(long start, long end, long step)
{
	if (step > 0)
		return start < end ? ((ull)end - (ull)start + (ull)step - 1) / (ull)step : 0;
	return start > end ? ((ull)start - (ull)end - (ull)step - 1) / (0 - (ull)step) : 0;
}

/* Counts downwards if the flags say so. */
static ull iterations_ull(unsigned flags, ull start, ull end, ull step)
{
	if (flags & (1u << 8))
		return start < end ? (end - start + step - 1) / step : 0;
	return start > end ? (start - end - step - 1) / (0 - step) : 0;
}

TASKLOOP(GOMP_taskloop, long, iterations(start, end_, step))
TASKLOOP(GOMP_taskloop_ull, ull, iterations_ull(flags, start, end_, step))
