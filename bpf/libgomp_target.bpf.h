/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Target regions that libgomp runs on the host: at once, as undeferred tasks, or as deferred tasks
 * (nowait). Regions on a device are not recorded.
 */
#ifndef GRAIND_LIBGOMP_TARGET_BPF_H
#define GRAIND_LIBGOMP_TARGET_BPF_H

#include "bpf/libgomp_tasks.bpf.h"

struct target_key {
	__u64 task;
	__u32 tgid, pad;
};

/* The bodies of the tasks that were made for target regions and have not begun. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct target_key);
	__type(value, __u64);
} target_tasks SEC(".maps");

/* Set once a task without a body was left out. Its end must then be left out, too. */
volatile __u32 targets_left_out;

/* GOMP_target_ext calls the function that runs the region (fn, ...). */
static __noinline void target_begin(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	struct gomp_call call = {.frame = stack(ctx) - 8 * COOKIE_B(cookie), .kind = RING_UNDEFERRED_BEGIN};
	struct task_arguments arguments = {};

	if (!record)
		return;
	task_arguments(ctx, id, cookie, &record->flags, &arguments);
	record->frame = call.frame;
	record->key = arg(ctx, 0);
	record->site = frame_caller(ctx, &record->flags);
	record->arg = RING_TASK_TARGET;
	gomp_call__put(id, &call, false);
	if (arguments.depends_lost || !arguments.depends)
		return;
	record->arg |= RING_TASK_HAS_DEPEND;
	emit_with_depends(id, record, arguments.depends);
}

/* The region has run. If it was the region of a task, that task ends now. */
static __noinline void target_end(__u64 id, __u64 cookie, struct ring_record *record)
{
	struct gomp_call *call;

	if (!record)
		return;
	record->frame += COOKIE_OFF(cookie);
	call = gomp_call__find(id, record->frame, RING_UNDEFERRED_BEGIN, true, &record->flags);
	if (call)
		gomp_call__close(call);
	else
		record->kind = RING_NONE;
}

/*
 * GOMP_target_ext calls the function that makes a task (device, fn, ..., flags, depend, args, state). That
 * function then allocates the task.
 */
static __noinline void target_create(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	struct target_key key = {.tgid = id >> 32};
	struct gomp_call call = {}, *kept;

	if (!record)
		return;
	if (COOKIE_REG(cookie) == COOKIE_REG_NONE) {
		call.frame = stack(ctx) - 8 * COOKIE_B(cookie);
		call.kind = record->kind;
		call.body = arg(ctx, 1);
		call.step = argument_of(ctx, call.frame, 7, &record->flags);
		call.site = frame_caller(ctx, &record->flags);
		record->kind = RING_NONE;
		if (!arg(ctx, 0)) /* the host */
			gomp_call__put(id, &call, false);
		return;
	}
	kept = gomp_call__find(id, record->frame + COOKIE_OFF(cookie), record->kind, false, &record->flags);
	if (!kept) {
		record->kind = RING_NONE;
		return;
	}
	key.task = kept->task = record->key;
	call = *kept;
	bpf_map_update_elem(&target_tasks, &key, &call.body, 0);
	record->site = call.site;
	record->arg = RING_TASK_TARGET;
	if (!call.step)
		return;
	record->arg |= RING_TASK_HAS_DEPEND;
	emit_with_depends(id, record, call.step);
}

/* GOMP_target_ext goes on. */
static __noinline void target_created(__u64 id, __u64 cookie, struct ring_record *record)
{
	struct gomp_call *call;

	if (!record)
		return;
	record->frame += COOKIE_OFF(cookie);
	call = gomp_call__find(id, record->frame - 8 * COOKIE_B(cookie), RING_TASK_CREATE, true,
			       &record->flags);
	if (!call || !call->task)
		record->kind = RING_NONE;
	if (call)
		gomp_call__close(call);
}

/* A task without a body begins. If it is no target region on the host, its begin and end are left out. */
static __noinline void target_task_begin(__u64 id, struct ring_record *record)
{
	struct gomp_call call = {.kind = RING_TASK_END};
	struct target_key key = {.tgid = id >> 32};
	__u64 *body;

	if (!record)
		return;
	key.task = record->key;
	body = bpf_map_lookup_elem(&target_tasks, &key);
	if (body) {
		record->site = *body;
		bpf_map_delete_elem(&target_tasks, &key);
		return;
	}
	call.frame = record->frame;
	record->kind = RING_NONE;
	targets_left_out = 1;
	gomp_call__put(id, &call, false);
}

static __always_inline void target_task_end(__u64 id, struct ring_record *record)
{
	struct gomp_call *call;

	if (!targets_left_out)
		return;
	call = gomp_call__find(id, record->frame, RING_TASK_END, true, &record->flags);
	if (!call)
		return;
	gomp_call__close(call);
	record->kind = RING_NONE;
}

#endif
