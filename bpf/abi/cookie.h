/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The attach cookie of a probe: it tells the BPF program what to do at a hit.
 * The planner (uprobes/) writes it, the programs (bpf/) read it.
 *
 *   bits  0-5   enum ring_kind
 *   bits  6-7   enum cookie_when: record always, or only if the conditional
 *               jump under the probe is (not) about to be taken
 *   bit   8     COOKIE_RETURN: the probe is a return probe
 *   bits  9-13  reg:  the register with the key, or COOKIE_REG_NONE
 *   bits 14-18  reg2: the register with the body function, or COOKIE_REG_NONE
 *   bits 19-24  a: small operand (wait kind; TLS offset of the team / 4)
 *   bits 25-30  b: small operand (TLS offset of the member number / 4; the words
 *               that the stack pointer goes down between the probe and the start
 *               of the function that the probed instruction calls)
 *   bits 31-34  condition code of that jump, as in its opcode
 *   bit  35     set if the jump tests a register: bits 36-44 then belong to the test
 *   bits 36-63  off, signed (bits 45-63 if bit 35 is set): frame offset, or distance
 *               from the probe to the GOT entry of the runtime's thread-local block
 */
#ifndef GRAIND_COOKIE_H
#define GRAIND_COOKIE_H

#include "bpf/abi/ring_abi.h"

enum cookie_when { COOKIE_ALWAYS = 0, COOKIE_IF_TAKEN = 1, COOKIE_IF_NOT_TAKEN = 2 };

/* Registers have the order of struct pt_regs on x86-64, and their own numbers on aarch64. */
enum cookie_reg {
	COOKIE_R15,
	COOKIE_R14,
	COOKIE_R13,
	COOKIE_R12,
	COOKIE_RBP,
	COOKIE_RBX,
	COOKIE_R11,
	COOKIE_R10,
	COOKIE_R9,
	COOKIE_R8,
	COOKIE_RAX,
	COOKIE_RCX,
	COOKIE_RDX,
	COOKIE_RSI,
	COOKIE_RDI,
	COOKIE_REG_NONE = 31
};

#define COOKIE_SMALL_MAX 63 /* largest a and b */

/*
 * The fields at libgomp's points of tasks and waits.
 *
 * TASK_CREATE, UNDEFERRED_BEGIN and the ends of both: `a` is an enum cookie_creator.
 * TASK_CREATE_END of a taskloop: `off` is where a task has the address of its data.
 * WAIT_BEGIN: `off` is how far rsp lies below its value at the entry. `reg2` is an
 * enum cookie_when: if the jump is (not) taken, the wait is over at once.
 * WAIT_END: `off` is how far rsp lies below its value after the return.
 * WAIT_BEGIN and WAIT_END with a `reg`: the wait of an undeferred task in GOMP_task.
 * `off` of the begin is the distance from the probe to the return address in GOMP_task;
 * 0: the begin is at the call in GOMP_target_ext.
 * REGION_BEGIN and REGION_END with a `reg`: GOMP_teams_reg.
 * TEAM_STARTED: the jump in GOMP_teams_reg to the next team. If the jump is as `reg2`
 * says, `reg` has the number of that team. `off` is as of WAIT_BEGIN.
 * MEMBER_BEGIN with a `reg`: `off` is the offset of the block from the thread pointer.
 * CANCEL: `a` is RING_CANCEL_POINT in GOMP_cancellation_point. `b` is 1 at the return.
 */
enum cookie_creator { COOKIE_OF_TASK = 0, COOKIE_OF_TASKLOOP = 1, COOKIE_OF_TARGET = 2 };

/*
 * The fields at the points of target regions.
 *
 * TASK_CREATE without a `reg` and UNDEFERRED_BEGIN are at calls in GOMP_target_ext. TASK_CREATE_END is behind
 * such a call. The other points are in the functions that GOMP_target_ext calls.
 * TASK_CREATE with a `reg`, UNDEFERRED_END: `off` is how far the stack pointer lies below its value at the
 * entry. TASK_CREATE_END: `off` is how far the stack pointer lies below its value at the call.
 */

