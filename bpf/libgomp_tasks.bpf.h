/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads libgomp's task creations: flags, dependences, iterations of taskloops; and cancellation. */
#ifndef GRAIND_LIBGOMP_TASKS_BPF_H
#define GRAIND_LIBGOMP_TASKS_BPF_H

#include "bpf/libgomp_calls.bpf.h"

/* libgomp's flags of GOMP_task and GOMP_taskloop; the low five bits are those of enum ring_task. */
enum gomp_task_flag {
	GOMP_TASK_DEPEND = 1 << 3,
	GOMP_TASKLOOP_NOGROUP = 1 << 11,
	GOMP_TASK_DETACH = 1 << 13,
};

static __always_inline __u32 task_flags(__u32 gomp)
{
	return (gomp & 31) | (gomp & GOMP_TASK_DETACH ? RING_TASK_DETACH : 0);
}

static __always_inline __u32 taskloop_flags(__u32 gomp)
{
	return (gomp & 31) | RING_TASK_OF_TASKLOOP | (gomp & GOMP_TASKLOOP_NOGROUP ? RING_TASK_NOGROUP : 0);
}

#define DEPENDS_MAX 64 /* the most dependences of one task; more are counted as not read */

/*
 * Reads dependence `i` of the array that the compiler passes. The array has one of two forms:
 * - n, number of out, addresses (out first, then in)
 * - 0, n, numbers of out, mutexinoutset and in, the addresses in that order, then pointers to depend objects
 *   {address, kind}, whose kinds are those of enum ring_depend.
 * No address means omp_all_memory. Returns whether there is one more dependence. If `record` has no kind,
 * there is not even this one. The function is global and no caller of ring__emit(), because the stack of all
 * callers together is limited.
 */
__noinline int depend__read(__u64 array, __u64 i, struct ring_record *record)
{
	__u64 head[5] = {}, at = array + 16, object[2], count, out, mutexinoutset = 0, in;

	if (!record)
		return 0;
	record->kind = RING_DEPEND;
	record->flags = 0;
	if (bpf_probe_read_user(head, 16, (void *)array) ||
	    (!head[0] && bpf_probe_read_user(head, sizeof(head), (void *)array)))
		record->flags = RING_F_FAULT;
	count = head[0];
	out = head[1];
	in = count - out;
	if (!count) {
		count = head[1];
		out = head[2];
		mutexinoutset = head[3];
		in = head[4];
		at = array + 40;
	}
	if (i >= count && !record->flags) {
		record->kind = RING_NONE;
		return 0;
	}
	object[0] = user_word(at + 8 * i, &record->flags);
	object[1] = RING_DEPEND_IN;
	if (i < out) {
		object[1] = RING_DEPEND_OUT;
	} else if (i < out + mutexinoutset) {
		object[1] = RING_DEPEND_MUTEXINOUTSET;
	} else if (i >= out + mutexinoutset + in &&
		   bpf_probe_read_user(object, sizeof(object), (void *)object[0])) {
		record->flags = RING_F_FAULT;
	}
	record->key = object[0];
	record->arg = !object[0]			  ? RING_DEPEND_ALL
		      : object[1] <= RING_DEPEND_INOUTSET ? object[1]
							  : RING_DEPEND_OUT;
	if (i == DEPENDS_MAX || record->flags) {
		record->arg = RING_DEPEND_UNREAD;
		record->key = count - i;
	}
	return record->arg != RING_DEPEND_UNREAD;
}

/* `frame` is the stack pointer of the event that the dependences belong to. */
__noinline int depends__emit(__u64 id, __u64 frame, __u64 array)
{
	struct ring_record record = {.frame = frame};

	for (__u64 i = 0; i <= DEPENDS_MAX; i++) {
		int more = depend__read(array, i, &record);

		if (record.kind != RING_NONE)
			ring__emit(id, &record);
		if (!more)
			break;
	}
	return 0;
}

/* Records `record` now, and then the dependences in `array`. */
static __always_inline void emit_with_depends(__u64 id, struct ring_record *record, __u64 array)
{
	ring__emit(id, record);
	depends__emit(id, record->frame, array);
	record->kind = RING_NONE;
}

/* The arguments of GOMP_task that are recorded. */
struct task_arguments {
	__u64 flags, depends; /* its seventh and eighth argument */
	bool depends_lost;    /* they are in no register any more */
};

#if ARGUMENT_REGISTERS < 8
/* The arguments are on the stack, behind the return address. */
static __always_inline void task_arguments(struct pt_regs *ctx, __u64 id, __u64 cookie, __u32 *faults,
					   struct task_arguments *out)
{
	__u64 words[2] = {};

