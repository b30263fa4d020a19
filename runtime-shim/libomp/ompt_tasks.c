// SPDX-License-Identifier: BSD-2-Clause
/* Tasks as OMPT reports them: creations, dependences, bodies, events of detached tasks. */
#include "runtime-shim/libomp/kmpc.h"

#include <dlfcn.h>

/* The largest distance from OMPT's data word of a task to the task itself. */
#define TASK_AT_MAX 512

/* Distance from OMPT's data word of a task to the task as clang's code knows it; 0: not known yet. */
static ptrdiff_t task_at;

static bool is_of_runtime(kmpc_routine routine)
{
	Dl_info info;

	return dladdr((const void *)(uintptr_t)routine, &info) &&
	       info.dli_fbase == shim_process.libomp_recorded;
}

/* Finds a task that a taskloop has made, by its body; NULL: it cannot be found. */
static const struct kmpc_task *find_task(const union ompt_data *data)
{
	ptrdiff_t at = __atomic_load_n(&task_at, __ATOMIC_RELAXED);

	for (ptrdiff_t trial = 8; !at && trial < TASK_AT_MAX; trial += 8) {
		const struct kmpc_task *task = (const void *)((const char *)data + trial);

		if (kmpc__taskloop_of(task->routine) || kmpc__head_of(task) || is_of_runtime(task->routine))
			at = trial;
	}
	if (!at)
		return NULL;
	__atomic_store_n(&task_at, at, __ATOMIC_RELAXED);
	return (const void *)((const char *)data + at);
}

static uint32_t task_arg(uint32_t flags, bool depends)
{
	return (flags & OMPT_TASK_UNTIED ? RING_TASK_UNTIED : 0) |
	       (flags & OMPT_TASK_FINAL ? RING_TASK_FINAL : 0) |
	       (flags & OMPT_TASK_MERGEABLE ? RING_TASK_MERGEABLE : 0) |
	       (flags & OMPT_TASK_TARGET ? RING_TASK_TARGET : 0) | (depends ? RING_TASK_HAS_DEPEND : 0);
}

/* Records a creation. Returns the key that the new task gets. */
static uint64_t put_creation(struct shim_local *local, const void *caller, uint32_t kind, uint32_t arg)
{
	static uint64_t told;
	uint64_t word = SHIM_WORD(SHIM_TASK_CREATE, shim__site(caller, kind), arg), key;

	if (arg & RING_TASK_DETACH) {
		key = LIBOMP_KEY_TOLD | __atomic_add_fetch(&told, 1, __ATOMIC_RELAXED);
		shim__put(local, word, 1, key, 0, 0);
	} else {
		key = shim__next_key(local);
		shim__put_creation(local, word);
	}
	return key;
}

static uint64_t name(struct kmpc_head *head, uint64_t key)
{
	if (!head)
		return key << TASK_KEY_SHIFT;
	head->key = key;
	HAND_OVER(head);
	return key << TASK_KEY_SHIFT | TASK_BY_ITSELF;
}

/*
 * The taskloop of which a splitting task creates a part. The task's shareds begin with the task that all
 * tasks are copied from.
 */
static const struct kmpc_taskloop *loop_of_part(const struct kmpc_task *task)
{
	const struct kmpc_task *pattern = *(const struct kmpc_task *const *)task->shareds;
	const struct kmpc_head *head = kmpc__head_of(pattern);

	return kmpc__taskloop_of(head ? head->routine : pattern->routine);
}