/*
 * The fields at the points of taskloops, and of tasks whose arguments are in registers.
 *
 * TASK_CREATE: `off` is the distance from the frame pointer to the frame (registers.bpf.h).
 * TASK_CREATE_END and UNDEFERRED_BEGIN: `b` is an eighth of that distance.
 *
 * If GOMP_task gets flags and dependences in registers, `off` of TASK_CREATE says where they are.
 * UNDEFERRED_BEGIN with `b` COOKIE_UNDEFERRED_KEEP: `off` says the same. That point is on the way to the call
 * of the body, where no register has them any more.
 */
enum cookie_undeferred { COOKIE_UNDEFERRED_KEEP = 1 };
enum cookie_home {
	/* Smaller numbers are registers. */
	COOKIE_HOME_NONE = 31, /* nowhere */
	COOKIE_HOME_SLOT = 32, /* plus 1/4 of the distance of a slot from the frame pointer */
	COOKIE_HOME_MAX = 8191
};
#define COOKIE_HOMES(flags, depends) ((int)((flags) | (depends) << 13))
#define COOKIE_HOME_FLAGS(c) ((RING_U32)COOKIE_OFF(c) & COOKIE_HOME_MAX)
#define COOKIE_HOME_DEPENDS(c) ((RING_U32)COOKIE_OFF(c) >> 13 & COOKIE_HOME_MAX)

/*
 * The fields at libgomp's points of worksharing. At points without a return, `b` is the number of words by
 * which rsp has moved since the entry of the function.
 *
 * LOOP_BEGIN: `a` says which arguments stand before istart and iend, `off` is an enum ring_loop.
 */
enum cookie_loop {
	COOKIE_LOOP_UP = 1,	  /* up, start, end, incr; if not set, without up */
	COOKIE_LOOP_CHUNK = 2,	  /* then a chunk size */
	COOKIE_LOOP_SCHED = 4,	  /* a schedule before the chunk size; after iend, reductions over tasks */
	COOKIE_LOOP_DOACROSS = 8, /* ncounts, counts in place of start, end, incr */
	COOKIE_LOOP_ALONE = 16,	  /* no return needs anything that is kept here */
};
/* SECTIONS_BEGIN: `off` is 1 if the second argument is for reductions over tasks. */

/* `a` of REGION_BEGIN: 0, or the construct that the region is combined with */
enum cookie_region {
	COOKIE_REGION_SCHEDULE = 7, /* mask: enum ring_loop's schedule */
	COOKIE_REGION_SECTIONS = 7,
	COOKIE_REGION_NONMONOTONIC = 8,
};
/*
 * `a` of CHUNK_NEXT, SECTION_NEXT, CHUNK_BEGIN and SECTION_BEGIN. `b` of the last two is 1 if the function
 * returns 0 when it has taken a chunk.
 */
enum cookie_call {
	COOKIE_CALL_OWN = 0,   /* entry and return of an exported function */
	COOKIE_CALL_SITE = 1,  /* where an exported function calls the one that takes a chunk */
	COOKIE_CALL_TAKES = 2, /* entry and return of that function; reg, reg2: where the bounds go */
};
/* `a` of LOOP_END and SECTIONS_END: 0, or the enum ring_wait that begins there. */

