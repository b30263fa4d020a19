// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tasks and taskloops at libomp's entry points. They show what OMPT does not report: when a creation is
 * over, which construct creates, the parts of untied tasks, priorities, and which tasks will be detached.
 * The body of a task with such a property is replaced by one that records when it runs. A head between the
 * task and its shareds holds the program's body.
 */
#include "runtime-shim/libomp/kmpc.h"

enum kmpc_task_flags {
	KMPC_TASK_TIED = 1 << 0,
	KMPC_TASK_PRIORITY = 1 << 5,
	KMPC_TASK_DETACHABLE = 1 << 6,
	KMPC_TASK_ANY_THREAD = 1 << 7,
};

#define TASKLOOPS 1024u

__thread struct kmpc_thread kmpc_thread __attribute__((tls_model("initial-exec")));

static struct {
	struct kmpc_taskloop taskloops[TASKLOOPS]; /* placed by the hash of the routine */
	struct binding *alloc_bindings;		   /* bindings of __kmpc_omp_task_alloc */
} creations;

static int32_t body(int32_t thread, void *task);

struct kmpc_head *kmpc__head_of(const struct kmpc_task *task)
{
	return UNLIKELY(task->routine == body) ? (struct kmpc_head *)task->shareds - 1 : NULL;
}

static int32_t body(int32_t thread, void *task)
{
	struct kmpc_head *head = (struct kmpc_head *)((struct kmpc_task *)task)->shareds - 1;
	struct shim_local *local;
	kmpc_routine routine;
	bool at_once;
	int32_t result;

	TAKE_OVER(head);
	local = head->key ? shim__here() : NULL;
	at_once = local && kmpc__begins_at_once(local, head->key);
	if (local)
		kmpc__begin_body(local, head->key);
	routine = head->routine;
	HAND_OVER(head);
	result = routine(thread, task);
	if (!local)
		return result;
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
	if (at_once)
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
	return result;
}

static const void *creation_site(const struct binding *to, const void *caller, const struct kmpc_task *task)
{
	const struct kmpc_head *head = kmpc__head_of(task);

	return kmpc__site(to, caller, head ? head->routine : task->routine);
}

typedef struct kmpc_task *(*alloc_fn)(struct kmpc_location *loc, int32_t thread, int32_t flags, size_t size,
				      size_t shared, kmpc_routine routine);

/* Whether OMPT reports everything about the task's body. */
static bool is_told(int32_t flags)
{
	return LIKELY(flags & KMPC_TASK_TIED &&
		      !(flags & (KMPC_TASK_PRIORITY | KMPC_TASK_DETACHABLE | KMPC_TASK_ANY_THREAD)));
}

static uint64_t arg_of(int32_t flags)
{
	return (flags & KMPC_TASK_PRIORITY ? RING_TASK_PRIORITY : 0) |
	       (flags & KMPC_TASK_DETACHABLE ? RING_TASK_DETACH : 0) |
	       (flags & KMPC_TASK_ANY_THREAD ? RING_TASK_ANY_THREAD : 0);
}

static size_t with_head(size_t size)
{
	return ((size + 7) & ~(size_t)7) + sizeof(struct kmpc_head);
}

/* Fills the head of a task that was allocated with one. */
static struct kmpc_task *fill(struct kmpc_task *task, kmpc_routine routine, uint64_t arg)
{
	struct kmpc_head *head = kmpc__head_of(task);

	TAKE_OVER(head);
	head->routine = routine;
	head->key = 0;
	head->arg = arg;
	return task;
}

static __attribute__((noinline)) struct kmpc_task *allocate(struct kmpc_location *loc, int32_t thread,
							    int32_t flags, size_t size, size_t shared,
							    kmpc_routine routine, const void *caller)
{
	const struct binding *to = runtime__bind(&creations.alloc_bindings, "__kmpc_omp_task_alloc", caller);
	alloc_fn real = (alloc_fn)(uintptr_t)to->function;

	if (is_told(flags) || !libomp__here(to))
		return real(loc, thread, flags, size, shared, routine);
	return fill(real(loc, thread, flags, with_head(size), shared ? shared : 8, body), routine,
		    arg_of(flags));
}

/* Most tasks use this: the call is passed on unchanged, without saving anything. */
EXPORT struct kmpc_task *__kmpc_omp_task_alloc(struct kmpc_location *loc, int32_t thread, int32_t flags,
					       size_t size, size_t shared, kmpc_routine routine)
{
	const struct binding *to = __atomic_load_n(&creations.alloc_bindings, __ATOMIC_ACQUIRE);

	if (LIKELY(is_told(flags) && to && runtime__binds(to, CALLER)))
		return ((alloc_fn)(uintptr_t)to->function)(loc, thread, flags, size, shared, routine);
	return allocate(loc, thread, flags, size, shared, routine, CALLER);
}

