// SPDX-License-Identifier: BSD-2-Clause
/*
 * Taskloops of a libomp that is recorded only at its entry points. The runtime makes their tasks itself, as
 * copies of one task that the program has made. We see these copies, because the runtime then calls the
 * program's copy function, and that is ours.
 *
 * For many tasks, the runtime makes tasks of its own that each make a part of the others. For each of these
 * it copies the program's task once more. Such a copy begins where the rest is cut off. A task that will
 * run begins where its original begins. This tells the two apart. A task of the runtime is seen from the
 * first copy that it makes to the last.
 */
#include "runtime-shim/attach/kmpc_attached.h"

static uint64_t number_at(const struct kmpc_task *task, int32_t at)
{
	return *(const uint64_t *)(const void *)((const char *)task + at);
}

/*
 * The splitting task of this part of the taskloop has begun, if the part has one. An open creation has
 * ended.
 */
static void begin_part(struct shim_local *local, struct attached_head *pattern)
{
	if (LIKELY(!pattern->other || pattern->state & ATTACHED_BEGUN)) {
		kmpc__settle(local);
		return;
	}
	pattern->state |= ATTACHED_BEGUN;
	if (kmpc__begins_at_once(local, pattern->other))
		pattern->state |= ATTACHED_AT_ONCE;
	kmpc__begin_body(local, pattern->other);
}

static bool is_last(const struct attached_head *pattern, uint64_t upper, uint64_t end)
{
	return pattern->step > 0 ? end - upper < (uint64_t)pattern->step
				 : upper - end < (uint64_t)0 - (uint64_t)pattern->step;
}

/* A task of the runtime will create the part of the taskloop's tasks that `head` belongs to. */
static void create_part(struct shim_local *local, struct attached_head *head)
{
	uint64_t key = head->key;

	attached__create(local, head, shim__site(head->caller, SHIM_SITE_TASKLOOP),
			 RING_TASK_OF_TASKLOOP | RING_TASK_SPLIT);
	head->other = head->key;
	head->key = key;
	HAND_OVER(head);
	kmpc_thread.pending = head->other;
}

static void copy(struct kmpc_task *to, struct kmpc_task *from, int32_t last)
{
	struct attached_head *head = attached__head_of(to), *pattern = attached__head_of(from);
	struct shim_local *local = shim__here();
	uint64_t lower, upper;

	TAKE_OVER(pattern);
	TAKE_OVER(to);
	head->state = 0;
	head->other = 0;
	if (local && pattern->session != local->session)
		local = NULL;
	if (local)
		begin_part(local, pattern);
	if (pattern->copy)
		pattern->copy(to, from, last);
	if (!local) {
		HAND_OVER(head);
		return;
	}
	lower = number_at(to, pattern->lower_at);
	if (!(pattern->state & ATTACHED_SPAWNS) && lower != number_at(from, pattern->lower_at)) {
		create_part(local, head);
		return;
	}
	pattern->state |= ATTACHED_SPAWNS;
	upper = number_at(to, pattern->upper_at);
	attached__create(local, head, shim__site(pattern->caller, SHIM_SITE_TASKLOOP),
			 pattern->arg | RING_TASK_OF_TASKLOOP);
	kmpc_thread.pending = head->key;
	SHIM_EVENT2(local, SHIM_TASK_BOUNDS, 0, 0, lower, upper);
	if (pattern->other && is_last(pattern, upper, number_at(from, pattern->upper_at)))
		kmpc_thread.part = (struct kmpc_part){.over = shim__ticks(),
						      .frame = (uintptr_t)__builtin_frame_address(0),
						      .at_once = pattern->state & ATTACHED_AT_ONCE};
}

/*
 * The functions of the runtime that a taskloop calls. They are called here as the runtime's code would call
 * them.
 */
static void call(struct binding **bindings, const char *name, const void *caller, struct kmpc_location *loc,
		 int32_t thread)
{
	const struct binding *to = runtime__bind(bindings, name, caller);

	((void (*)(struct kmpc_location *, int32_t))(uintptr_t)to->function)(loc, thread);
}

