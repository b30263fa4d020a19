/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The attach cookie of a probe: what the BPF program does when it is hit.
 * Written by the planner (uprobes/), read by the programs (bpf/).
 *
 *   bits  0-5   enum ring_kind
 *   bits  6-7   enum cookie_when: record always, or only if the conditional
 *               jump under the probe is (not) about to be taken
 *   bits  8-11  condition code of that jump (the low nibble of its opcode)
 *   bits 12-15  reg:  where the key is, COOKIE_REG_NONE if elsewhere
 *   bits 16-19  reg2: where the body function is, likewise
 *   bits 20-25  a: small operand (wait kind; TLS offset of the team / 4)
 *   bits 26-31  b: small operand (TLS offset of the member number / 4; words
 *               that the stack pointer will have gone down when the function
 *               called by the probed instruction starts)
 *   bits 32-63  off: signed; frame offset, or distance from the probe to the
 *               GOT entry of the runtime's thread-local block
 */
#ifndef GRAIND_COOKIE_H
#define GRAIND_COOKIE_H

#include "bpf/ring_abi.h"

enum cookie_when { COOKIE_ALWAYS = 0, COOKIE_IF_TAKEN = 1, COOKIE_IF_NOT_TAKEN = 2 };

/* Registers in the order of struct pt_regs on x86-64. */
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
	COOKIE_REG_NONE
};

#define COOKIE_SMALL_MAX 63 /* largest a and b */

static inline RING_U64 cookie__make(RING_U32 kind, RING_U32 when, RING_U32 cc, RING_U32 reg, RING_U32 reg2,
				    RING_U32 a, RING_U32 b, int off)
{
	return (RING_U64)(kind & 63) | (RING_U64)(when & 3) << 6 | (RING_U64)(cc & 15) << 8 |
	       (RING_U64)(reg & 15) << 12 | (RING_U64)(reg2 & 15) << 16 | (RING_U64)(a & 63) << 20 |
	       (RING_U64)(b & 63) << 26 | (RING_U64)(RING_U32)off << 32;
}

#define COOKIE_KIND(c) ((RING_U32)((c)&63))
#define COOKIE_WHEN(c) ((RING_U32)((c) >> 6 & 3))
#define COOKIE_CC(c) ((RING_U32)((c) >> 8 & 15))
#define COOKIE_REG(c) ((RING_U32)((c) >> 12 & 15))
#define COOKIE_REG2(c) ((RING_U32)((c) >> 16 & 15))
#define COOKIE_A(c) ((RING_U32)((c) >> 20 & 63))
#define COOKIE_B(c) ((RING_U32)((c) >> 26 & 63))
#define COOKIE_OFF(c) ((int)(RING_U32)((c) >> 32))

_Static_assert(RING_KIND_MAX <= 64, "kind has six bits");

#endif