/* The runtime's own threads may run this task. */
EXPORT struct kmpc_task *__kmpc_omp_target_task_alloc(struct kmpc_location *loc, int32_t thread,
						      int32_t flags, size_t size, size_t shared,
						      kmpc_routine routine, int64_t device)
{
	REAL(__kmpc_omp_target_task_alloc, struct kmpc_task *, struct kmpc_location *, int32_t, int32_t,
	     size_t, size_t, kmpc_routine, int64_t);

	if (!libomp__here(to))
		return real___kmpc_omp_target_task_alloc(loc, thread, flags, size, shared, routine, device);
	return fill(real___kmpc_omp_target_task_alloc(loc, thread, flags, with_head(size),
						      shared ? shared : 8, body, device),
		    routine, arg_of(flags) | RING_TASK_TARGET | RING_TASK_ANY_THREAD);
}

/* The thread hands the next part of a task to the runtime, which may run and free the task at once. */
static void put_next_part(struct shim_local *local, struct kmpc_call *call)
{
	call->key = call->head->key;
	SHIM_EVENT1(local, SHIM_TASK_CREATE, shim__site(call->caller, SHIM_SITE_TASK), SHIM_TASK_KEYED,
		    call->key);
	HAND_OVER(call->head);
}

#define CREATE(name, parameters, arguments, ...)                                                             \
	EXPORT int32_t name parameters                                                                       \
	{                                                                                                    \
		struct kmpc_call call = {0}, *outer;                                                         \
		struct shim_local *local;                                                                    \
		int32_t result;                                                                              \
		REAL(name, int32_t, __VA_ARGS__);                                                            \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		if (!local)                                                                                  \
			return real_##name arguments;                                                        \
		kmpc__settle(local);                                                                         \
		call.caller = creation_site(to, CALLER, task);                                               \
		call.head = kmpc__head_of(task);                                                             \
		if (UNLIKELY(call.head && call.head->key))                                                   \
			put_next_part(local, &call);                                                         \
		outer = kmpc_thread.call;                                                                    \
		kmpc_thread.call = &call;                                                                    \
		result = real_##name arguments;                                                              \
		kmpc_thread.call = outer;                                                                    \
		if (LIKELY(call.key))                                                                        \
			SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);                                       \
		return result;                                                                               \
	}

CREATE(__kmpc_omp_task, (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task),
       (loc, thread, task), struct kmpc_location *, int32_t, struct kmpc_task *)
CREATE(__kmpc_omp_task_parts, (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task),
       (loc, thread, task), struct kmpc_location *, int32_t, struct kmpc_task *)
CREATE(__kmpc_omp_task_with_deps,
       (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task, int32_t count, void *list,
	int32_t count2, void *list2),
       (loc, thread, task, count, list, count2, list2), struct kmpc_location *, int32_t, struct kmpc_task *,
       int32_t, void *, int32_t, void *)

/* The program itself runs the body between these two calls. */
EXPORT void __kmpc_omp_task_begin_if0(struct kmpc_location *loc, int32_t thread, struct kmpc_task *task)
{
	struct kmpc_call call = {.flags = TASK_AT_ONCE}, *outer;
	struct shim_local *local;
	REAL(__kmpc_omp_task_begin_if0, void, struct kmpc_location *, int32_t, struct kmpc_task *);

	local = libomp__here(to);
	if (!local) {
		real___kmpc_omp_task_begin_if0(loc, thread, task);
		return;
	}
	call.caller = creation_site(to, CALLER, task);
	call.head = kmpc__head_of(task);
	outer = kmpc_thread.call;
	kmpc_thread.call = &call;
	real___kmpc_omp_task_begin_if0(loc, thread, task);
	kmpc_thread.call = outer;
	if (call.head && call.key)
		kmpc__begin_body(local, call.key);
}

EXPORT void __kmpc_omp_task_complete_if0(struct kmpc_location *loc, int32_t thread, struct kmpc_task *task)
{
	const struct kmpc_head *head;
	struct shim_local *local;
	REAL(__kmpc_omp_task_complete_if0, void, struct kmpc_location *, int32_t, struct kmpc_task *);

	local = libomp__here(to);
	head = local ? kmpc__head_of(task) : NULL;
	if (head && head->key) {
		SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
	}
	real___kmpc_omp_task_complete_if0(loc, thread, task);
}

/* ---- taskloops -------------------------------------------------------- */

