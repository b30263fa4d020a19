/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Static loops that GCC wrote into the program. At a conditional jump of the program's code, registers and
 * frame hold the thread's share of the iterations.
 */
#ifndef GRAIND_LOOPS_BPF_H
#define GRAIND_LOOPS_BPF_H

#include "bpf/abi/loop_cookie.h"
#include "bpf/registers.bpf.h"

/*
 * Reads a place, with 64 bits only if `wide`. Slots hold what is kept of the number of threads and the
 * number of chunks.
 */
static __noinline __u64 loops__at(struct pt_regs *ctx, __u32 place, __u32 wide, __u32 *flags)
{
	__s32 distance = (__s32)(place << 20) >> 20;
	__u64 v = 0;

	if (!flags)
		return 0;
	if (!(place & LOOP_PLACE_STACK)) {
		v = reg(ctx, place & 31);
		if (place & LOOP_PLACE_BYTE)
			v = (__u8)v;
		else if (place & LOOP_PLACE_SHORT)
			v = (__u16)v;
	} else if ((place & LOOP_PLACE_FRAME) == LOOP_PLACE_FRAME) {
		v = user_word(reg(ctx, FRAME_REGISTER) + 4 * (__s64)distance, flags);
	} else {
		v = user_word(ctx->sp + 4 * (__s64)distance, flags);
	}
	return wide ? v : (__u32)v;
}

/*
 * The key of a share that the thread computes once and uses several times: where it is computed, and the
 * frame of the function. In another call of the function the stack pointer is different.
 */
struct loops_key {
	__u64 sp, site;
	__u32 thread, unused;
};

struct loops_share {
	__u64 first, end, count, chunk;
	__u32 bounds, flags;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct loops_key);
	__type(value, struct loops_share);
} loops_shares SEC(".maps");

static __always_inline void loops__keep(struct pt_regs *ctx, const struct loops_share *share)
{
	struct loops_key key = {.sp = ctx->sp,
				.site = here(ctx),
				.thread = (__u32)bpf_get_current_pid_tgid()};

	bpf_map_update_elem(&loops_shares, &key, share, 0);
}

/* Whether the jump leads to iterations. */
static __always_inline bool loops__goes_on(struct pt_regs *ctx, __u64 cookie)
{
	__u64 jump = (__u64)LOOP_COOKIE_TEST(cookie) << 31;

	return will_jump(ctx, jump) == !!(LOOP_COOKIE_FLAGS(cookie) & LOOP_FLAG_TAKEN);
}

/*
 * `site`: the jump that identifies the loop. `share`: what the event says of it. Leaves the loop's
 * parameters in `record`.
 */
static __always_inline void loops__begin(__u64 site, __u64 id, __u64 cookie, const struct loops_share *share,
					 struct ring_record *record)
{
	record->flags = share->flags | RING_F_IN_PROGRAM;
	record->kind = RING_LOOP_BEGIN;
	record->key = 0;
	record->extra = share->count;
	record->site = site + 1; /* as if it were a call that returns behind the jump's first byte */
	record->arg = RING_LOOP_STATIC | RING_LOOP_UPPER_EXCLUSIVE | RING_LOOP_IN_PROGRAM | share->bounds;
	if (LOOP_COOKIE_FLAGS(cookie) & LOOP_FLAG_TEAMS)
		record->arg |= RING_LOOP_DISTRIBUTE;
	ring__emit(id, record);
	record->kind = RING_LOOP_PARAMS;
	record->key = 1;
	record->extra = share->chunk;
	record->site = 0;
	record->arg = 0;
	record->flags = RING_F_IN_PROGRAM;
}

static __always_inline void loops__chunk(__u64 first, __u64 end, struct ring_record *record)
{
	record->kind = RING_CHUNK_BEGIN;
	record->key = first;
	record->extra = end;
	record->arg = RING_LOOP_UPPER_EXCLUSIVE;
	record->site = 0;
}