	(void)id;
	(void)cookie;
	if (bpf_probe_read_user(words, sizeof(words), (void *)(frame_pointer(ctx) + 16)))
		*faults |= RING_F_FAULT;
	out->flags = words[0];
	out->depends = words[1];
}
#else
static __always_inline __u64 task_argument_at(struct pt_regs *ctx, __u32 home, __u32 *faults)
{
	return home < COOKIE_HOME_NONE ? reg(ctx, home)
	       : home > COOKIE_HOME_NONE
		       ? user_word(frame_pointer(ctx) + 4 * (__u64)(home - COOKIE_HOME_SLOT), faults)
		       : 0;
}

/*
 * The cookie says where the arguments are. At the call of an undeferred body they are gone, but an earlier
 * point has kept them. These are separate functions, because the stack of all callers together is limited.
 */
static __noinline void task_arguments(struct pt_regs *ctx, __u64 id, __u64 cookie, __u32 *faults,
				      struct task_arguments *out)
{
	struct gomp_call *call;

	if (!faults || !out)
		return;
	if (COOKIE_KIND(cookie) == RING_TASK_CREATE || COOKIE_A(cookie) == COOKIE_OF_TARGET ||
	    COOKIE_B(cookie) == COOKIE_UNDEFERRED_KEEP) {
		out->flags = (__u32)task_argument_at(ctx, COOKIE_HOME_FLAGS(cookie), faults);
		out->depends = task_argument_at(ctx, COOKIE_HOME_DEPENDS(cookie), faults);
		out->depends_lost = COOKIE_HOME_DEPENDS(cookie) == COOKIE_HOME_NONE;
		return;
	}
	call = gomp_call__find(id, frame_pointer(ctx), RING_UNDEFERRED_BEGIN, false, faults);
	if (!call) {
		*faults |= RING_F_FAULT;
		return;
	}
	out->flags = call->arg;
	out->depends = call->body;
	out->depends_lost = call->task;
	gomp_call__close(call);
}
#endif

/*
 * Keeps the arguments on the way to the call of an undeferred body. The first point may know more than
 * later points.
 */
static __noinline void task_keep(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	struct gomp_call call = {.frame = frame_pointer(ctx), .kind = RING_UNDEFERRED_BEGIN};
	struct task_arguments arguments = {};

	if (!record)
		return;
	record->kind = RING_NONE;
	task_arguments(ctx, id, cookie, &record->flags, &arguments);
	call.arg = arguments.flags;
	call.body = arguments.depends;
	call.task = arguments.depends_lost;
	gomp_call__put(id, &call, arguments.depends_lost);
}

/* `more`: further bits of enum ring_task. */
static __noinline void task_call(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record,
				 __u32 more)
{
	struct task_arguments arguments = {};

	if (!record)
		return;
	task_arguments(ctx, id, cookie, &record->flags, &arguments);
	record->site = frame_caller(ctx, &record->flags);
	record->arg = task_flags(arguments.flags) | more;
	if (!(arguments.flags & GOMP_TASK_DEPEND))
		return;
	if (!arguments.depends_lost) {
		emit_with_depends(id, record, arguments.depends);
		return;
	}
	ring__emit(id, record);
	record->kind = RING_DEPEND;
	record->key = 1;
	record->arg = RING_DEPEND_UNREAD;
	record->site = 0;
}

/* A task of a taskloop. `frame` is the frame of GOMP_taskloop, whose entry kept the rest. */
static __always_inline struct gomp_call *taskloop_call(__u64 id, __u64 frame, struct ring_record *record)
{
	struct gomp_call *call = gomp_call__find(id, frame, RING_TASKLOOP_BEGIN, false, &record->flags);

	record->arg = RING_TASK_OF_TASKLOOP;
	if (call) {
		record->arg = call->arg;
		record->site = call->site;
	}
	return call;
}

/* The first two words of the task's data are its first iteration and the one after its last. */
static __always_inline void task_bounds(__u64 id, __u64 frame, const struct gomp_call *call, __u64 data)
{
	struct ring_record record = {.frame = frame, .kind = RING_TASK_BOUNDS};
	__u64 bounds[2] = {};

	if (bpf_probe_read_user(bounds, sizeof(bounds), (void *)data))
		record.flags = RING_F_FAULT;
	record.key = bounds[0];
	record.extra = bounds[1] - call->step;
	ring__emit(id, &record);
}

