/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads libomp's entry points of loops, sections, singles and locks. */
#ifndef GRAIND_LIBOMP_WORKSHARING_BPF_H
#define GRAIND_LIBOMP_WORKSHARING_BPF_H

#include "bpf/abi/libomp_cookie.h"
#include "bpf/worksharing.bpf.h"

/* A shorter wait for a lock is not recorded. Waits at ordered and doacross always are. */
const volatile __u64 libomp_lock_wait_ns = 1000;

/* What a thread keeps from the entry of a function to its return. */
struct libomp_call {
	/* For a loop entry: addresses of the bounds. */
	__u64 lower_at, upper_at, stride_at;
	__s64 step;
	__u64 last;  /* the loop's last iteration */
	__u64 entry; /* enum libomp_entry that is read at the return; 0: nothing is read */
	/* For a lock entry: */
	__u64 lock, lock_site, lock_ns, lock_frame;
	__u32 chunked;	    /* the chunks of a static loop repeat at a stride */
	__u32 lock_entered; /* the function that takes the lock was entered */
	__u32 doacross;	    /* the next loop has cross-iteration dependences */
	__u32 sections;	    /* in GOMP_sections_start or _next */
	__u64 single_text;  /* source string of the single that it is entering */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct libomp_call);
} libomp_calls SEC(".maps");

/*
 * The thread's state. NULL: there is no memory for it, which is counted. Events that need it are not
 * recorded.
 */
static __always_inline struct libomp_call *libomp_call(void)
{
	struct libomp_call *call = bpf_task_storage_get(&libomp_calls, bpf_get_current_task_btf(), 0,
							BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!call)
		ring__lose(ids__current(), RING_LOSS_STORAGE);
	return call;
}

/* A number of the loop's type, from 8 bytes of which the number may fill only a part. */
static __always_inline __u64 libomp_number(__u64 v, __u32 type)
{
	if (type & LIBOMP_NUMBER_8_BYTES)
		return v;
	return type & LIBOMP_NUMBER_UNSIGNED ? (__u32)v : (__u64)(__s64)(__s32)v;
}

static __always_inline __u64 libomp_number_at(__u64 address, __u32 type, __u32 *flags)
{
	__u64 v = 0;
	long failed;

	if (type & LIBOMP_NUMBER_8_BYTES)
		failed = bpf_probe_read_user(&v, 8, (void *)address);
	else
		failed = bpf_probe_read_user(&v, 4, (void *)address);
	if (failed)
		*flags |= RING_F_FAULT;
	return libomp_number(v, type);
}

/* Reads both bounds. Compilers put them side by side, so one access reads both. */
static __always_inline void libomp_bounds_at(__u64 lower_at, __u64 upper_at, __u32 type,
					     struct ring_record *record, __u32 *flags)
{
	__u64 words[2] = {}, size = type & LIBOMP_NUMBER_8_BYTES ? 8 : 4;
	__u64 low = lower_at < upper_at ? lower_at : upper_at, second;

	if (lower_at + upper_at - 2 * low != size) {
		record->key = libomp_number_at(lower_at, type, flags);
		record->extra = libomp_number_at(upper_at, type, flags);
		return;
	}
	if (bpf_probe_read_user(words, size == 8 ? 16 : 8, (void *)low))
		*flags |= RING_F_FAULT;
	second = size == 8 ? words[1] : words[0] >> 32;
	record->key = libomp_number(low == lower_at ? words[0] : second, type);
	record->extra = libomp_number(low == lower_at ? second : words[0], type);
}

/* Step and chunk size have the loop's width and are always signed. */
static __always_inline __u64 libomp_signed(__u64 v, __u32 type)
{
	return libomp_number(v, type & LIBOMP_NUMBER_8_BYTES);
}

