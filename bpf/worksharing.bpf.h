/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads libgomp's entry points of loops, sections, single copyprivate and locks.
 *
 * The runtime calls its own entry points (GOMP_loop_start calls GOMP_loop_runtime_next). All of them share
 * the functions that take the next chunk. Probes are at these functions if the entry points cannot be
 * probed cheaply. So a thread keeps the outermost call that it is in. The stack pointer shows whether a hit
 * is in a function that this call has called. Such a hit is dropped, or completed with the kept data.
 */
#ifndef GRAIND_WORKSHARING_BPF_H
#define GRAIND_WORKSHARING_BPF_H

#include "bpf/registers.bpf.h"
#include "bpf/abi/runtime_codes.h"

enum libgomp_call_kind {
	CALL_OWN_RETURN = 1, /* the return of the call itself shows what it got */
	CALL_LOOP = 2,	     /* the function that takes a chunk shows it */
	CALL_SECTIONS = 3,   /* the function that takes a section shows its number */
};

struct libgomp_call {
	__u64 frame;		  /* stack pointer at the entry of the call; 0: it is in none */
	__u64 lower_at, upper_at; /* where the runtime will store the chunk's bounds */
	__u64 what;		  /* enum libgomp_call_kind */
	__u64 lock_frame, lock_key, lock_site, lock_ns;
	__u64 copy_site;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct libgomp_call);
} libgomp_calls SEC(".maps");

/* An upper bound of the stack that these functions use below their return address. */
#define CALL_FRAME_MAX 1024

/*
 * The thread's kept call. NULL: there is no memory for it, which is counted. Events that need it are not
 * recorded.
 */
static __always_inline struct libgomp_call *libgomp_call(void)
{
	struct libgomp_call *call = bpf_task_storage_get(&libgomp_calls, bpf_get_current_task_btf(), 0,
							 BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!call)
		ring__lose(ids__current(), RING_LOSS_STORAGE);
	return call;
}

/* Whether a function that was entered with this stack pointer is the kept call, or was called by it. */
static __always_inline bool inside_call(const struct libgomp_call *call, __u64 frame)
{
	return call->frame && call->frame - frame < CALL_FRAME_MAX;
}

/* Argument `n` of a function whose argument registers are intact and whose entry had this stack pointer. */
static __noinline __u64 argument_at(struct pt_regs *ctx, __u64 frame, __u32 n, __u32 *flags)
{
	return flags ? argument_of(ctx, frame, n, flags) : 0;
}

/* Records `record`, then puts the loop's parameters into it. */
static __always_inline void loop_params(__u64 id, struct ring_record *record, __u64 step, __u64 chunk)
{
	ring__emit(id, record);
	record->kind = RING_LOOP_PARAMS;
	record->key = step;
	record->extra = chunk;
	record->site = 0;
	record->arg = 0;
	record->flags = 0;
}

/* A construct with reductions over tasks opens a taskgroup, which ends with the construct. */
static __noinline void task_reduction(__u64 id, const struct ring_record *record)
{
	struct ring_record group = {.kind = RING_GROUP_BEGIN, .frame = record->frame, .site = record->site};

	ring__emit(id, &group);
}

/*
 * At a GOMP_loop_*_start: records LOOP_BEGIN and leaves LOOP_PARAMS in `record`. In the cookie, `a` is the
 * layout of the arguments, `b` the number of words by which rsp has moved, `off` the bits of enum ring_loop
 * that follow from the function's name.
 */
static __noinline void worksharing__loop_begin(struct pt_regs *ctx, __u64 id, __u64 cookie,
					       struct ring_record *record)
{
	__u32 layout = COOKIE_A(cookie), n = layout & COOKIE_LOOP_UP ? 1 : 0, flags = 0;
	__u64 frame = stack(ctx) + 8 * COOKIE_B(cookie), step = 1, chunk = 0, lower_at, upper_at;
	struct libgomp_call *call = NULL;