/* Stands in place of a function while the entry is being written. */
#define BEING_WRITTEN ((kmpc_routine)(uintptr_t)creations.taskloops)

/* The entry of the routine, or a free one; NULL: there is none. */
static struct kmpc_taskloop *place_of(kmpc_routine routine)
{
	uint64_t hash = (uint64_t)(uintptr_t)routine * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (uint32_t i = 0; i < TASKLOOPS; i++) {
		struct kmpc_taskloop *loop = &creations.taskloops[(hash + i) % TASKLOOPS];
		kmpc_routine its = __atomic_load_n(&loop->routine, __ATOMIC_ACQUIRE);

		if (its == routine || !its)
			return loop;
	}
	return NULL;
}

const struct kmpc_taskloop *kmpc__taskloop_of(kmpc_routine routine)
{
	const struct kmpc_taskloop *loop = routine ? place_of(routine) : NULL;

	return loop && __atomic_load_n(&loop->routine, __ATOMIC_ACQUIRE) ? loop : NULL;
}

/*
 * All threads write the same values here. So the child of a fork never has to wait for a thread that it
 * does not have.
 */
static void keep(kmpc_routine routine, const void *caller, ptrdiff_t lower_at, ptrdiff_t upper_at)
{
	for (uint32_t tries = 0; tries < TASKLOOPS; tries++) {
		struct kmpc_taskloop *loop = place_of(routine);
		kmpc_routine its = NULL;

		if (!loop || __atomic_load_n(&loop->routine, __ATOMIC_RELAXED) == routine)
			return;
		if (!__atomic_compare_exchange_n(&loop->routine, &its, BEING_WRITTEN, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		loop->caller = caller;
		loop->lower_at = lower_at;
		loop->upper_at = upper_at;
		__atomic_store_n(&loop->routine, routine, __ATOMIC_RELEASE);
		return;
	}
}

struct opened {
	struct kmpc_call *call;
	const void *caller;
};

static struct opened begin_taskloop(struct shim_local *local, const struct kmpc_task *task,
				    const uint64_t *lower, const uint64_t *upper, const void *caller)
{
	const struct kmpc_head *head = kmpc__head_of(task);
	kmpc_routine routine = head ? head->routine : task->routine;
	struct opened opened = {kmpc_thread.call, kmpc_thread.caller};

	kmpc__settle(local);
	if (!kmpc__taskloop_of(routine))
		keep(routine, caller, (const char *)lower - (const char *)task,
		     (const char *)upper - (const char *)task);
	SHIM_EVENT1(local, SHIM_TASKLOOP_BEGIN, shim__site(caller, SHIM_SITE_TASKLOOP), RING_TASK_OF_TASKLOOP,
		    (uint64_t)(uintptr_t)routine);
	kmpc_thread.call = NULL;
	kmpc_thread.caller = caller;
	return opened;
}

static void end_taskloop(struct shim_local *local, struct opened opened)
{
	kmpc__settle(local);
	kmpc_thread.call = opened.call;
	kmpc_thread.caller = opened.caller;
	SHIM_EVENT(local, SHIM_TASKLOOP_END, 0, 0);
}

#define TASKLOOP(name, parameters, arguments, ...)                                                           \
	EXPORT void name parameters                                                                          \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		struct opened opened;                                                                        \
		REAL(name, void, __VA_ARGS__);                                                               \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		if (!local) {                                                                                \
			real_##name arguments;                                                               \
			return;                                                                              \
		}                                                                                            \
		opened = begin_taskloop(local, task, lower, upper, creation_site(to, CALLER, task));         \
		real_##name arguments;                                                                       \
		end_taskloop(local, opened);                                                                 \
	}

TASKLOOP(__kmpc_taskloop,
	 (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task, int32_t condition,
	  uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup, int32_t schedule, uint64_t size,
	  void *copy),
	 (loc, thread, task, condition, lower, upper, step, nogroup, schedule, size, copy),
	 struct kmpc_location *, int32_t, struct kmpc_task *, int32_t, uint64_t *, uint64_t *, int64_t,
	 int32_t, int32_t, uint64_t, void *)
TASKLOOP(__kmpc_taskloop_5,
	 (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task, int32_t condition,
	  uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup, int32_t schedule, uint64_t size,
	  int32_t modifier, void *copy),
	 (loc, thread, task, condition, lower, upper, step, nogroup, schedule, size, modifier, copy),
	 struct kmpc_location *, int32_t, struct kmpc_task *, int32_t, uint64_t *, uint64_t *, int64_t,
	 int32_t, int32_t, uint64_t, int32_t, void *)