/* Converts the place of a BLOCK's rest to the form of other places. */
static __always_inline __u32 loops__rest_place(__u32 rest)
{
	__u32 distance = (__u32)((__s32)(rest << 22) >> 22) & LOOP_PLACE_DISTANCE;

	if (!(rest & LOOP_REST_STACK))
		return rest;
	return ((rest & LOOP_REST_FRAME) == LOOP_REST_FRAME ? LOOP_PLACE_FRAME : LOOP_PLACE_STACK) | distance;
}

/* Records the begin of a loop, and of the thread's chunk if it has one. */
static __always_inline void loops__emit_share(__u64 site, __u64 id, __u64 cookie,
					      const struct loops_share *share, struct ring_record *record)
{
	loops__begin(site, id, cookie, share, record);
	if (share->first == share->end)
		return;
	ring__emit(id, record);
	loops__chunk(share->first, share->end, record);
}

static __noinline void loops__block(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	__u32 wide = LOOP_COOKIE_FLAGS(cookie) & LOOP_FLAG_WIDE, flags = 0, threads_at;
	__u64 length, rest, thread, threads;
	struct loops_share share;

	if (!record)
		return;
	thread = loops__at(ctx, LOOP_COOKIE_C(cookie), 0, &flags);
	threads_at = LOOP_COOKIE_B(cookie);
	threads = threads_at == LOOP_PLACE_NONE ? 0 : loops__at(ctx, threads_at, 0, &flags);
	if (LOOP_COOKIE_REST(cookie) == LOOP_PLACE_NONE) {
		rest = LOOP_COOKIE_A(cookie);
		length = threads ? rest / threads : 0;
		rest -= length * threads;
	} else {
		length = loops__at(ctx, LOOP_COOKIE_A(cookie), wide, &flags);
		rest = loops__at(ctx, loops__rest_place(LOOP_COOKIE_REST(cookie)), wide, &flags);
	}
	if (LOOP_COOKIE_FLAGS(cookie) & LOOP_FLAG_TAKEN && thread >= rest)
		return;
	share = (struct loops_share){.count = threads ? length * threads + rest : 0,
				     .bounds = threads ? 0 : RING_LOOP_UPPER_UNKNOWN,
				     .flags = flags};
	if (thread < rest) {
		length++;
		rest = 0;
	}
	share.first = length * thread + rest;
	share.end = share.first + length;
	if (LOOP_COOKIE_TEST(cookie) & LOOP_KEEP)
		loops__keep(ctx, &share);
	if (LOOP_COOKIE_TEST(cookie) != LOOP_KEEP_ONLY)
		loops__emit_share(here(ctx), id, cookie, &share, record);
}

/* A loop whose share was kept before. */
static __noinline void loops__enter(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	struct loops_key key = {.sp = ctx->sp,
				.site = here(ctx) + LOOP_COOKIE_SHARE(cookie),
				.thread = (__u32)bpf_get_current_pid_tgid()};
	const struct loops_share *share = bpf_map_lookup_elem(&loops_shares, &key);

	if (share && record)
		loops__emit_share(here(ctx) + LOOP_COOKIE_SITE(cookie), id, cookie, share, record);
}

