/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bodies that are probed in the program's own functions. This is for a libgomp in which the calls of bodies
 * were not found. The calls that take a function as their body show which construct it belongs to. The
 * caller of a body shows whether the task is undeferred.
 */
#ifndef GRAIND_LIBGOMP_BODIES_BPF_H
#define GRAIND_LIBGOMP_BODIES_BPF_H

#include "bpf/libgomp_tasks.bpf.h"

struct body_key {
	__u64 function;
	__u32 tgid, pad;
};

struct body {
	__u32 kind;	  /* enum ring_body */
	__u16 step_known; /* all calls so far had the same step */
	__u16 places;	  /* a bit for each of body_process.start: that function has taken the body */
	__u64 step;	  /* of a taskloop */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct body_key);
	__type(value, struct body);
} bodies SEC(".maps");

/* The runtime's addresses in a process. */
struct body_process {
	__u64 start[3],
		end[3]; /* end of GOMP_task, GOMP_taskloop, GOMP_taskloop_ull, which call undeferred bodies */
	__u64 block;	/* offset of the thread-local block from the thread pointer */
	__u64 cookie;	/* cookie of MEMBER: offsets of team and number in the block; 0: not known yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct body_process);
} body_processes SEC(".maps");

/*
 * The offset of the runtime's thread-local block from the thread pointer. `fixed`: the offset is in the
 * cookie.
 */
static __always_inline __u64 member__offset(struct pt_regs *ctx, __u64 cookie, bool fixed, __u32 *flags)
{
	return fixed ? (__u64)(__s64)COOKIE_OFF(cookie) : user_word(here(ctx) + COOKIE_OFF(cookie), flags);
}

/* The team and member number of this thread. */
static __always_inline void member__read(__u64 block, __u64 cookie, struct ring_record *record)
{
	record->key = user_word(block + COOKIE_A(cookie) * 4, &record->flags);
	record->arg = user_word(block + COOKIE_B(cookie) * 4, &record->flags);
}

/* Whether this thread is in no region, which means that it has no team. */
static __always_inline bool bodies__outermost(struct pt_regs *ctx, __u64 cookie, __u32 *flags)
{
	bool fixed = COOKIE_REG2(cookie) != COOKIE_REG_NONE;
	__u64 block = thread_pointer() + member__offset(ctx, cookie, fixed, flags);

	return !user_word(block + COOKIE_B(cookie) * 4, flags) && !(*flags & RING_F_FAULT);
}

static const struct body_process no_process;

static __always_inline struct body_process *body_process(__u64 id)
{
	struct body_process *process;
	__u32 tgid = id >> 32;

	process = bpf_map_lookup_elem(&body_processes, &tgid);
	if (process)
		return process;
	bpf_map_update_elem(&body_processes, &tgid, &no_process, 1 /* only if absent */);
	return bpf_map_lookup_elem(&body_processes, &tgid);
}

/*
 * Whether everything about the calls of this body is known. This is false for a body that was evicted from
 * the map and then added again.
 */
static __always_inline bool body_process__knows(const struct body_process *process, const struct body *body)
{
	if (body->kind == RING_BODY_MEMBER)
		return process->cookie;
	for (__u32 i = 0; i < 3; i++)
		if (body->places & 1u << i && !process->end[i])
			return false;
	return true;
}

/*
 * Called when a body is passed to the runtime. `what` is its kind | places << 16. If the body is new,
 * `record` becomes the event for graind.
 */
static __noinline void bodies__learn(__u64 id, __u64 function, __u32 what, __u64 step,
				     struct ring_record *record)
{
	struct body_key key = {.function = function, .tgid = id >> 32};
	__u32 kind = what & 0xffff;
	struct body fresh = {.kind = kind, .step = step, .step_known = 1, .places = what >> 16}, *known;