	record->kind = RING_NONE;
	if (!(layout & COOKIE_LOOP_ALONE)) {
		call = libgomp_call();
		if (!call || inside_call(call, frame))
			return;
	}
	record->arg = (__u32)COOKIE_OFF(cookie);
	if (layout & COOKIE_LOOP_DOACROSS) {
		record->key = 0;
		record->extra = user_word(argument_at(ctx, frame, 1, &flags), &flags);
		n = 2;
	} else {
		record->key = argument_at(ctx, frame, n, &flags);
		record->extra = argument_at(ctx, frame, n + 1, &flags);
		step = argument_at(ctx, frame, n + 2, &flags);
		n += 3;
	}
	if (layout & COOKIE_LOOP_SCHED)
		record->arg |= libgomp_schedule(argument_at(ctx, frame, n++, &flags));
	if (layout & COOKIE_LOOP_CHUNK)
		chunk = argument_at(ctx, frame, n++, &flags);
	lower_at = argument_at(ctx, frame, n, &flags);
	upper_at = argument_at(ctx, frame, n + 1, &flags);
	record->frame = frame;
	record->site = caller(ctx, 8 * COOKIE_B(cookie), &flags);
	record->flags = flags;
	if (layout & COOKIE_LOOP_SCHED && argument_at(ctx, frame, n + 2, &flags))
		task_reduction(id, record);
	if (!lower_at) /* the call only prepares reductions for a loop that the compiler divides itself */
		return;
	if (call) {
		call->frame = frame;
		call->lower_at = lower_at;
		call->upper_at = upper_at;
		call->what = CALL_OWN_RETURN;
	}
	record->kind = RING_LOOP_BEGIN;
	loop_params(id, record, step, chunk);
}

/*
 * Called after a region of a combined construct was put into `record`. Records the region, and leaves the
 * last event that describes its loop or sections. `layout` is that of plan_worksharing__region_layout. The
 * registers are those of the entry.
 */
static __noinline void worksharing__of_region(struct pt_regs *ctx, __u64 id, __u32 layout,
					      struct ring_record *record)
{
	__u32 flags = 0;

	if (!layout)
		return;
	ring__emit(id, record);
	record->flags = 0;
	if (layout == COOKIE_REGION_SECTIONS) {
		record->kind = RING_SECTIONS_BEGIN;
		record->key = 0;
		record->arg = (__u32)arg(ctx, 3) | RING_SECTIONS_OF_REGION;
		return;
	}
	record->kind = RING_LOOP_BEGIN;
	record->key = arg(ctx, 3);
	record->extra = arg(ctx, 4);
	record->arg = (layout & COOKIE_REGION_SCHEDULE) | RING_LOOP_OF_REGION | RING_LOOP_UPPER_EXCLUSIVE;
	if (layout & COOKIE_REGION_NONMONOTONIC)
		record->arg |= RING_LOOP_NONMONOTONIC;
	loop_params(id, record, arg(ctx, 5),
		    (layout & COOKIE_REGION_SCHEDULE) == RING_LOOP_RUNTIME ? 0 : argument(ctx, 6, &flags));
	record->flags = flags;
}

/*
 * The thread asks for the next chunk or section, in a call that is kept until its end, or in the function
 * that takes the chunk.
 */
static __always_inline void asks(struct pt_regs *ctx, __u64 cookie, struct ring_record *record)
{
	__u64 frame = stack(ctx) + 8 * COOKIE_B(cookie);
	struct libgomp_call *call = libgomp_call();

	record->frame = frame;
	if (!call) {
		record->kind = RING_NONE;
		return;
	}
	if (inside_call(call, frame)) {
		record->kind = RING_NONE;
		if (COOKIE_A(cookie) != COOKIE_CALL_TAKES || call->what == CALL_OWN_RETURN)
			return;
	} else {
		call->frame = frame;
		call->what = COOKIE_A(cookie) == COOKIE_CALL_OWN	? CALL_OWN_RETURN
			     : COOKIE_KIND(cookie) == RING_SECTION_NEXT ? CALL_SECTIONS
									: CALL_LOOP;
	}
	if (COOKIE_REG(cookie) != COOKIE_REG_NONE) {
		call->lower_at = reg(ctx, COOKIE_REG(cookie));
		call->upper_at = reg(ctx, COOKIE_REG2(cookie));
	}
}