static void begin_group(struct shim_local *local, const void *caller, struct kmpc_location *loc,
			int32_t thread)
{
	static struct binding *bindings;

	SHIM_EVENT(local, SHIM_GROUP_BEGIN, shim__site(caller, SHIM_SITE_TASKGROUP), 0);
	call(&bindings, "__kmpc_taskgroup", caller, loc, thread);
}

static void end_group(struct shim_local *local, const void *caller, struct kmpc_location *loc, int32_t thread)
{
	static struct binding *bindings;

	shim__wait_begin(local, RING_WAIT_TASKGROUP, caller, SHIM_SITE_TASKGROUP);
	call(&bindings, "__kmpc_end_taskgroup", caller, loc, thread);
	shim__wait_end(local, RING_WAIT_TASKGROUP);
}

/* This takes the entry point's own arguments: the struct that they go into is the head. */
static void begin_taskloop(struct shim_local *local, struct attached_head *head, const struct kmpc_task *task,
			   const uint64_t *lower, const uint64_t *upper, int64_t step, attached_copy copier,
			   const void *caller)
{
	kmpc__settle(local);
	head->session = local->session;
	head->caller = caller;
	head->copy = copier;
	head->step = step;
	head->lower_at = (int32_t)((const char *)lower - (const char *)task);
	head->upper_at = (int32_t)((const char *)upper - (const char *)task);
	HAND_OVER(head);
	SHIM_EVENT1(local, SHIM_TASKLOOP_BEGIN, shim__site(caller, SHIM_SITE_TASKLOOP), RING_TASK_OF_TASKLOOP,
		    (uint64_t)(uintptr_t)head->routine);
}

/*
 * The runtime would put a taskgroup around the taskloop. It is called here instead, so that its wait is
 * seen.
 */
#define TASKLOOP(name, parameters, arguments, unseen, ...)                                                   \
	static void attached_##name parameters                                                               \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		struct attached_head *head;                                                                  \
		bool group = !nogroup;                                                                       \
		REAL(name, void, __VA_ARGS__);                                                               \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		head = local ? attached__head_of(task) : NULL;                                               \
		if (!head) {                                                                                 \
			real_##name unseen;                                                                  \
			return;                                                                              \
		}                                                                                            \
		begin_taskloop(local, head, task, lower, upper, step, copier, CALLER);                       \
		if (group)                                                                                   \
			begin_group(local, CALLER, loc, thread);                                             \
		real_##name arguments;                                                                       \
		if (shim__goes_on(local))                                                                    \
			kmpc__settle(local);                                                                 \
		if (group)                                                                                   \
			end_group(local, CALLER, loc, thread);                                               \
		if (shim__goes_on(local))                                                                    \
			SHIM_EVENT(local, SHIM_TASKLOOP_END, 0, 0);                                          \
	}

TASKLOOP(__kmpc_taskloop,
	 (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task, int32_t condition,
	  uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup, int32_t schedule, uint64_t size,
	  attached_copy copier),
	 (loc, thread, task, condition, lower, upper, step, 1, schedule, size, copy),
	 (loc, thread, task, condition, lower, upper, step, nogroup, schedule, size, copier),
	 struct kmpc_location *, int32_t, struct kmpc_task *, int32_t, uint64_t *, uint64_t *, int64_t,
	 int32_t, int32_t, uint64_t, attached_copy)
TASKLOOP(__kmpc_taskloop_5,
	 (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task, int32_t condition,
	  uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup, int32_t schedule, uint64_t size,
	  int32_t modifier, attached_copy copier),
	 (loc, thread, task, condition, lower, upper, step, 1, schedule, size, modifier, copy),
	 (loc, thread, task, condition, lower, upper, step, nogroup, schedule, size, modifier, copier),
	 struct kmpc_location *, int32_t, struct kmpc_task *, int32_t, uint64_t *, uint64_t *, int64_t,
	 int32_t, int32_t, uint64_t, int32_t, attached_copy)

const struct kmpc_entry kmpc_attached_taskloops[] = {
	KMPC_ENTRY(__kmpc_taskloop),
	KMPC_ENTRY(__kmpc_taskloop_5),
	{NULL, NULL},
};
