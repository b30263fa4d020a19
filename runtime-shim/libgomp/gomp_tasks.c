// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tasks. The block that the runtime copies for a task gets a head, which shows which creation the body
 * belongs to. The runtime calls the copy function once it has decided to create the task. That function
 * records the creation.
 */
#include "runtime-shim/libgomp/gomp_task.h"
#include "runtime-shim/runtimes/libomp_recording.h"

#include <string.h>

void gomp__created(struct call *call, uint32_t site_kind)
{
	struct shim_local *local = call->local;
	uint32_t arg = call->head.arg, site = shim__site(call->caller, site_kind);

	if (UNLIKELY(arg & RING_TASK_DETACH)) {
		call->head.key = call->event;
		SHIM_EVENT1(local, SHIM_TASK_CREATE, site, arg, call->head.key);
	} else {
		call->head.key = shim__next_key(local);
		shim__put_creation(local, SHIM_WORD(SHIM_TASK_CREATE, site, arg));
	}
	if (UNLIKELY(arg & RING_TASK_HAS_DEPEND))
		gomp__depends(local, call->depend);
}

long gomp__lay_out(struct call *call, size_t before, size_t after, long size, long *align)
{
	size_t payload, all = before + sizeof(call->head) + after;

	if (*align < (long)_Alignof(struct head))
		*align = (long)_Alignof(struct head);
	payload = (all + (size_t)*align - 1) & ~((size_t)*align - 1);
	call->head_at = (uint32_t)before;
	call->head.payload = (uint32_t)(payload - before);
	call->size = size;
	return size + (long)payload;
}

void gomp__fill(const struct call *call, void *to)
{
	struct head *head = (void *)((char *)to + call->head_at);
	char *payload = (char *)head + call->head.payload;

	/*
	 * These are copied one by one, as they were written: a wider load would have to wait for these
	 * stores.
	 */
	head->body = call->head.body;
	head->key = call->head.key;
	head->payload = call->head.payload;
	head->arg = call->head.arg;
	if (call->copy)
		call->copy(payload, call->data);
	else if (call->size)
		memcpy(payload, call->data, (size_t)call->size);
	HAND_OVER(to);
}

static void copy(void *to, void *from)
{
	struct call *call = from;
	struct shim_local *local = call->local;

	if (LIKELY(call->plain)) {
		call->created_at = shim__ticks();
		call->head.key = shim__next_key(local);
		local->call = call;
		gomp__fill(call, to);
		return;
	}
	if (UNLIKELY(call->waits)) {
		SHIM_EVENT(call->local, SHIM_WAIT_END, 0, RING_WAIT_TASKWAIT_DEPEND);
		call->waits = 0;
	}
	gomp__created(call, SHIM_SITE_TASK);
	/* The runtime has left the event of a detached task at the place that it took for the data. */
	if (UNLIKELY(call->head.arg & RING_TASK_DETACH) && call->data)
		memcpy(call->data, &call->event, sizeof(void *));
	gomp__fill(call, to);
}

void gomp__begin_body(struct shim_local *local, const struct head *head)
{
	uint64_t ago = shim__next_key(local) - head->key;
	uint32_t site = shim__site((const void *)(uintptr_t)head->body, SHIM_SITE_TASK_BODY);

	if (LIKELY(ago <= SHIM_ARG_MAX && !(head->arg & RING_TASK_DETACH)))
		SHIM_EVENT(local, SHIM_TASK_BEGIN, site, ago);
	else
		SHIM_EVENT1(local, SHIM_TASK_BEGIN, site, 0, head->key);
}

/*
 * Runs the task that was just created. Nothing is between its creation and its begin, so both have the same
 * time.
 */
static void run_at_once(struct shim_local *local, struct call *call, void *payload)
{
	uint32_t site = shim__site(call->caller, SHIM_SITE_TASK);
	uint32_t body_site = shim__site((const void *)(uintptr_t)call->head.body, SHIM_SITE_TASK_BODY);

	local->call = NULL;
	shim__put_pair(local, call->created_at, SHIM_WORD(SHIM_TASK_CREATE, site, call->head.arg),
		       call->created_at, SHIM_WORD(SHIM_TASK_BEGIN, body_site, 1), 0, 0, 0);
	call->head.body(payload);
	/*
	 * If there are no unfinished children, the runtime does nothing between this point and the end of
	 * the call.
	 */
	call->ended_at = local->children ? shim__ticks() : 0;
	call->ran = true;
}

static void body(void *block)
{
	const struct head *head = block;
	struct shim_local *local = shim__here();
	void *payload;
	bool children;

	TAKE_OVER(block);
	payload = (char *)block + head->payload;
	gomp__taskloop_waits();
	if (UNLIKELY(!local)) {
		head->body(payload);
		return;
	}
	children = local->children;
	local->children = false;
	if (local->call) {
		run_at_once(local, local->call, payload);
	} else {
		gomp__begin_body(local, head);
		head->body(payload);
		gomp__end_body(local);
	}
	local->children = children;
}