	if (!record)
		return;
	known = bpf_map_lookup_elem(&bodies, &key);
	record->kind = RING_NONE;
	if (known && known->kind == kind) {
		if (known->step != step)
			known->step_known = 0;
		known->places |= what >> 16;
		return;
	}
	bpf_map_update_elem(&bodies, &key, &fresh, 0);
	record->kind = RING_BODY;
	record->key = function;
	record->arg = kind;
}

static __noinline void bodies__call(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	struct body_process *process = body_process(id);
	__u32 kind = COOKIE_CC(cookie), place = 0;
	struct gomp_call call = {.frame = stack(ctx),
				 .kind = RING_BODY,
				 .body = reg(ctx, COOKIE_REG(cookie))};
	__u64 step = 0;

	if (!record)
		return;
	if (!process || !call.body) {
		record->kind = RING_NONE;
		return;
	}
	if (kind == RING_BODY_TASK) {
		gomp_call__put(id, &call, false);
	} else if (kind == RING_BODY_TASKLOOP) {
		place = COOKIE_A(cookie) ? 2 : 1;
		step = argument(ctx, 10, &record->flags);
	} else if (kind == RING_BODY_MEMBER) {
		process->block =
			member__offset(ctx, cookie, COOKIE_REG2(cookie) != COOKIE_REG_NONE, &record->flags);
		process->cookie = cookie;
	}
	if (kind == RING_BODY_TASK || kind == RING_BODY_TASKLOOP) {
		process->start[place] = here(ctx);
		process->end[place] = here(ctx) + COOKIE_OFF(cookie);
		kind |= 1u << (16 + place);
	}
	bodies__learn(id, call.body, kind, step, record);
}

/* GOMP_task has allocated a task. */
static __noinline void bodies__create(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	struct gomp_call *call;

	if (!record)
		return;
	call = gomp_call__find(id, frame_pointer(ctx) + 8, RING_BODY, false, &record->flags);
	if (call) {
		call->task = record->key;
		record->extra = call->body;
	}
	task_call(ctx, id, 0, record, call ? RING_TASK_BODY_KNOWN : 0);
}

/* GOMP_task returns. */
static __noinline void bodies__created(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	struct gomp_call *call;

	if (!record)
		return;
	call = gomp_call__find(id, ctx->sp - 8, RING_BODY, true, &record->flags);
	if (!call || !call->task)
		record->kind = RING_NONE;
	if (call)
		gomp_call__close(call);
}

/* The begin of a task's body. The task is undeferred if GOMP_task or GOMP_taskloop itself calls the body. */
static __always_inline void bodies__task(struct pt_regs *ctx, __u64 id, const struct body_process *process,
					 struct ring_record *record)
{
	__u64 from = caller(ctx, 0, &record->flags);

	record->key = record->site;
	if (from - process->start[0] < process->end[0] - process->start[0]) {
		record->kind = RING_UNDEFERRED_BEGIN;
		task_call(ctx, id, 0, record, 0);
	} else if (from - process->start[1] < process->end[1] - process->start[1] ||
		   from - process->start[2] < process->end[2] - process->start[2]) {
		record->kind = RING_UNDEFERRED_BEGIN;
		taskloop_undeferred(ctx, id, 8, record);
	} else {
		record->key = arg(ctx, 0);
		record->arg = RING_BEGIN_DATA;
	}
}

/*
 * The bounds of a deferred task of a taskloop. The task's data begins with its first iteration and the one
 * after its last.
 */
static __noinline void bodies__bounds(struct pt_regs *ctx, __u64 id, const struct body *body,
				      struct ring_record *record)
{
	struct gomp_call call = {};

	if (!body || !record)
		return;
	call.step = body->step;
	ring__emit(id, record);
	record->kind = RING_NONE;
	if (body->step_known)
		task_bounds(id, record->frame, &call, arg(ctx, 0));
}

static __always_inline void bodies__enter(struct pt_regs *ctx, __u64 id, __u64 cookie,
					  struct ring_record *record)
{
	struct body_key key = {.function = here(ctx) + COOKIE_OFF(cookie), .tgid = id >> 32};
	struct gomp_call call = {.frame = stack(ctx), .kind = RING_TASK_BEGIN};
	struct body *body = bpf_map_lookup_elem(&bodies, &key);
	struct body_process *process = bpf_map_lookup_elem(&body_processes, &key.tgid);

	record->site = key.function;
	if (!body || body->kind == RING_BODY_OTHER || !process || !body_process__knows(process, body)) {
		record->kind = RING_NONE;
		if (!body || body->kind != RING_BODY_OTHER)
			ring__lose(id, RING_LOSS_BODY);
		return;
	}
	if (body->kind == RING_BODY_MEMBER) {
		record->kind = RING_MEMBER_BEGIN;
		member__read(thread_pointer() + process->block, process->cookie, record);
		call.arg = RING_WAIT_BEGIN;
		gomp_call__put(id, &call, false);
		return;
	}
	call.arg = RING_TASK_END;
	bodies__task(ctx, id, process, record);
	if (record->kind != RING_TASK_BEGIN)
		call.arg = RING_UNDEFERRED_END;
	gomp_call__put(id, &call, false);
	if (call.arg == RING_TASK_END && body->kind == RING_BODY_TASKLOOP)
		bodies__bounds(ctx, id, body, record);
}

/* The end of a body, with the frame of its begin. A member's last wait has a lower frame. */
static __always_inline void bodies__leave(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	struct gomp_call *call = gomp_call__find(id, ctx->sp - 8, RING_TASK_BEGIN, true, &record->flags);

	record->frame -= 8;
	if (!call) {
		record->kind = RING_NONE;
		return;
	}
	record->kind = call->arg;
	if (call->arg == RING_WAIT_BEGIN) {
		record->arg = RING_WAIT_REGION_END;
		record->frame -= 8;
	}
	gomp_call__close(call);
}

#endif
