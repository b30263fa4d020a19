/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The part of registers.bpf.h for x86-64. */
#ifndef GRAIND_REGISTERS_X86_BPF_H
#define GRAIND_REGISTERS_X86_BPF_H

#include "bpf/ring.bpf.h"
#include "bpf/abi/cookie.h"

#define ARGUMENT_REGISTERS 6
#define FRAME_REGISTER COOKIE_RBP

/* x86 condition codes, evaluated on the flags that the jump will see. */
static __always_inline bool will_jump(struct pt_regs *ctx, __u64 cookie)
{
	__u64 flags = ctx->flags;
	__u32 cc = COOKIE_CC(cookie);
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

/* Argument `n` of a function at whose entry the thread is, if it is in a register. */
static __always_inline __u64 arg(struct pt_regs *ctx, __u32 n)
{
	switch (n) {
	case 0:
		return reg(ctx, COOKIE_RDI);
	case 1:
		return reg(ctx, COOKIE_RSI);
	case 2:
		return reg(ctx, COOKIE_RDX);
	case 3:
		return reg(ctx, COOKIE_RCX);
	case 4:
		return reg(ctx, COOKIE_R8);
	default:
		return reg(ctx, COOKIE_R9);
	}
}

static __always_inline __u64 result(struct pt_regs *ctx)
{
	return ctx->ax;
}

static __always_inline __u64 here(struct pt_regs *ctx)
{
	return ctx->ip;
}

static __always_inline __u64 frame_pointer(struct pt_regs *ctx)
{
	return ctx->bp;
}

static __always_inline __u64 stack(struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline __u64 thread_pointer(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(task, thread.fsbase);
}

static __always_inline __u64 caller(struct pt_regs *ctx, int depth, __u32 *flags)
{
	return user_word(ctx->sp + depth, flags);
}

static __always_inline __u64 frame_caller(struct pt_regs *ctx, __u32 *flags)
{
	return user_word(ctx->bp + 8, flags);
}

/* Whether the 8 bytes of code end with a call of a function that is not farther away than 16 MiB. */
static __always_inline bool calls_by_name(__u64 code)
{
	__s32 distance = (__s32)(code >> 32);

	return (code >> 24 & 0xff) == 0xe8 && distance < 1 << 24 && distance > -(1 << 24);
}

#define SYS_SCHED_YIELD 24

static __always_inline bool yields(struct task_struct *task)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);

	return user->orig_ax == SYS_SCHED_YIELD;
}

#endif
