// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tasks of a libomp that is recorded only at its entry points. Every task gets a body that records when it
 * runs, and a head with the program's body. This also works without a recording, because tasks may outlive
 * the recording in which they began.
 */
#include "runtime-shim/attach/kmpc_attached.h"

enum kmpc_task_flags {
	KMPC_TASK_TIED = 1 << 0,
	KMPC_TASK_FINAL = 1 << 1,
	KMPC_TASK_MERGEABLE = 1 << 2,
	KMPC_TASK_PRIORITY = 1 << 5,
	KMPC_TASK_DETACHABLE = 1 << 6,
	KMPC_TASK_ANY_THREAD = 1 << 7,
};

static int32_t body(int32_t thread, void *task);

struct attached_head *attached__head_of(const struct kmpc_task *task)
{
	return LIKELY(task->routine == body) ? (struct attached_head *)task->shareds - 1 : NULL;
}

/*
 * A taskloop ran the current task inside its creation. If the task is the last one of a part, that part has
 * ended, too.
 */
static void end_creation(struct shim_local *local, struct kmpc_part part)
{
	SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
	if (!part.over)
		return;
	SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
	if (part.at_once)
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
}

static int32_t body(int32_t thread, void *task)
{
	struct attached_head *head = (struct attached_head *)((struct kmpc_task *)task)->shareds - 1;
	struct kmpc_part part = {0};
	struct shim_local *local;
	kmpc_routine routine;
	bool at_once = false;
	int32_t result;

	TAKE_OVER(head);
	local = head->key ? shim__here() : NULL;
	/* A task of an earlier recording does not count. */
	if (local && head->session != local->session)
		local = NULL;
	if (local) {
		/* The task begins after the call that has made it, not inside that call. */
		if (UNLIKELY(kmpc_thread.part.over) &&
		    (uintptr_t)__builtin_frame_address(0) > kmpc_thread.part.frame)
			kmpc__settle(local);
		at_once = kmpc__begins_at_once(local, head->key);
		kmpc__begin_body(local, head->key);
	}
	if (UNLIKELY(at_once)) {
		part = kmpc_thread.part;
		kmpc_thread.part = (struct kmpc_part){0};
	}
	head->state |= ATTACHED_BEGUN;
	routine = head->routine;
	HAND_OVER(head);
	HAND_OVER(task);
	/* The task may be freed by then: an untied task has other parts. */
	result = routine(thread, task);
	if (!shim__goes_on(local))
		return result;
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
	if (UNLIKELY(at_once))
		end_creation(local, part);
	return result;
}

void attached__create(struct shim_local *local, struct attached_head *head, uint32_t site, uint32_t arg)
{
	head->session = local->session;
	if (UNLIKELY(arg & RING_TASK_DETACH)) {
		head->key = LIBOMP_KEY_TOLD | (head->other ? head->other : (uint64_t)(uintptr_t)head);
		SHIM_EVENT1(local, SHIM_TASK_CREATE, site, arg, head->key);
	} else {
		head->key = shim__next_key(local);
		shim__put_creation(local, SHIM_WORD(SHIM_TASK_CREATE, site, arg));
	}
	HAND_OVER(head);
}

/* ---- allocation ------------------------------------------------------- */

/* Tasks inside a final task are final. */
static uint32_t arg_of(const struct binding *to, int32_t flags)
{
	return (flags & KMPC_TASK_TIED ? 0 : RING_TASK_UNTIED) |
	       (flags & KMPC_TASK_FINAL || runtime__ask(to->runtime, RUNTIME_IN_FINAL) ? RING_TASK_FINAL
										       : 0) |
	       (flags & KMPC_TASK_MERGEABLE ? RING_TASK_MERGEABLE : 0) |
	       (flags & KMPC_TASK_PRIORITY ? RING_TASK_PRIORITY : 0) |
	       (flags & KMPC_TASK_DETACHABLE ? RING_TASK_DETACH : 0) |
	       (flags & KMPC_TASK_ANY_THREAD ? RING_TASK_ANY_THREAD : 0);
}

static size_t with_head(size_t size)
{
	return ((size + 7) & ~(size_t)7) + sizeof(struct attached_head);
}

static struct kmpc_task *fill(struct kmpc_task *task, kmpc_routine routine, uint32_t arg)
{
	struct attached_head *head = (struct attached_head *)task->shareds - 1;

	/* If the task's size differs, an earlier task at this address had its head elsewhere. */
	TAKE_OVER(task);
	*head = (struct attached_head){.routine = routine, .arg = (uint16_t)arg};
	/* The recording may end before the task is created. Then nothing else would tell this. */
	HAND_OVER(head);
	return task;
}

static struct kmpc_task *attached___kmpc_omp_task_alloc(struct kmpc_location *loc, int32_t thread,
							int32_t flags, size_t size, size_t shared,
							kmpc_routine routine)
{
	REAL(__kmpc_omp_task_alloc, struct kmpc_task *, struct kmpc_location *, int32_t, int32_t, size_t,
	     size_t, kmpc_routine);

	if (!libomp__here(to))
		return real___kmpc_omp_task_alloc(loc, thread, flags, size, shared, routine);
	return fill(real___kmpc_omp_task_alloc(loc, thread, flags, with_head(size), shared ? shared : 8,
					       body),
		    routine, arg_of(to, flags));
}

