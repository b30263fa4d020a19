// SPDX-License-Identifier: BSD-2-Clause
/*
 * Taskloops of a libomp that is recorded by its entry points alone. The runtime
 * makes their tasks out of sight, as copies of one that the program has made; but
 * it calls the function that copies what the program keeps in them, which is ours.
 *
 * Where there are many, it makes tasks of its own that make a part of them each,
 * for which it copies the program's once more. Such a copy begins where the rest
 * is cut off, while the tasks that are to run begin where what they are copied from
 * does: that tells them apart. The runtime's own tasks are seen from the first copy
 * that they make to the last.
 */
#include "runtime-shim/kmpc_alone.h"

static uint64_t number_at(const struct kmpc_task *task, int32_t at)
{
	return *(const uint64_t *)(const void *)((const char *)task + at);
}

/* What makes this part of the taskloop's tasks has begun, if it is a task; a creation before is over. */
static void begin_part(struct shim_local *local, struct alone_head *pattern)
{
	if (LIKELY(!pattern->other || pattern->state & ALONE_BEGUN)) {
		kmpc__settle(local);
		return;
	}
	pattern->state |= ALONE_BEGUN;
	if (kmpc__begins_at_once(local, pattern->other))
		pattern->state |= ALONE_AT_ONCE;
	kmpc__begin_body(local, pattern->other);
}

static bool is_last(const struct alone_head *pattern, uint64_t upper, uint64_t end)
{
	return pattern->step > 0 ? end - upper < (uint64_t)pattern->step
				 : upper - end < (uint64_t)0 - (uint64_t)pattern->step;
}

/* A task of the runtime's will make the part of the taskloop's tasks that `head` is for. */
static void create_part(struct shim_local *local, struct alone_head *head)
{
	uint64_t key = head->key;

	alone__create(local, head, shim__site(head->caller, SHIM_SITE_TASKLOOP),
		      RING_TASK_OF_TASKLOOP | RING_TASK_SPLIT);
	head->other = head->key;
	head->key = key;
	HAND_OVER(head);
	kmpc_thread.pending = head->other;
}

static void copy(struct kmpc_task *to, struct kmpc_task *from, int32_t last)
{
	struct alone_head *head = alone__head_of(to), *pattern = alone__head_of(from);
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
	if (!(pattern->state & ALONE_SPAWNS) && lower != number_at(from, pattern->lower_at)) {
		create_part(local, head);
		return;
	}
	pattern->state |= ALONE_SPAWNS;
	upper = number_at(to, pattern->upper_at);
	alone__create(local, head, shim__site(pattern->caller, SHIM_SITE_TASKLOOP),
		      pattern->arg | RING_TASK_OF_TASKLOOP);
	kmpc_thread.pending = head->key;
	SHIM_EVENT2(local, SHIM_TASK_BOUNDS, 0, 0, lower, upper);
	if (pattern->other && is_last(pattern, upper, number_at(from, pattern->upper_at)))
		kmpc_thread.part = (struct kmpc_part){.over = shim__ticks(),
						      .frame = (uintptr_t)__builtin_frame_address(0),
						      .at_once = pattern->state & ALONE_AT_ONCE};
}

/* The functions of the runtime that a taskloop calls, as its code would. */
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

	gomp__wait_begin(local, RING_WAIT_TASKGROUP, caller, SHIM_SITE_TASKGROUP);
	call(&bindings, "__kmpc_end_taskgroup", caller, loc, thread);
	gomp__wait_end(local, RING_WAIT_TASKGROUP);
}

static void begin_taskloop(struct shim_local *local, struct alone_head *head, const struct kmpc_task *task,
			   const uint64_t *lower, const uint64_t *upper, int64_t step, alone_copy copier,
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

/* The taskgroup that the runtime would have around it is called here, so that its wait is seen. */
#define TASKLOOP(name, parameters, arguments, unseen, ...)                                                   \
	static void alone_##name parameters                                                                  \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		struct alone_head *head;                                                                     \
		bool group = !nogroup;                                                                       \
		REAL(name, void, __VA_ARGS__);                                                               \
                                                                                                             \
		local = kmpc__here(to);                                                                      \
		head = local ? alone__head_of(task) : NULL;                                                  \
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
	  alone_copy copier),
	 (loc, thread, task, condition, lower, upper, step, 1, schedule, size, copy),
	 (loc, thread, task, condition, lower, upper, step, nogroup, schedule, size, copier),
	 struct kmpc_location *, int32_t, struct kmpc_task *, int32_t, uint64_t *, uint64_t *, int64_t,
	 int32_t, int32_t, uint64_t, alone_copy)
TASKLOOP(__kmpc_taskloop_5,
	 (struct kmpc_location * loc, int32_t thread, struct kmpc_task *task, int32_t condition,
	  uint64_t *lower, uint64_t *upper, int64_t step, int32_t nogroup, int32_t schedule, uint64_t size,
	  int32_t modifier, alone_copy copier),
	 (loc, thread, task, condition, lower, upper, step, 1, schedule, size, modifier, copy),
	 (loc, thread, task, condition, lower, upper, step, nogroup, schedule, size, modifier, copier),
	 struct kmpc_location *, int32_t, struct kmpc_task *, int32_t, uint64_t *, uint64_t *, int64_t,
	 int32_t, int32_t, uint64_t, int32_t, alone_copy)

const struct kmpc_entry kmpc_alone_taskloops[] = {
	KMPC_ENTRY(__kmpc_taskloop),
	KMPC_ENTRY(__kmpc_taskloop_5),
	{NULL, NULL},
};