/* ident_t: what the construct is, and where it is in the source. */
static __always_inline __u32 libomp_ident(__u64 loc, __u64 *text, __u32 *flags)
{
	struct {
		__u32 reserved, flags;
		__u64 reserved2, text;
	} ident = {};

	*text = 0;
	if (!loc)
		return 0;
	if (bpf_probe_read_user(&ident, sizeof(ident), (void *)loc))
		*flags |= RING_F_FAULT;
	*text = ident.text;
	return (ident.flags & 0x400 ? RING_LOOP_IS_SECTIONS : 0) |
	       (ident.flags & 0x800 ? RING_LOOP_DISTRIBUTE : 0);
}

/* Records the begin in `record`, then puts the loop's parameters there. */
static __noinline void libomp_loop_begun(__u64 id, struct ring_record *record, __u64 step, __u64 chunk,
					 __u64 text)
{
	ring__emit(id, record);
	record->kind = RING_LOOP_PARAMS;
	record->key = step;
	record->extra = chunk;
	record->site = text;
	record->arg = 0;
	record->flags = 0;
}

static __noinline __u64 libomp_argument(struct pt_regs *ctx, __u32 n, __u32 *flags)
{
	return flags ? argument(ctx, n, flags) : 0;
}

static __noinline void libomp_static_init(struct pt_regs *ctx, __u64 id, __u64 cookie,
					  struct ring_record *record)
{
	__u32 type = COOKIE_B(cookie), entry = COOKIE_A(cookie), code = arg(ctx, 2), flags = 0;
	struct libomp_call *call = libomp_call();
	__u64 lower_at = arg(ctx, 4), upper_at = arg(ctx, 5), text, step, chunk;
	__u32 stride = entry == LIBOMP_DIST_FOR_STATIC_INIT ? 7 : 6; /* step and chunk follow */

	if (!call)
		return;
	if (entry == LIBOMP_TEAM_STATIC_INIT) {
		/* There is no schedule: the teams' parts come in chunks. */
		stride = 5;
		lower_at = arg(ctx, 3);
		upper_at = arg(ctx, 4);
		code = 91;
	}
	call->stride_at = libomp_argument(ctx, stride, &flags);
	step = libomp_argument(ctx, stride + 1, &flags);
	chunk = libomp_argument(ctx, stride + 2, &flags);
	step = libomp_signed(step, type);
	chunk = libomp_is_strided(code) ? libomp_signed(chunk, type) : 0;
	record->key = libomp_number_at(lower_at, type, &flags);
	record->extra = libomp_number_at(upper_at, type, &flags);
	record->site = caller(ctx, 0, &flags);
	record->arg = libomp_schedule(code) | libomp_ident(arg(ctx, 0), &text, &flags) |
		      (type == (LIBOMP_NUMBER_8_BYTES | LIBOMP_NUMBER_UNSIGNED) ? RING_LOOP_UNSIGNED : 0) |
		      (call->doacross ? RING_LOOP_DOACROSS : 0);
	record->flags = flags;
	call->doacross = 0;
	call->lower_at = lower_at;
	call->upper_at = upper_at;
	call->step = (__s64)step;
	call->last = record->extra;
	call->chunked = libomp_is_strided(code);
	call->entry = entry;
	libomp_loop_begun(id, record, step, chunk, text);
}

static __noinline void libomp_dispatch_init(struct pt_regs *ctx, __u64 id, __u64 cookie,
					    struct ring_record *record)
{
	bool dist = COOKIE_A(cookie) == LIBOMP_DIST_DISPATCH_INIT;
	__u32 type = COOKIE_B(cookie), code = arg(ctx, 2), flags = 0, bits;
	struct libomp_call *call = libomp_call();
	__u64 text, step, chunk;