static struct kmpc_task *attached___kmpc_omp_target_task_alloc(struct kmpc_location *loc, int32_t thread,
							       int32_t flags, size_t size, size_t shared,
							       kmpc_routine routine, int64_t device)
{
	REAL(__kmpc_omp_target_task_alloc, struct kmpc_task *, struct kmpc_location *, int32_t, int32_t,
	     size_t, size_t, kmpc_routine, int64_t);

	if (!libomp__here(to))
		return real___kmpc_omp_target_task_alloc(loc, thread, flags, size, shared, routine, device);
	return fill(real___kmpc_omp_target_task_alloc(loc, thread, flags, with_head(size),
						      shared ? shared : 8, body, device),
		    routine, arg_of(to, flags) | RING_TASK_TARGET | RING_TASK_ANY_THREAD);
}

static void *attached___kmpc_task_allow_completion_event(struct kmpc_location *loc, int32_t thread,
							 struct kmpc_task *task)
{
	struct attached_head *head = attached__head_of(task);
	void *event;
	REAL(__kmpc_task_allow_completion_event, void *, struct kmpc_location *, int32_t, struct kmpc_task *);

	event = real___kmpc_task_allow_completion_event(loc, thread, task);
	if (head)
		head->other = (uint64_t)(uintptr_t)event;
	return event;
}

/* ---- creation --------------------------------------------------------- */

/* False: nothing was recorded, because nothing is known of the task. */
static bool begin_creation(struct shim_local *local, const struct binding *to, const struct kmpc_task *task,
			   const void *caller, bool depends)
{
	struct attached_head *head = attached__head_of(task);
	uint32_t site =
		shim__site(kmpc__site(to, caller, head ? head->routine : task->routine), SHIM_SITE_TASK);
	bool told;

	kmpc__settle(local);
	if (!head)
		return false;
	if (LIKELY(!(head->state & ATTACHED_BEGUN))) {
		attached__create(local, head, site, head->arg | (depends ? RING_TASK_HAS_DEPEND : 0));
		return true;
	}
	/* The running task hands its next part to the runtime, which may run and free the task at once. */
	told = head->key && head->session == local->session;
	if (told)
		SHIM_EVENT1(local, SHIM_TASK_CREATE, site, SHIM_TASK_KEYED, head->key);
	HAND_OVER(head);
	return told;
}

#define CREATE(name)                                                                                         \
	static int32_t attached_##name(struct kmpc_location *loc, int32_t thread, struct kmpc_task *task)    \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		int32_t result;                                                                              \
		bool told;                                                                                   \
		REAL(name, int32_t, struct kmpc_location *, int32_t, struct kmpc_task *);                    \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		told = local && begin_creation(local, to, task, CALLER, false);                              \
		result = real_##name(loc, thread, task);                                                     \
		if (told && shim__goes_on(local))                                                            \
			SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);                                       \
		return result;                                                                               \
	}

CREATE(__kmpc_omp_task)
CREATE(__kmpc_omp_task_parts)

static int32_t attached___kmpc_omp_task_with_deps(struct kmpc_location *loc, int32_t thread,
						  struct kmpc_task *task, int32_t count,
						  struct kmpc_depend *list, int32_t count2,
						  struct kmpc_depend *list2)
{
	struct shim_local *local;
	int32_t result;
	bool told;
	REAL(__kmpc_omp_task_with_deps, int32_t, struct kmpc_location *, int32_t, struct kmpc_task *, int32_t,
	     struct kmpc_depend *, int32_t, struct kmpc_depend *);

	local = libomp__here(to);
	told = local && begin_creation(local, to, task, CALLER, count > 0 || count2 > 0);
	if (told) {
		kmpc__depends(local, list, count);
		kmpc__depends(local, list2, count2);
	}
	result = real___kmpc_omp_task_with_deps(loc, thread, task, count, list, count2, list2);
	if (told && shim__goes_on(local))
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
	return result;
}

/* The program itself runs the body between these two calls. */
static void attached___kmpc_omp_task_begin_if0(struct kmpc_location *loc, int32_t thread,
					       struct kmpc_task *task)
{
	struct attached_head *head;
	struct shim_local *local;
	bool told;
	REAL(__kmpc_omp_task_begin_if0, void, struct kmpc_location *, int32_t, struct kmpc_task *);

	local = libomp__here(to);
	told = local && begin_creation(local, to, task, CALLER, false);
	real___kmpc_omp_task_begin_if0(loc, thread, task);
	if (!told)
		return;
	head = attached__head_of(task);
	head->state |= ATTACHED_BEGUN;
	kmpc__begin_body(local, head->key);
}

static void attached___kmpc_omp_task_complete_if0(struct kmpc_location *loc, int32_t thread,
						  struct kmpc_task *task)
{
	const struct attached_head *head;
	struct shim_local *local;
	REAL(__kmpc_omp_task_complete_if0, void, struct kmpc_location *, int32_t, struct kmpc_task *);

	local = libomp__here(to);
	head = local ? attached__head_of(task) : NULL;
	if (head && head->key && head->session == local->session) {
		kmpc__settle(local);
		SHIM_EVENT(local, SHIM_TASK_END, 0, 0);
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
	}
	if (head)
		HAND_OVER(task);
	real___kmpc_omp_task_complete_if0(loc, thread, task);
}

const struct kmpc_entry kmpc_attached_tasks[] = {
	KMPC_ENTRY(__kmpc_omp_task_alloc),
	KMPC_ENTRY(__kmpc_omp_target_task_alloc),
	KMPC_ENTRY(__kmpc_task_allow_completion_event),
	KMPC_ENTRY(__kmpc_omp_task),
	KMPC_ENTRY(__kmpc_omp_task_parts),
	KMPC_ENTRY(__kmpc_omp_task_with_deps),
	KMPC_ENTRY(__kmpc_omp_task_begin_if0),
	KMPC_ENTRY(__kmpc_omp_task_complete_if0),
	{NULL, NULL},
};