/* `a` of SINGLE_END at the points of single copyprivate */
enum cookie_copy {
	COOKIE_COPY_START = 1,	 /* entry of GOMP_single_copy_start */
	COOKIE_COPY_LOST = 2,	 /* in GOMP_single_copy_start: a thread that lost waits for the data */
	COOKIE_COPY_STARTED = 3, /* return of GOMP_single_copy_start */
	COOKIE_COPY_END = 4,	 /* entry of GOMP_single_copy_end: the thread that won waits for the others */
};
/*
 * The fields where bodies of constructs are observed in the program's functions (libgomp_bodies.bpf.h).
 *
 * BODY is at the entry of a function that takes a body: cc is an enum ring_body, `reg` has the body.
 * - For TASK and TASKLOOP, `off` is the size of the function.
 * - For MEMBER, `a`, `b` and `off` are as of MEMBER_BEGIN. With a `reg2`, `off` is the offset of the block
 *   from the thread pointer.
 * REGION_BEGIN with `b`: `b` is the `a` of MEMBER; `reg2` and `off` are as of MEMBER. The event says
 * whether the thread is in a region.
 * TASK_CREATE with `b` 1: the event says what the body is.
 * TASK_CREATE_END with `b` 1: the return of GOMP_task. It is an event if the task was deferred.
 * TASK_BEGIN, TASK_END: entry and return of a body. `off` is the distance from the probe to the start of the
 * function.
 */

/* LOCK_WAIT: `a` is an enum ring_lock, `reg` has the lock, `off` is one of these. */
enum cookie_lock { COOKIE_LOCK_BEGIN = 0, COOKIE_LOCK_GOT = 1, COOKIE_LOCK_RETURN = 2 };

/*
 * Says when a conditional jump is taken: a condition code (x86-64: the low nibble of the opcode; aarch64:
 * cond), or a test of a register.
 */
enum cookie_test {
	COOKIE_TEST_REGISTER = 1 << 13,
	COOKIE_TEST_SET = 1 << 12, /* taken if it is not 0 */
	COOKIE_TEST_64 = 64,	   /* the whole register; smaller numbers: this bit of it */
	COOKIE_TEST_32 = 65,	   /* its lower half */
};

static inline RING_U32 cookie__register_test(RING_U32 reg, RING_U32 what, int set)
{
	return (RING_U32)(COOKIE_TEST_REGISTER | (set ? COOKIE_TEST_SET : 0) | (what & 127) << 5 |
			  (reg & 31));
}

#define COOKIE_RETURN (1ull << 8)
#define COOKIE_OFF_MAX ((1 << 27) - 1)

/* This takes no struct: a register that the caller leaves out would be register 0 and not COOKIE_REG_NONE. */
static inline RING_U64 cookie__make(RING_U32 kind, RING_U32 when, RING_U32 test, RING_U32 reg, RING_U32 reg2,
				    RING_U32 a, RING_U32 b, int off)
{
	RING_U64 cookie = (RING_U64)(kind & 63) | (RING_U64)(when & 3) << 6 | (RING_U64)(reg & 31) << 9 |
			  (RING_U64)(reg2 & 31) << 14 | (RING_U64)(a & 63) << 19 | (RING_U64)(b & 63) << 25 |
			  (RING_U64)(test & 15) << 31;

	if (!(test & COOKIE_TEST_REGISTER))
		return cookie | (RING_U64)(RING_U32)off << 36;
	return cookie | 1ull << 35 | (RING_U64)(test >> 4 & 511) << 36 | (RING_U64)(RING_U32)off << 45;
}

#define COOKIE_KIND(c) ((RING_U32)((c)&63))
#define COOKIE_WHEN(c) ((RING_U32)((c) >> 6 & 3))
#define COOKIE_REG(c) ((RING_U32)((c) >> 9 & 31))
#define COOKIE_REG2(c) ((RING_U32)((c) >> 14 & 31))
#define COOKIE_A(c) ((RING_U32)((c) >> 19 & 63))
#define COOKIE_B(c) ((RING_U32)((c) >> 25 & 63))
#define COOKIE_CC(c) ((RING_U32)((c) >> 31 & 15))
#define COOKIE_TESTS_REGISTER(c) ((RING_U32)((c) >> 35 & 1))
/* The test of a register. */
#define COOKIE_TEST(c) (COOKIE_CC(c) | (RING_U32)((c) >> 36 & 511) << 4)
#define COOKIE_OFF(c) ((int)((long long)(c) >> (COOKIE_TESTS_REGISTER(c) ? 45 : 36)))

_Static_assert(RING_KIND_MAX <= 64, "kind has six bits");

#endif