static __noinline void loops__chunks(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	__u32 point = LOOP_COOKIE_POINT(cookie), wide = LOOP_COOKIE_FLAGS(cookie) & LOOP_FLAG_WIDE, flags = 0;
	bool goes_on = loops__goes_on(ctx, cookie), begins = point == LOOP_POINT_FIRST;
	__u64 chunk = LOOP_COOKIE_CHUNK(cookie), first, end;
	struct loops_share share = {.bounds = RING_LOOP_UPPER_UNKNOWN};

	if (!record)
		return;
	first = loops__at(ctx, LOOP_COOKIE_A(cookie), wide, &flags);
	if (point <= LOOP_POINT_AGAIN && cookie & LOOP_COOKIE_CONSTANT)
		end = LOOP_COOKIE_B(cookie);
	else if (LOOP_COOKIE_B(cookie) == LOOP_PLACE_NONE)
		end = first + 1;
	else
		end = loops__at(ctx, LOOP_COOKIE_B(cookie), wide, &flags);
	if (point <= LOOP_POINT_AGAIN && cookie & LOOP_COOKIE_LIMIT) {
		share.count = end;
		share.bounds = 0;
		if (first + chunk < end)
			end = first + chunk;
	}
	if (point == LOOP_POINT_TRIPS) {
		begins = !loops__at(ctx, LOOP_COOKIE_C(cookie), wide, &flags);
		chunk = LOOP_COOKIE_SMALL_CHUNK(cookie);
	}
	if (point == LOOP_POINT_HEAD) {
		chunk = LOOP_COOKIE_SMALL_CHUNK(cookie);
		begins =
			(LOOP_COOKIE_C(cookie) & (LOOP_PLACE_STACK | LOOP_C_STRIDE)) == LOOP_C_STRIDE
				? first < loops__at(ctx, LOOP_COOKIE_C(cookie) & ~LOOP_C_STRIDE, wide, &flags)
				: first < chunk * loops__at(ctx, LOOP_COOKIE_C(cookie), 0, &flags);
	}
	if (begins) {
		share.first = first;
		share.end = goes_on ? end : first;
		share.chunk = chunk;
		share.flags = flags;
		if (point == LOOP_POINT_FIRST && cookie & LOOP_COOKIE_KEEP)
			loops__keep(ctx, &share);
		if (point == LOOP_POINT_FIRST && cookie & LOOP_COOKIE_KEEP_ONLY && goes_on)
			return;
		loops__begin(here(ctx), id, cookie, &share, record);
		ring__emit(id, record);
	}
	record->flags = flags | RING_F_IN_PROGRAM;
	if (goes_on)
		loops__chunk(first, end, record);
	else
		record->kind = RING_LOOP_END;
}

/* The first of several chunks that are not seen one by one. With the distance between them, all are known. */
static __noinline void loops__strided(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	__u32 wide = LOOP_COOKIE_FLAGS(cookie) & LOOP_FLAG_WIDE, flags = 0, a = LOOP_COOKIE_A(cookie);
	bool goes_on = loops__goes_on(ctx, cookie);
	__u64 chunk = LOOP_COOKIE_SMALL_CHUNK(cookie), first, end, count, threads;
	struct loops_share share;

	if (!record)
		return;
	first = loops__at(ctx, a & 31, wide, &flags);
	end = loops__at(ctx, a >> 5 & 31, wide, &flags);
	count = a & LOOP_A_CONSTANT ? LOOP_COOKIE_B(cookie)
				    : loops__at(ctx, LOOP_COOKIE_B(cookie), wide, &flags);
	threads = loops__at(ctx, LOOP_COOKIE_C(cookie), 0, &flags);
	share = (struct loops_share){.count = count, .chunk = chunk, .flags = flags};
	loops__begin(here(ctx), id, cookie, &share, record);
	if (!goes_on)
		return;
	ring__emit(id, record);
	loops__chunk(first, end, record);
	/* A chunk that is shorter is the last one. */
	if (!chunk)
		chunk = end - first;
	ring__emit(id, record);
	record->kind = RING_CHUNK_STRIDE;
	record->key = chunk * threads;
	record->extra = 0;
	record->arg = 0;
}

/* Leaves the last record in `record`, or RING_NONE. */
static __always_inline void loops__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
					struct ring_record *record)
{
	switch (LOOP_COOKIE_POINT(cookie)) {
	case LOOP_POINT_ENTER:
		loops__enter(ctx, id, cookie, record);
		break;
	case LOOP_POINT_END:
		record->kind = RING_LOOP_END;
		record->flags = RING_F_IN_PROGRAM;
		break;
	case LOOP_POINT_BLOCK:
		loops__block(ctx, id, cookie, record);
		break;
	case LOOP_POINT_FIRST:
	case LOOP_POINT_AGAIN:
	case LOOP_POINT_TRIPS:
	case LOOP_POINT_HEAD:
		loops__chunks(ctx, id, cookie, record);
		break;
	case LOOP_POINT_STRIDE:
		loops__strided(ctx, id, cookie, record);
		break;
	}
}

#endif
