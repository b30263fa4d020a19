// SPDX-License-Identifier: BSD-2-Clause
/*
 * Target regions. Without a device, each region runs on the host, as a task. The addresses that it gets
 * have one more at their front: that of a head, which shows which creation the body belongs to. With
 * devices, the runtime finds a region's device code by the body's address, so this must be the program's
 * address. The whole call then counts as the task, and a call that need not be waited for is not recorded.
 */
#include "runtime-shim/libgomp/gomp_task.h"

#include <alloca.h>
#include <string.h>

#define GOMP_TARGET_NOWAIT 1u
/* The runtime copies the head as a private variable of this alignment, before GOMP_target_ext returns. */
#define GOMP_MAP_FIRSTPRIVATE 12u
#define HEAD_KIND (GOMP_MAP_FIRSTPRIVATE | 3u << 8)

struct target_head {
	struct head head;
	struct call *call; /* of an undeferred task: its body records the call; else NULL */
};

_Static_assert(_Alignof(struct target_head) <= 8, "HEAD_KIND");

typedef void (*target_fn)(int, body_fn, size_t, void **, size_t *, unsigned short *, unsigned, void **,
			  void **);

/* The program waits for the dependences of an undeferred task before the task begins. */
static void begin_wait(struct call *call)
{
	call->waits = call->depend != NULL;
	if (!call->waits)
		return;
	SHIM_EVENT(call->local, SHIM_WAIT_BEGIN, shim__site(call->caller, SHIM_SITE_TASKWAIT),
		   RING_WAIT_TASKWAIT_DEPEND);
	gomp__depends(call->local, call->depend);
}

static void end_wait(struct call *call)
{
	if (call->waits)
		SHIM_EVENT(call->local, SHIM_WAIT_END, 0, RING_WAIT_TASKWAIT_DEPEND);
	call->waits = 0;
}

/* Runs instead of the region's body. */
static void body(void *argument)
{
	void **addresses = argument;
	const struct target_head *target = addresses[0];
	struct shim_local *local = shim__here();
	struct head head = target->head;
	bool children;

	if (!local) {
		head.body(addresses + 1);
		return;
	}
	children = local->children;
	local->children = false;
	if (target->call) {
		end_wait(target->call);
		gomp__created(target->call, SHIM_SITE_TASK);
		head = target->call->head;
	}
	gomp__begin_body(local, &head);
	runtime_thread.open_targets++;
	head.body(addresses + 1);
	runtime_thread.open_targets--;
	gomp__end_body(local);
	local->children = children;
}

static void run_on_host(struct call *call, target_fn real, int device, size_t count, void **addresses,
			size_t *sizes, unsigned short *kinds, unsigned flags, void **depend, void **args)
{
	struct target_head target = {.call = flags & GOMP_TARGET_NOWAIT ? NULL : call};
	void **all = alloca((count + 1) * sizeof(*all));
	size_t *all_sizes = alloca((count + 1) * sizeof(*all_sizes));
	unsigned short *all_kinds = alloca((count + 1) * sizeof(*all_kinds));

	all[0] = &target;
	all_sizes[0] = sizeof(target);
	all_kinds[0] = HEAD_KIND;
	if (count) {
		memcpy(all + 1, addresses, count * sizeof(*all));
		memcpy(all_sizes + 1, sizes, count * sizeof(*all_sizes));
		memcpy(all_kinds + 1, kinds, count * sizeof(*all_kinds));
	}
	if (target.call)
		begin_wait(call);
	else
		gomp__created(call, SHIM_SITE_TASK);
	target.head = call->head;
	real(device, body, count + 1, all, all_sizes, all_kinds, flags, depend, args);
	end_wait(call);
}

EXPORT void GOMP_target_ext(int device, body_fn fn, size_t count, void **addresses, size_t *sizes,
			    unsigned short *kinds, unsigned flags, void **depend, void **args)
{
	REAL(GOMP_target_ext, void, int, body_fn, size_t, void **, size_t *, unsigned short *, unsigned,
	     void **, void **);
	struct shim_local *local = runtime__here(to);
	bool devices = runtime__ask(to->runtime, RUNTIME_DEVICES) > 0;
	struct call call = {.head = {.body = fn,
				     .arg = RING_TASK_TARGET | (depend ? RING_TASK_HAS_DEPEND : 0)},
			    .depend = depend,
			    .local = local,
			    .caller = CALLER};

	if (!local || (devices && flags & GOMP_TARGET_NOWAIT)) {
		real_GOMP_target_ext(device, fn, count, addresses, sizes, kinds, flags, depend, args);
		return;
	}
	if (devices) {
		gomp__created(&call, SHIM_SITE_TASK);
		gomp__begin_body(local, &call.head);
		runtime_thread.open_targets++;
		real_GOMP_target_ext(device, fn, count, addresses, sizes, kinds, flags, depend, args);
		runtime_thread.open_targets--;
		gomp__end_body(local);
	} else {
		run_on_host(&call, real_GOMP_target_ext, device, count, addresses, sizes, kinds, flags,
			    depend, args);
	}
	local->children = true;
	if (call.head.key)
		SHIM_EVENT(local, SHIM_TASK_CREATE_END, 0, 0);
}
