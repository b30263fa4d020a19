/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The runtimes' codes of schedules and dependences, for both producers of events. */
#ifndef GRAIND_RUNTIME_CODES_H
#define GRAIND_RUNTIME_CODES_H

#include "bpf/abi/ring_abi.h"

#define RUNTIME_CODE static inline __attribute__((always_inline))

/* enum gomp_schedule_type; its top bit means monotonic */
RUNTIME_CODE RING_U32 libgomp_schedule(RING_U64 code)
{
	switch (code & 0x7fffffff) {
	case 0:
		return RING_LOOP_RUNTIME;
	case 1:
		return RING_LOOP_STATIC;
	case 2:
		return RING_LOOP_DYNAMIC;
	case 3:
		return RING_LOOP_GUIDED;
	default:
		return RING_LOOP_AUTO;
	}
}

/* Translates libomp's enum sched_type, with its modifiers, to enum ring_loop. */
RUNTIME_CODE RING_U32 libomp_schedule(RING_U32 code)
{
	RING_U32 bits = code & 1u << 30 ? RING_LOOP_NONMONOTONIC : 0, s = code & 0xffff;

	if (s >= 160) /* the same schedules for loops whose chunks must not be merged */
		s -= 128;
	if (s > 64 && s < 80) {
		s -= 32;
		bits |= RING_LOOP_ORDERED;
	}
	switch (s) {
	case 33: /* chunked */
	case 34:
	case 40: /* greedy */
	case 41: /* balanced */
	case 45: /* balanced, chunked */
		return bits | RING_LOOP_STATIC;
	case 91:
	case 92:
		return bits | RING_LOOP_STATIC | RING_LOOP_DISTRIBUTE;
	case 35: /* chunked */
	case 44: /* stealing */
		return bits | RING_LOOP_DYNAMIC;
	case 36: /* chunked */
	case 39: /* trapezoidal */
	case 42:
	case 43:
	case 46:
		return bits | RING_LOOP_GUIDED;
	case 37:
	case 47: /* simd */
		return bits | RING_LOOP_RUNTIME;
	default:
		return bits | RING_LOOP_AUTO;
	}
}

/* A static schedule with a chunk size: the thread's chunks are a stride apart. */
RUNTIME_CODE _Bool libomp_is_strided(RING_U32 code)
{
	RING_U32 s = code & 0xffff;

	return s == 33 || s == 91;
}

/* Translates the flags of kmp_depend_info to enum ring_depend. */
RUNTIME_CODE RING_U32 libomp_depend_kind(RING_U8 flags)
{
	if (flags & 0x80)
		return RING_DEPEND_ALL;
	if (flags & 8)
		return RING_DEPEND_INOUTSET;
	if (flags & 4)
		return RING_DEPEND_MUTEXINOUTSET;
	return flags & 2 ? (flags & 1 ? RING_DEPEND_INOUT : RING_DEPEND_OUT) : RING_DEPEND_IN;
}

#endif