/* Records the creation of a plain task, if this was not done yet. */
static void tell_created(struct call *call)
{
	struct shim_local *local = call->local;
	const uint64_t end = SHIM_WORD(SHIM_TASK_CREATE_END, 0, 0), now = shim__ticks();

	if (call->ran) {
		shim__put_pair(local, call->ended_at ? call->ended_at : now, SHIM_WORD(SHIM_TASK_END, 0, 0),
			       now, end, 0, 0, 0);
		return;
	}
	local->call = NULL;
	local->children = true;
	shim__put_pair(local, call->created_at,
		       SHIM_WORD(SHIM_TASK_CREATE, shim__site(call->caller, SHIM_SITE_TASK), call->head.arg),
		       now, end, 0, 0, 0);
}

EXPORT void GOMP_task(body_fn fn, void *data, copy_fn copier, long size, long align, bool deferrable,
		      unsigned flags, void **depend, int priority, void *detach)
{
	REAL(GOMP_task, void, body_fn, void *, copy_fn, long, long, bool, unsigned, void **, int, void *);
	struct call call;

	call.local = runtime__here(to);
	if (!call.local) {
		real_GOMP_task(fn, data, copier, size, align, deferrable, flags, depend, priority, detach);
		return;
	}
	call.head.body = fn;
	call.head.key = 0;
	call.head.arg = (flags & GOMP_LOW_FLAGS) | (flags & GOMP_DETACH ? RING_TASK_DETACH : 0);
	call.data = data;
	call.copy = copier;
	call.depend = depend;
	call.caller = CALLER;
	call.ran = false;
	call.waits = !deferrable && flags & RING_TASK_HAS_DEPEND;
	/* A copy function of the program may do anything meanwhile. */
	call.plain = !copier && !(call.head.arg & (RING_TASK_DETACH | RING_TASK_HAS_DEPEND));
	size = gomp__lay_out(&call, 0, 0, size, &align);
	if (UNLIKELY(call.waits)) {
		SHIM_EVENT(call.local, SHIM_WAIT_BEGIN, shim__site(call.caller, SHIM_SITE_TASKWAIT),
			   RING_WAIT_TASKWAIT_DEPEND);
		gomp__depends(call.local, depend);
	}
	real_GOMP_task(body, &call, copy, size, align, deferrable, flags, depend, priority, detach);
	if (LIKELY(call.plain && call.head.key)) {
		tell_created(&call);
		return;
	}
	call.local->children = true;
	if (call.head.key)
		SHIM_EVENT(call.local, SHIM_TASK_CREATE_END, 0, 0);
	else if (call.waits)
		SHIM_EVENT(call.local, SHIM_WAIT_END, 0, RING_WAIT_TASKWAIT_DEPEND);
}

static void put_fulfill(const struct binding *to, uintptr_t event)
{
	struct shim_local *local = runtime__here(to), *attached = libomp__here_attached(to);

	/* Any thread may fulfil. But libomp counts a thread that asks it something as one of its own. */
	if (attached && attached->fresh)
		attached->fresh = SHIM_FRESH_STRANGER;
	if (local)
		SHIM_EVENT1(local, SHIM_TASK_FULFILL, 0, 0, event);
	else if (attached)
		SHIM_EVENT1(attached, SHIM_TASK_FULFILL, 0, 0, LIBOMP_KEY_TOLD | event);
}

/*
 * The C function and the Fortran one. The runtime's own code for them does not come through this library
 * again.
 */
#define FULFILL(name)                                                                                        \
	EXPORT void name(uintptr_t event)                                                                    \
	{                                                                                                    \
		REAL(name, void, uintptr_t);                                                                 \
                                                                                                             \
		put_fulfill(to, event);                                                                      \
		real_##name(event);                                                                          \
	}

FULFILL(omp_fulfill_event)
FULFILL(omp_fulfill_event_)

static void put_depend(struct shim_local *local, const void *address, uint32_t kind)
{
	SHIM_EVENT1(local, SHIM_DEPEND, 0, address ? kind : RING_DEPEND_ALL, (uint64_t)(uintptr_t)address);
}

/*
 * The list has one of two forms: a count, the number of out, addresses; or 0, a count, the numbers of out,
 * mutexinoutset and in, addresses, then pointers to depend objects, each with an address and a kind.
 */
void gomp__depends(struct shim_local *local, void *const *depend)
{
	uintptr_t count = (uintptr_t)depend[0], out = (uintptr_t)depend[1], mutexes = 0, in = count - out;
	void *const *at = depend + 2;

	if (!count) {
		count = (uintptr_t)depend[1];
		out = (uintptr_t)depend[2];
		mutexes = (uintptr_t)depend[3];
		in = (uintptr_t)depend[4];
		at = depend + 5;
	}
	for (uintptr_t i = 0; i < count; i++) {
		void *const *object = at[i];
		uintptr_t kind;

		if (i < out + mutexes + in) {
			put_depend(local, at[i],
				   i < out	       ? RING_DEPEND_OUT
				   : i < out + mutexes ? RING_DEPEND_MUTEXINOUTSET
						       : RING_DEPEND_IN);
			continue;
		}
		kind = (uintptr_t)object[1];
		put_depend(local, object[0],
			   kind && kind <= RING_DEPEND_INOUTSET ? (uint32_t)kind : RING_DEPEND_OUT);
	}
}