static __always_inline void read_bounds(const struct libgomp_call *call, struct ring_record *record)
{
	__u64 low = call->lower_at < call->upper_at ? call->lower_at : call->upper_at, words[2] = {};

	if (call->lower_at + call->upper_at - 2 * low != 8) { /* compilers put them side by side */
		record->key = user_word(call->lower_at, &record->flags);
		record->extra = user_word(call->upper_at, &record->flags);
		return;
	}
	if (bpf_probe_read_user(words, sizeof(words), (void *)low))
		record->flags |= RING_F_FAULT;
	record->key = low == call->lower_at ? words[0] : words[1];
	record->extra = low == call->lower_at ? words[1] : words[0];
}

/* The return of a call that asked, or of the function that takes the chunk. */
static __always_inline void got(struct pt_regs *ctx, __u64 cookie, struct ring_record *record)
{
	bool taken = COOKIE_B(cookie) ? !(__u32)result(ctx) : result(ctx) & 0xff;
	struct libgomp_call *call = libgomp_call();
	__u64 frame;

	record->kind = RING_NONE;
	if (!call)
		return;
	frame = call->frame;
	if (COOKIE_A(cookie) == COOKIE_CALL_OWN
		    ? call->what != CALL_OWN_RETURN || frame + 8 != ctx->sp
		    : call->what == CALL_OWN_RETURN || !inside_call(call, ctx->sp - 8))
		return;
	call->frame = 0;
	record->frame = frame + 8;
	if (COOKIE_KIND(cookie) == RING_SECTION_BEGIN) {
		record->kind = (__u32)result(ctx) ? RING_SECTION_BEGIN : RING_SECTIONS_END;
		record->arg = (__u32)result(ctx) ? (__u32)result(ctx) - 1 : 0;
	} else if (call->what == CALL_SECTIONS) {
		record->kind = taken ? RING_SECTION_BEGIN : RING_SECTIONS_END;
		if (taken)
			record->arg = (__u32)user_word(call->lower_at, &record->flags) - 1;
	} else {
		record->kind = taken ? RING_CHUNK_BEGIN : RING_LOOP_END;
		if (taken) {
			read_bounds(call, record);
			record->arg = RING_LOOP_UPPER_EXCLUSIVE;
		}
	}
}

static __always_inline void sections_begin(struct pt_regs *ctx, __u64 id, __u64 cookie,
					   struct ring_record *record)
{
	struct libgomp_call *call = libgomp_call();

	record->frame = stack(ctx) + 8 * COOKIE_B(cookie);
	if (!call) {
		record->kind = RING_NONE;
		return;
	}
	call->frame = record->frame;
	call->what = CALL_OWN_RETURN;
	record->arg = (__u32)arg(ctx, 0);
	record->site = caller(ctx, 8 * COOKIE_B(cookie), &record->flags);
	if (COOKIE_OFF(cookie) && arg(ctx, 1))
		task_reduction(id, record);
}

/* GOMP_loop_end and similar functions. Also records the end of a cancelled loop, and the wait at the end. */
static __always_inline void construct_end(struct pt_regs *ctx, __u64 id, __u64 cookie,
					  struct ring_record *record)
{
	if (!COOKIE_A(cookie))
		return;
	ring__emit(id, record);
	record->kind = RING_WAIT_BEGIN;
	record->arg = COOKIE_A(cookie);
	record->site = caller(ctx, 0, &record->flags);
}

/*
 * single copyprivate. The threads that lost wait in GOMP_single_copy_start, the thread that won waits in
 * GOMP_single_copy_end. Each waits once, at the same barrier. The call site is kept from the entry, because
 * a return probe hides the return address.
 */