	if (!call)
		return;
	bits = libomp_schedule(code);
	step = libomp_signed(dist ? libomp_argument(ctx, 6, &flags) : arg(ctx, 5), type);
	chunk = libomp_signed(libomp_argument(ctx, dist ? 7 : 6, &flags), type);
	if ((bits & RING_LOOP_SCHEDULE) >= RING_LOOP_AUTO || (code & 0xffff & ~32u) == 34)
		chunk = 0;
	record->key = libomp_number(dist ? arg(ctx, 4) : arg(ctx, 3), type);
	record->extra = libomp_number(dist ? arg(ctx, 5) : arg(ctx, 4), type);
	record->site = caller(ctx, 0, &flags);
	record->arg = bits | libomp_ident(arg(ctx, 0), &text, &flags) |
		      (type == (LIBOMP_NUMBER_8_BYTES | LIBOMP_NUMBER_UNSIGNED) ? RING_LOOP_UNSIGNED : 0) |
		      (call->doacross ? RING_LOOP_DOACROSS : 0);
	record->flags = flags;
	call->doacross = 0;
	libomp_loop_begun(id, record, step, chunk, text);
}

/*
 * GOMP_parallel_loop_*(fn, data, threads, lower, upper, step, chunk, flags), `off` bytes down the stack.
 * Its return address may have been replaced by then. The call site is that of the region.
 */
static __noinline void libomp_gomp_parallel_loop(struct pt_regs *ctx, __u64 id, __u64 cookie,
						 struct ring_record *record)
{
	__u32 layout = COOKIE_B(cookie), flags = 0;
	__u64 chunk = 0;

	if ((layout & COOKIE_REGION_SCHEDULE) != RING_LOOP_RUNTIME)
		chunk = argument_of(ctx, stack(ctx) + COOKIE_OFF(cookie), 6, &flags);
	record->key = arg(ctx, 3);
	record->extra = arg(ctx, 4);
	record->arg = (layout & COOKIE_REGION_SCHEDULE) | RING_LOOP_UPPER_EXCLUSIVE | RING_LOOP_OF_REGION |
		      (layout & COOKIE_REGION_NONMONOTONIC ? RING_LOOP_NONMONOTONIC : 0);
	record->flags = flags;
	libomp_loop_begun(id, record, arg(ctx, 5), chunk, 0);
}

/* The first chunk of a static loop, as the compiler's code will go through it. */
static __noinline void libomp_static_chunk(__u64 id, __u64 cookie, struct ring_record *record)
{
	__u32 type = COOKIE_B(cookie), flags = 0;
	struct libomp_call *call = libomp_call();
	__u64 lower, upper, stride;
	bool none;

	record->kind = RING_NONE;
	if (!call || call->entry != COOKIE_A(cookie))
		return;
	call->entry = 0;
	lower = libomp_number_at(call->lower_at, type, &flags);
	upper = libomp_number_at(call->upper_at, type, &flags);
	if (type == (LIBOMP_NUMBER_8_BYTES | LIBOMP_NUMBER_UNSIGNED)) {
		if (call->step > 0 ? upper > call->last : upper < call->last)
			upper = call->last;
		none = call->step > 0 ? lower > upper : lower < upper;
	} else {
		if (call->step > 0 ? (__s64)upper > (__s64)call->last : (__s64)upper < (__s64)call->last)
			upper = call->last;
		none = call->step > 0 ? (__s64)lower > (__s64)upper : (__s64)lower < (__s64)upper;
	}
	if (none && !flags)
		return;
	record->kind = RING_CHUNK_BEGIN;
	record->key = lower;
	record->extra = upper;
	record->flags = flags;
	if (!call->chunked)
		return;
	stride = libomp_number_at(call->stride_at, type & LIBOMP_NUMBER_8_BYTES, &flags);
	ring__emit(id, record);
	record->kind = RING_CHUNK_STRIDE;
	record->key = stride;
	record->extra = 0;
	record->flags = flags;
}

static __noinline void libomp_dispatch_next(struct pt_regs *ctx, struct ring_record *record)
{
	struct libomp_call *call = libomp_call();

	if (!call || call->sections) {
		if (call)
			record->kind = RING_NONE;
		return;
	}
	call->lower_at = arg(ctx, 3);
	call->upper_at = arg(ctx, 4);
	call->entry = LIBOMP_DISPATCH_NEXT;
	call->doacross = 0;
}

