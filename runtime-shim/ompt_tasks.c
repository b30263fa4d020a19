// SPDX-License-Identifier: BSD-2-Clause
/* Tasks as libomp tells of them: creations, what depends, bodies, events of detached ones. */
#include "runtime-shim/kmpc.h"

#include <dlfcn.h>

/* A task lies this far behind what libomp keeps for the tool, at most. */
#define TASK_AT_MAX 512

/* From what libomp keeps of a task for the tool to the task, as clang's code knows it; 0: not known yet. */
static ptrdiff_t task_at;

static bool is_of_runtime(kmpc_routine routine)
{
	Dl_info info;

	return dladdr((const void *)(uintptr_t)routine, &info) && info.dli_fbase == ompt_runtime;
}

/* A task that a taskloop has made, known by its body; NULL: it cannot be found. */
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

/* The key that the new task gets. */
static uint64_t put_creation(struct shim_local *local, const void *caller, uint32_t kind, uint32_t arg)
{
	static uint64_t told;
	uint64_t key;

	if (LIKELY(!(arg & RING_TASK_DETACH))) {
		SHIM_EVENT(local, SHIM_TASK_CREATE, shim__site(caller, kind), arg);
		return SHIM_TASK_KEY(local->joined, ++local->created);
	}
	key = KMPC_KEY_TOLD | __atomic_add_fetch(&told, 1, __ATOMIC_RELAXED);
	SHIM_EVENT1(local, SHIM_TASK_CREATE, shim__site(caller, kind), arg, key);
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

/* The taskloop that a task of the runtime's own makes a part of: what it shares begins with the task that all
 * are made from. */
static const struct kmpc_taskloop *loop_of_part(const struct kmpc_task *task)
{
	const struct kmpc_task *pattern = *(const struct kmpc_task *const *)task->shareds;
	const struct kmpc_head *head = kmpc__head_of(pattern);

	return kmpc__taskloop_of(head ? head->routine : pattern->routine);
}

/* The runtime makes the tasks of a taskloop, and what splits it further, itself. */
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

static void on_create(union ompt_data *parent, const struct ompt_frame *frame, union ompt_data *data,
		      int flags, int depends, const void *code)
{
	struct shim_local *local = shim__here();
	struct kmpc_call *call = kmpc_thread.call;
	uint32_t arg = task_arg((uint32_t)flags, depends);

	(void)parent, (void)frame;
	if (!local || flags & (OMPT_TASK_INITIAL | OMPT_TASK_TASKWAIT))
		return;
	kmpc__settle(local);
	if (UNLIKELY(!call || call->key)) {
		created_by_taskloop(local, data, arg, ompt__site(code));
		return;
	}
	if (UNLIKELY(call->head))
		arg |= (uint32_t)call->head->arg;
	call->key = put_creation(local, call->caller, SHIM_SITE_TASK, arg);
	ompt__keep(data, name(call->head, call->key) | call->flags);
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

/* Those of a creation; what waits and what loops are ordered by is told elsewhere. */
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

void kmpc__begin_body(struct shim_local *local, uint64_t key)
{
	uint64_t ago = SHIM_TASK_KEY(local->joined, local->created) - key + 1;

	if (LIKELY(ago - 1 < SHIM_ARG_MAX))
		SHIM_EVENT(local, SHIM_TASK_BEGIN, 0, ago);
	else
		SHIM_EVENT1(local, SHIM_TASK_BEGIN, 0, 0, key);
}

void kmpc__end_pending(struct shim_local *local)
{
	const uint64_t creation = SHIM_WORD(SHIM_TASK_CREATE_END, 0, 0);
	uint64_t key = kmpc_thread.pending;
	struct kmpc_part part = kmpc_thread.part;

	kmpc_thread.pending = 0;
	kmpc_thread.part = (struct kmpc_part){0};
	/* It may be of an earlier recording. */
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

static void begin(struct shim_local *local, union ompt_data *data)
{
	uint64_t key = ompt__word(data) >> TASK_KEY_SHIFT;

	ompt__keep(data, ompt__word(data) | TASK_BEGUN);
	if (UNLIKELY(kmpc__begins_at_once(local, key)))
		ompt__keep(data, ompt__word(data) | TASK_AT_ONCE);
	kmpc__begin_body(local, key);
}

/* One that is discarded ends without having begun. */
static void end(struct shim_local *local, const union ompt_data *data)
{
	if (!(ompt__word(data) & TASK_BEGUN))
		return;
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
	if (UNLIKELY(ompt__word(data) & TASK_AT_ONCE))
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
}

static void on_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
	struct shim_local *local = shim__here();

	if (!local)
		return;
	switch (status) {
	case OMPT_TASK_COMPLETE:
	case OMPT_TASK_CANCEL:
	case OMPT_TASK_DETACH:
		if (prior)
			end(local, prior);
		break;
	case OMPT_TASK_YIELD:
	case OMPT_TASK_SWITCH:
		if (next && ompt__word(next) && !(ompt__word(next) & (TASK_BEGUN | TASK_BY_ITSELF)))
			begin(local, next);
		break;
	case OMPT_TASK_EARLY_FULFILL:
	case OMPT_TASK_LATE_FULFILL:
		if (prior && ompt__word(prior))
			SHIM_EVENT1(local, SHIM_TASK_FULFILL, 0, 0, ompt__word(prior) >> TASK_KEY_SHIFT);
		break;
	default:
		break;
	}
}

void ompt_tasks__set(ompt_set_callback set)
{
	set(OMPT_TASK_CREATE, (ompt_function)(uintptr_t)on_create);
	set(OMPT_TASK_SCHEDULE, (ompt_function)(uintptr_t)on_schedule);
	set(OMPT_DEPENDENCES, (ompt_function)(uintptr_t)on_dependences);
}