static __always_inline void single_copy(struct pt_regs *ctx, __u64 id, __u64 cookie,
					struct ring_record *record)
{
	struct libgomp_call *call;

	switch (COOKIE_A(cookie)) {
	case COOKIE_COPY_START:
		record->kind = RING_NONE;
		call = libgomp_call();
		if (call)
			call->copy_site = caller(ctx, 0, &record->flags);
		break;
	case COOKIE_COPY_LOST:
		call = libgomp_call();
		record->frame = stack(ctx) + 8 * COOKIE_B(cookie);
		record->site = call ? call->copy_site : 0;
		record->kind = RING_SINGLE;
		record->arg = 0;
		ring__emit(id, record);
		record->kind = RING_WAIT_BEGIN;
		record->arg = RING_WAIT_BARRIER_IMPLICIT;
		break;
	case COOKIE_COPY_STARTED:
		if (result(ctx)) {
			record->kind = RING_WAIT_END;
			record->arg = RING_WAIT_BARRIER_IMPLICIT;
			break;
		}
		call = libgomp_call();
		record->site = call ? call->copy_site : 0;
		record->kind = RING_SINGLE;
		record->arg = 1;
		break;
	case COOKIE_COPY_END:
		ring__emit(id, record);
		record->kind = RING_WAIT_BEGIN;
		record->arg = RING_WAIT_BARRIER_IMPLICIT;
		record->site = caller(ctx, 0, &record->flags);
		break;
	}
}

/* Records one event when the lock is acquired, with the time at which the wait began. */
static __always_inline void lock_wait(struct pt_regs *ctx, __u64 cookie, struct ring_record *record)
{
	__u32 moment = (__u32)COOKIE_OFF(cookie);
	__u64 frame = moment == COOKIE_LOCK_RETURN ? ctx->sp - 8 : stack(ctx) + 8 * COOKIE_B(cookie);
	struct libgomp_call *call = libgomp_call();

	record->kind = RING_NONE;
	if (!call)
		return;
	if (moment == COOKIE_LOCK_BEGIN) {
		if (inside_call(call, frame)) /* part of getting the next chunk of an ordered loop */
			return;
		call->lock_frame = frame;
		call->lock_key = COOKIE_REG(cookie) != COOKIE_REG_NONE ? reg(ctx, COOKIE_REG(cookie)) : 0;
		call->lock_site = caller(ctx, 8 * COOKIE_B(cookie), &record->flags);
		call->lock_ns = bpf_ktime_get_ns();
		return;
	}
	if (call->lock_frame != frame)
		return;
	call->lock_frame = 0;
	record->kind = RING_LOCK_WAIT;
	record->frame = frame;
	record->key = call->lock_key;
	record->site = call->lock_site;
	record->extra = call->lock_ns;
	record->arg = COOKIE_A(cookie);
}

static __always_inline void worksharing__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
					      struct ring_record *record)
{
	switch (record->kind) {
	case RING_LOOP_BEGIN:
		worksharing__loop_begin(ctx, id, cookie, record);
		break;
	case RING_CHUNK_NEXT:
	case RING_SECTION_NEXT:
		asks(ctx, cookie, record);
		break;
	case RING_CHUNK_BEGIN:
	case RING_SECTION_BEGIN:
		got(ctx, cookie, record);
		break;
	case RING_SECTIONS_BEGIN:
		sections_begin(ctx, id, cookie, record);
		break;
	case RING_LOOP_END:
	case RING_SECTIONS_END:
		construct_end(ctx, id, cookie, record);
		break;
	case RING_SINGLE_END:
		single_copy(ctx, id, cookie, record);
		break;
	case RING_LOCK_WAIT:
		lock_wait(ctx, cookie, record);
		break;
	case RING_STATIC_SHARE:
		record->frame = stack(ctx) + 8 * COOKIE_B(cookie);
		record->site = caller(ctx, 8 * COOKIE_B(cookie), &record->flags);
		break;
	default:
		break;
	}
}

#endif