/* The runtime itself makes the tasks of a taskloop, and the tasks that split it further. */
static void created_by_taskloop(struct shim_local *local, union ompt_data *data, uint32_t arg,
				const void *caller)
{
	const struct kmpc_task *task = find_task(data);
	struct kmpc_head *head = task ? kmpc__head_of(task) : NULL;
	const struct kmpc_taskloop *loop =
		task ? kmpc__taskloop_of(head ? head->routine : task->routine) : NULL;
	const struct kmpc_taskloop *whole = loop;
	uint64_t key;

	arg |= RING_TASK_OF_TASKLOOP | (head ? (uint32_t)head->arg : 0);
	if (task && !loop && !head && is_of_runtime(task->routine)) {
		arg |= RING_TASK_SPLIT;
		whole = loop_of_part(task);
	}
	key = put_creation(local, whole ? whole->caller : caller, SHIM_SITE_TASKLOOP, arg);
	ompt__keep(data, name(head, key));
	kmpc_thread.pending = key;
	if (loop)
		SHIM_EVENT2(local, SHIM_TASK_BOUNDS, 0, 0,
			    *(const uint64_t *)(const void *)((const char *)task + loop->lower_at),
			    *(const uint64_t *)(const void *)((const char *)task + loop->upper_at));
}

/* All creations, except that of a plain task by a call of the program. */
static __attribute__((noinline)) void create(union ompt_data *data, int flags, bool depends, const void *code)
{
	struct shim_local *local = shim__here();
	struct kmpc_call *call = kmpc_thread.call;
	uint32_t arg = task_arg((uint32_t)flags, depends);

	if (!local || flags & (OMPT_TASK_INITIAL | OMPT_TASK_TASKWAIT))
		return;
	kmpc__settle(local);
	if (!call || call->key) {
		created_by_taskloop(local, data, arg, ompt__site(code));
		return;
	}
	if (call->head)
		arg |= (uint32_t)call->head->arg;
	call->key = put_creation(local, call->caller, SHIM_SITE_TASK, arg);
	ompt__keep(data, name(call->head, call->key) | call->flags);
}

static void on_create(union ompt_data *parent, const struct ompt_frame *frame, union ompt_data *data,
		      int flags, int depends, const void *code)
{
	struct shim_local *local = shim__recording();
	struct kmpc_call *call = kmpc_thread.call;
	uint32_t site = 0;

	(void)parent, (void)frame;
	if (LIKELY(local && call && !call->key && !call->head && !kmpc_thread.pending && !depends &&
		   !((uint32_t)flags & OMPT_TASK_NOT_PLAIN)))
		site = shim__known_site(call->caller, SHIM_SITE_TASK);
	if (UNLIKELY(!site)) {
		create(data, flags, depends, code);
		return;
	}
	call->key = shim__next_key(local);
	ompt__keep(data, call->key << TASK_KEY_SHIFT | call->flags);
	shim__put_creation(local, SHIM_WORD(SHIM_TASK_CREATE, site, 0));
}

static uint32_t depend_kind(int kind)
{
	switch (kind) {
	case OMPT_DEPEND_IN:
		return RING_DEPEND_IN;
	case OMPT_DEPEND_OUT:
		return RING_DEPEND_OUT;
	case OMPT_DEPEND_INOUT:
		return RING_DEPEND_INOUT;
	case OMPT_DEPEND_MUTEXINOUTSET:
		return RING_DEPEND_MUTEXINOUTSET;
	case OMPT_DEPEND_INOUTSET:
		return RING_DEPEND_INOUTSET;
	case OMPT_DEPEND_OUT_ALL:
	case OMPT_DEPEND_INOUT_ALL:
		return RING_DEPEND_ALL;
	default:
		return 0;
	}
}

/* Dependences of a creation; those of waits and ordered loops are recorded elsewhere. */
static void on_dependences(union ompt_data *data, const struct ompt_dependence *list, int count)
{
	struct shim_local *local = shim__here();

	if (!local || !ompt__word(data))
		return;
	for (int i = 0; i < count; i++) {
		uint32_t kind = depend_kind(list[i].kind);

		if (kind)
			SHIM_EVENT1(local, SHIM_DEPEND, 0, kind, list[i].variable.value);
	}
}