static __noinline void libomp_dispatched(struct pt_regs *ctx, __u64 cookie, struct ring_record *record)
{
	__u32 type = COOKIE_B(cookie), flags = 0;
	struct libomp_call *call = libomp_call();

	record->kind = RING_NONE;
	if (!call || call->entry != LIBOMP_DISPATCH_NEXT)
		return;
	call->entry = 0;
	if (!(__u32)result(ctx)) {
		record->kind = RING_LOOP_END;
		return;
	}
	record->kind = RING_CHUNK_BEGIN;
	libomp_bounds_at(call->lower_at, call->upper_at, type, record, &flags);
	record->flags = flags;
}

/*
 * Reads the number of a section, or that none is left. Until then, the thread's chunks are not chunks of a
 * loop.
 */
static __noinline void libomp_section(struct pt_regs *ctx, struct ring_record *record)
{
	struct libomp_call *call = libomp_call();

	if (call)
		call->sections = 0;
	record->kind = (__u32)result(ctx) ? RING_SECTION_BEGIN : RING_SECTIONS_END;
	record->arg = (__u32)result(ctx) ? (__u32)result(ctx) - 1 : 0;
}

static __noinline void libomp_in_sections(struct ring_record *record)
{
	struct libomp_call *call = libomp_call();

	if (call)
		call->sections = 1;
	else
		record->flags |= RING_F_FAULT;
}

/* The call site of the outermost function is that of the program. */
static __noinline void libomp_lock_called(struct pt_regs *ctx, __u64 cookie, struct ring_record *record)
{
	struct libomp_call *call = libomp_call();
	bool inner = COOKIE_A(cookie) == LIBOMP_LOCK_INNER;
	__u32 flags = 0;

	record->kind = RING_NONE;
	if (!call)
		return;
	/*
	 * The outer call's return was not seen, so its data is old; or the outer call has not called this
	 * function.
	 */
	if (!call->lock_ns || call->lock_entered || call->lock_frame < stack(ctx)) {
		call->lock_ns = bpf_ktime_get_ns();
		call->lock_frame = stack(ctx);
		call->lock_site = caller(ctx, COOKIE_OFF(cookie), &flags);
		call->lock_entered = 0;
	}
	if (inner) {
		call->lock = COOKIE_REG(cookie) != COOKIE_REG_NONE ? reg(ctx, COOKIE_REG(cookie)) : 0;
		call->lock_entered = 1;
	}
}

static __noinline void libomp_lock_got(__u64 cookie, struct ring_record *record)
{
	struct libomp_call *call = libomp_call();

	record->kind = RING_NONE;
	if (!call || !call->lock_entered)
		return;
	record->arg = COOKIE_B(cookie);
	if (record->arg == RING_LOCK_ORDERED || record->arg == RING_LOCK_DOACROSS ||
	    bpf_ktime_get_ns() - call->lock_ns >= libomp_lock_wait_ns) {
		record->kind = RING_LOCK_WAIT;
		/*
		 * This is not the frame at the return: that is above the frames of other calls of the same
		 * function.
		 */
		record->frame = call->lock_frame;
		record->key = call->lock;
		record->extra = call->lock_ns;
		record->site = call->lock_site;
	}
	call->lock_ns = 0;
	call->lock_entered = 0;
}

static __noinline void libomp_single(struct pt_regs *ctx, __u64 cookie, struct ring_record *record)
{
	struct libomp_call *call = libomp_call();
	bool copy = COOKIE_A(cookie) == LIBOMP_SINGLE_COPY;

	if (COOKIE_A(cookie) == LIBOMP_SINGLE_CALLED) {
		record->kind = RING_NONE;
		if (call)
			libomp_ident(arg(ctx, 0), &call->single_text, &record->flags);
		return;
	}
	record->arg = copy ? !result(ctx) : result(ctx) & 0xff;
	record->site = here(ctx); /* where it returns to */
	if (call) {
		record->extra = call->single_text;
		call->single_text = 0;
	}
}

