/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Registers, flags and memory of the observed thread. */
#ifndef GRAIND_REGISTERS_BPF_H
#define GRAIND_REGISTERS_BPF_H

#include "bpf/ring.bpf.h"
#include "bpf/cookie.h"

/* x86 condition codes, evaluated on the flags that the jump will see. */
static __always_inline bool will_jump(__u64 flags, __u32 cc)
{
	bool cf = flags & 1, pf = flags & 4, zf = flags & 64, sf = flags & 128, of = flags & 2048, t;

	switch (cc >> 1) {
	case 0:
		t = of;
		break;
	case 1:
		t = cf;
		break;
	case 2:
		t = zf;
		break;
	case 3:
		t = cf || zf;
		break;
	case 4:
		t = sf;
		break;
	case 5:
		t = pf;
		break;
	case 6:
		t = sf != of;
		break;
	default:
		t = zf || sf != of;
		break;
	}
	return t != (cc & 1);
}

/* One load per case: the verifier refuses a computed offset into the context. */
#define REG_CASE(n, field)                                                                                   \
	case n:                                                                                              \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                                                        \
			     : "=r"(v)                                                                       \
			     : "r"(ctx), "i"(__builtin_offsetof(struct pt_regs, field)));                    \
		break

static __always_inline __u64 reg(struct pt_regs *ctx, __u32 n)
{
	__u64 v = 0;

	switch (n) {
		REG_CASE(COOKIE_R15, r15);
		REG_CASE(COOKIE_R14, r14);
		REG_CASE(COOKIE_R13, r13);
		REG_CASE(COOKIE_R12, r12);
		REG_CASE(COOKIE_RBP, bp);
		REG_CASE(COOKIE_RBX, bx);
		REG_CASE(COOKIE_R11, r11);
		REG_CASE(COOKIE_R10, r10);
		REG_CASE(COOKIE_R9, r9);
		REG_CASE(COOKIE_R8, r8);
		REG_CASE(COOKIE_RAX, ax);
		REG_CASE(COOKIE_RCX, cx);
		REG_CASE(COOKIE_RDX, dx);
		REG_CASE(COOKIE_RSI, si);
		REG_CASE(COOKIE_RDI, di);
	}
	return v;
}

static __always_inline __u64 user_word(__u64 address, __u32 *flags)
{
	__u64 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)address))
		*flags |= RING_F_FAULT;
	return v;
}

/*
 * Argument `n` (from 0) of the function at whose entry the probe is, or at an
 * instruction before which neither the argument registers nor rsp changed.
 */
static __always_inline __u64 argument(struct pt_regs *ctx, __u32 n, __u32 *flags)
{
	switch (n) {
	case 0:
		return ctx->di;
	case 1:
		return ctx->si;
	case 2:
		return ctx->dx;
	case 3:
		return ctx->cx;
	case 4:
		return ctx->r8;
	case 5:
		return ctx->r9;
	default:
		return user_word(ctx->sp + 8 + 8 * (n - 6), flags);
	}
}

#endif
