/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cookies of points at static loops that GCC wrote into a program. uprobes/static_loops writes them,
 * bpf/loops.bpf.h reads them.
 *
 *   bits  0-2   enum loop_point
 *   bit   3     the numbers have 64 bits
 *   bit   4     the iterations are divided among teams
 *   bit   5     the jump leads to iterations if it is taken
 *   bits  6-9   the jump's condition, as in its opcode
 *   bits 10-23  place A, 24-37 place B, 38-51 place C: enum loop_place
 *   bits 52-63  the chunk size if C is a place, else bits 38-59; 0: not known.
 *               BLOCK has an enum loop_rest here
 *   bit  60     of FIRST and AGAIN: B is n itself
 *   bit  61     of FIRST and AGAIN: B is n, or the place of n; the chunk ends at n
 *               or after the chunk size
 *   bit  62     of FIRST: the share is kept
 *   bit  63     of FIRST: if the share has iterations, it is only kept
 *
 * ENTER has two signed numbers of bytes: bits 10-33 are the distance to where the share was kept,
 * bits 34-57 the distance to the jump whose address identifies the loop; 0: it is this jump.
 */
#ifndef GRAIND_LOOP_COOKIE_H
#define GRAIND_LOOP_COOKIE_H

#include "bpf/abi/cookie.h"

/*
 * What can be read at a point. The first iteration has the number 0. An end is the number after the last
 * iteration.
 */
enum loop_point {
	LOOP_POINT_ENTER, /* a loop begins; its share was kept before, at the same stack pointer */
	LOOP_POINT_END,	  /* the loop is over for this thread */
	LOOP_POINT_BLOCK, /* schedule(static) divides n iterations. A: n / threads, the rest: n % threads, B:
			     the number of threads, C: the thread's number. If the rest is NONE, A is n
			     itself. With LOOP_FLAG_TAKEN, only threads whose number is below n % threads come
			     here */
	LOOP_POINT_FIRST, /* schedule(static, k), the thread's first chunk. A: its first iteration, B: its end
			   */
	LOOP_POINT_AGAIN, /* the thread's next chunk, or the end of the loop. A, B: as of FIRST */
	LOOP_POINT_TRIPS, /* any chunk of the thread. A, B: as of FIRST, C: how many chunks it had before */
	LOOP_POINT_HEAD,  /* any chunk of the thread. A, B: as of FIRST, C: the number of threads. The first
			     chunk begins below the chunk size times C */
	LOOP_POINT_STRIDE, /* the thread's first chunk, if other chunks are not seen. A: the register of its
			      first iteration plus 32 times the register of its end, B: n, C: the number of
			      threads */
};

_Static_assert(LOOP_POINT_STRIDE == 7, "a point has three bits, and all of their values are points but 0");

/*
 * A register's number, and which of its bytes count if they are not 4 or 8; or the distance of a slot in
 * units of 4 bytes, with one of the bits.
 */
enum loop_place {
	LOOP_PLACE_NONE = 31,
	LOOP_PLACE_BYTE = 1 << 6,  /* of a register: its lowest byte */
	LOOP_PLACE_SHORT = 1 << 7, /* its two lowest bytes */
	LOOP_PLACE_STACK = 1 << 12,
	LOOP_PLACE_FRAME = 3 << 12,
	LOOP_PLACE_DISTANCE = (1 << 12) - 1, /* mask; a signed number */
	LOOP_PLACE_MAX = (1 << 14) - 1,
};
/* In C of HEAD, if C is a register: the register holds the chunk size times the number of threads. */
#define LOOP_C_STRIDE (1 << 11)
/* In A of STRIDE: B is n itself. */
#define LOOP_A_CONSTANT (1 << 13)
/* The rest of BLOCK: as enum loop_place, with fewer bits. */
enum loop_rest {
	LOOP_REST_STACK = 1 << 11,
	LOOP_REST_FRAME = 3 << 10,
	LOOP_REST_DISTANCE = (1 << 10) - 1,
	LOOP_REST_DISTANCE_MAX = 2047, /* bytes, in either direction */
};
#define LOOP_DISTANCE_MAX 8191 /* bytes, in either direction */

/* In the bits of the condition, for BLOCK: what to do with the share. 0: the loop begins. */
enum loop_keep { LOOP_KEEP = 1, LOOP_KEEP_ONLY = 3 };

static inline RING_U64 loop_cookie__enter(RING_U32 flags, RING_S64 share, RING_S64 site)
{
	return (RING_U64)flags << 3 | ((RING_U64)share & 0xffffff) << 10 | ((RING_U64)site & 0xffffff) << 34;
}

static inline RING_U64 loop_cookie__make(RING_U32 point, RING_U32 flags, RING_U32 test, RING_U32 a,
					 RING_U32 b, RING_U32 c)
{
	return (RING_U64)point | (RING_U64)flags << 3 | (RING_U64)(test & 15) << 6 | (RING_U64)a << 10 |
	       (RING_U64)b << 24 | (RING_U64)c << 38;
}

enum loop_flag { LOOP_FLAG_WIDE = 1, LOOP_FLAG_TEAMS = 2, LOOP_FLAG_TAKEN = 4 };

#define LOOP_COOKIE_POINT(c) ((RING_U32)((c)&7))
#define LOOP_COOKIE_FLAGS(c) ((RING_U32)((c) >> 3 & 7))
#define LOOP_COOKIE_TEST(c) ((RING_U32)((c) >> 6 & 15))
#define LOOP_COOKIE_A(c) ((RING_U32)((c) >> 10 & LOOP_PLACE_MAX))
#define LOOP_COOKIE_B(c) ((RING_U32)((c) >> 24 & LOOP_PLACE_MAX))
#define LOOP_COOKIE_C(c) ((RING_U32)((c) >> 38 & LOOP_PLACE_MAX))
#define LOOP_COOKIE_REST(c) ((RING_U32)((c) >> 52))
#define LOOP_COOKIE_CHUNK(c) ((c) >> 38 & LOOP_CHUNK_MAX)
#define LOOP_COOKIE_SMALL_CHUNK(c) ((c) >> 52)
#define LOOP_COOKIE_CONSTANT (1ull << 60)
#define LOOP_COOKIE_LIMIT (1ull << 61)
#define LOOP_COOKIE_KEEP (1ull << 62)
#define LOOP_COOKIE_KEEP_ONLY (1ull << 63)
#define LOOP_COOKIE_SHARE(c) ((RING_S64)((c) << 30) >> 40)
#define LOOP_COOKIE_SITE(c) ((RING_S64)((c) << 6) >> 40)
#define LOOP_DISPLACEMENT_MAX ((1ll << 23) - 1)
#define LOOP_CHUNK_MAX ((1ull << 22) - 1)
#define LOOP_SMALL_CHUNK_MAX ((1ull << 12) - 1)

#endif