/* Puts the end of a loop or sections into `record`. The end of a cancelled loop may be a barrier. */
static __noinline void libomp_construct_end(struct pt_regs *ctx, __u64 id, __u64 cookie,
					    struct ring_record *record)
{
	if (COOKIE_A(cookie) == LIBOMP_WAIT) {
		ring__emit(id, record);
		record->site = caller(ctx, 0, &record->flags);
		record->kind = RING_WAIT_BEGIN;
		record->arg = RING_WAIT_BARRIER_IMPLICIT;
	} else if (COOKIE_A(cookie) == LIBOMP_WAITED) {
		record->kind = RING_WAIT_END;
		record->arg = RING_WAIT_BARRIER_IMPLICIT;
	}
}

static __noinline void libomp_loop_begin(struct pt_regs *ctx, __u64 id, __u64 cookie,
					 struct ring_record *record)
{
	struct libomp_call *call;

	if (COOKIE_A(cookie) & COOKIE_LOOP_ALONE) {
		worksharing__loop_begin(ctx, id, cookie, record);
		return;
	}
	switch (COOKIE_A(cookie)) {
	case LIBOMP_STATIC_INIT:
	case LIBOMP_DIST_FOR_STATIC_INIT:
	case LIBOMP_TEAM_STATIC_INIT:
		libomp_static_init(ctx, id, cookie, record);
		break;
	case LIBOMP_DISPATCH_INIT:
	case LIBOMP_DIST_DISPATCH_INIT:
		libomp_dispatch_init(ctx, id, cookie, record);
		break;
	case LIBOMP_GOMP_PARALLEL_LOOP:
		libomp_gomp_parallel_loop(ctx, id, cookie, record);
		break;
	default: /* LIBOMP_DOACROSS_INIT */
		call = libomp_call();
		if (call)
			call->doacross = 1;
		record->kind = RING_NONE;
		break;
	}
}

static __always_inline void libomp_worksharing__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
						     struct ring_record *record)
{
	switch (record->kind) {
	case RING_LOOP_BEGIN:
		libomp_loop_begin(ctx, id, cookie, record);
		break;
	case RING_CHUNK_NEXT:
		libomp_dispatch_next(ctx, record);
		break;
	case RING_CHUNK_BEGIN:
		if (COOKIE_A(cookie) == LIBOMP_DISPATCH_NEXT)
			libomp_dispatched(ctx, cookie, record);
		else
			libomp_static_chunk(id, cookie, record);
		break;
	case RING_SECTIONS_BEGIN:
		if (COOKIE_A(cookie) == LIBOMP_GOMP_PARALLEL_SECTIONS) {
			record->arg = arg(ctx, 3) | RING_SECTIONS_OF_REGION;
			break;
		}
		record->arg = arg(ctx, 0);
		record->site = caller(ctx, 0, &record->flags);
		libomp_in_sections(record);
		break;
	case RING_SECTION_NEXT:
		libomp_in_sections(record);
		break;
	case RING_SECTION_BEGIN:
		libomp_section(ctx, record);
		break;
	case RING_SINGLE:
		libomp_single(ctx, cookie, record);
		break;
	case RING_LOCK_WAIT:
		if (COOKIE_A(cookie) == LIBOMP_LOCK_GOT)
			libomp_lock_got(cookie, record);
		else
			libomp_lock_called(ctx, cookie, record);
		break;
	case RING_STATIC_SHARE:
		record->site = caller(ctx, 0, &record->flags);
		break;
	case RING_LOOP_END:
	case RING_SECTIONS_END:
		libomp_construct_end(ctx, id, cookie, record);
		break;
	default: /* SINGLE_END: nothing to read */
		break;
	}
}

#endif