void kmpc__end_pending(struct shim_local *local)
{
	const uint64_t creation = SHIM_WORD(SHIM_TASK_CREATE_END, 0, 0);
	uint64_t key = kmpc_thread.pending;
	struct kmpc_part part = kmpc_thread.part;

	kmpc_thread.pending = 0;
	kmpc_thread.part = (struct kmpc_part){0};
	/* The task may belong to an earlier recording. */
	if (key >> 40 != local->joined)
		return;
	if (LIKELY(!part.over)) {
		shim__put(local, creation, 0, 0, 0, 0);
		return;
	}
	shim__put_at(local, part.over, creation);
	shim__put_at(local, part.over, SHIM_WORD(SHIM_TASK_END, 0, 0));
	if (part.at_once)
		shim__put_at(local, part.over, creation);
}

bool kmpc__begins_at_once(struct shim_local *local, uint64_t key)
{
	if (LIKELY(!kmpc_thread.pending))
		return false;
	if (kmpc_thread.pending != key) {
		kmpc__settle(local);
		return false;
	}
	kmpc_thread.pending = 0;
	return true;
}

/* The task begins inside its pending creation, or after it. */
static __attribute__((noinline)) void begin_after_pending(struct shim_local *local, union ompt_data *data)
{
	uint64_t key = ompt__word(data) >> TASK_KEY_SHIFT;

	if (kmpc__begins_at_once(local, key))
		ompt__keep(data, ompt__word(data) | TASK_AT_ONCE);
	kmpc__begin_body(local, key);
}

static inline void begin(struct shim_local *local, union ompt_data *data, uint64_t word)
{
	ompt__keep(data, word | TASK_BEGUN);
	if (UNLIKELY(kmpc_thread.pending))
		begin_after_pending(local, data);
	else
		kmpc__begin_body(local, word >> TASK_KEY_SHIFT);
}

static __attribute__((noinline)) void end_slowly(struct shim_local *local, bool at_once)
{
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
	if (at_once)
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
}

/* A task that is discarded ends without having begun. */
static inline void end(struct shim_local *local, const union ompt_data *data)
{
	uint64_t word = ompt__word(data);

	if (!(word & TASK_BEGUN))
		return;
	if (UNLIKELY(kmpc_thread.pending || word & TASK_AT_ONCE))
		end_slowly(local, word & TASK_AT_ONCE);
	else
		SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
}

static inline __attribute__((always_inline)) void schedule(struct shim_local *local, union ompt_data *prior,
							   int status, union ompt_data *next)
{
	uint64_t word;

	/* The most frequent case comes first. */
	if (LIKELY(status == OMPT_TASK_SWITCH || status == OMPT_TASK_YIELD)) {
		word = next ? ompt__word(next) : 0;
		if (word && !(word & (TASK_BEGUN | TASK_BY_ITSELF)))
			begin(local, next, word);
	} else if (LIKELY(status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL ||
			  status == OMPT_TASK_DETACH)) {
		if (prior)
			end(local, prior);
	} else if (status == OMPT_TASK_EARLY_FULFILL || status == OMPT_TASK_LATE_FULFILL) {
		if (prior && ompt__word(prior))
			SHIM_EVENT1(local, SHIM_TASK_FULFILL, 0, 0, ompt__word(prior) >> TASK_KEY_SHIFT);
	}
}

/* This is the thread's first event, or there is nothing to record. */
static __attribute__((noinline)) void schedule_first(union ompt_data *prior, int status,
						     union ompt_data *next)
{
	struct shim_local *local = shim__here();

	if (local)
		schedule(local, prior, status, next);
}

static void on_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
	struct shim_local *local = shim__recording();

	if (LIKELY(local))
		schedule(local, prior, status, next);
	else
		schedule_first(prior, status, next);
}

void ompt_tasks__set(ompt_set_callback set)
{
	set(OMPT_TASK_CREATE, (ompt_function)(uintptr_t)on_create);
	set(OMPT_TASK_SCHEDULE, (ompt_function)(uintptr_t)on_schedule);
	set(OMPT_DEPENDENCES, (ompt_function)(uintptr_t)on_dependences);
}