static __noinline void taskloop_begin(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	struct gomp_call call = {.frame = stack(ctx),
				 .kind = RING_TASKLOOP_BEGIN,
				 .site = caller(ctx, 0, &record->flags),
				 .step = argument(ctx, 10, &record->flags),
				 .body = arg(ctx, 0),
				 .arg = taskloop_flags(arg(ctx, 5))};

	if (!record)
		return;
	record->key = arg(ctx, 0);
	record->site = call.site;
	record->arg = call.arg;
	gomp_call__put(id, &call, false);
}

static __always_inline void taskloop_end(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	struct gomp_call *call = gomp_call__find(id, ctx->sp - 8, RING_TASKLOOP_BEGIN, true, &record->flags);

	if (call)
		gomp_call__close(call);
}

static __always_inline void taskloop_create(struct pt_regs *ctx, __u64 id, __u64 cookie,
					    struct ring_record *record)
{
	struct gomp_call *call = taskloop_call(id, frame_pointer(ctx) + COOKIE_OFF(cookie), record);

	if (!call)
		return;
	call->task = record->key;
	if (COOKIE_B(cookie)) {
		record->arg |= RING_TASK_BODY_KNOWN;
		record->extra = call->body;
	}
}

static __noinline void taskloop_create_end(struct pt_regs *ctx, __u64 id, __u64 cookie,
					   struct ring_record *record)
{
	struct gomp_call *call = taskloop_call(id, frame_pointer(ctx) + 8 * COOKIE_B(cookie), record);
	int data_offset = COOKIE_OFF(cookie);
	__u64 data;

	if (!record)
		return;
	record->arg = 0;
	record->site = 0;
	if (!call || !call->task || !data_offset)
		return;
	data = user_word(call->task + data_offset, &record->flags);
	if (data)
		task_bounds(id, record->frame, call, data);
	call->task = 0;
}

/* At the call of the body. `depth` is the distance from GOMP_taskloop's frame pointer to its frame. */
static __noinline void taskloop_undeferred(struct pt_regs *ctx, __u64 id, __u32 depth,
					   struct ring_record *record)
{
	struct gomp_call *call = taskloop_call(id, frame_pointer(ctx) + depth, record);

	if (!record)
		return;
	ring__emit(id, record);
	record->kind = RING_NONE;
	if (call)
		task_bounds(id, record->frame, call, arg(ctx, 0));
}

/*
 * GOMP_cancel and GOMP_cancellation_point return whether the construct is cancelled. Only then there is an
 * event. Without `do_cancel`, GOMP_cancel acts as GOMP_cancellation_point and may jump to it; the call that
 * was kept first is then replaced.
 */
static __noinline void cancel_entry(struct pt_regs *ctx, __u64 id, struct ring_record *record, bool point)
{
	struct gomp_call call = {.frame = stack(ctx),
				 .kind = RING_CANCEL,
				 .site = caller(ctx, 0, &record->flags),
				 .arg = arg(ctx, 0)};

	if (!record)
		return;
	if (point || !(arg(ctx, 1) & 0xff))
		call.arg |= RING_CANCEL_POINT;
	gomp_call__put(id, &call, false);
	record->kind = RING_NONE;
}

static __noinline void cancel_return(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	struct gomp_call *call;

	if (!record)
		return;
	call = gomp_call__find(id, ctx->sp - 8, RING_CANCEL, true, &record->flags);
	if (!call || !(result(ctx) & 0xff))
		record->kind = RING_NONE;
	if (!call)
		return;
	record->arg = call->arg;
	record->site = call->site;
	gomp_call__close(call);
}

/*
 * GOMP_task waits for the dependences of an undeferred task in a function that others call, too. `off`
 * leads from the probe to the return address in GOMP_task. 0: the probe is at the call in GOMP_target_ext.
 */
static __noinline void depend_wait_begin(struct pt_regs *ctx, __u64 id, struct ring_record *record,
					 __u64 cookie)
{
	struct gomp_call call = {.frame = stack(ctx) - 8 * COOKIE_B(cookie), .kind = RING_WAIT_BEGIN};

	if (!record)
		return;
	if (COOKIE_OFF(cookie) && caller(ctx, 0, &record->flags) != here(ctx) + COOKIE_OFF(cookie)) {
		record->kind = RING_NONE;
		return;
	}
	record->frame = call.frame;
	record->site = frame_caller(ctx, &record->flags);
	gomp_call__put(id, &call, false);
	emit_with_depends(id, record, arg(ctx, 0));
}

static __always_inline void depend_wait_end(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	struct gomp_call *call = gomp_call__find(id, ctx->sp - 8, RING_WAIT_BEGIN, true, &record->flags);

	if (call)
		gomp_call__close(call);
	else
		record->kind = RING_NONE;
}

#endif
