/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The part of registers.bpf.h for aarch64. Registers have the same numbers as in cookies. */
#ifndef GRAIND_REGISTERS_ARM64_BPF_H
#define GRAIND_REGISTERS_ARM64_BPF_H

#include "bpf/ring.bpf.h"
#include "bpf/abi/cookie.h"

#define ARGUMENT_REGISTERS 8
#define FRAME_REGISTER 29

/* Addresses of user space. The bits above them may be a signature (pointer authentication). */
#define ADDRESS_MASK ((1ull << 48) - 1)

/* One load per case: the verifier refuses a computed offset into the context. */
#define REG_CASE(n)                                                                                          \
	case n:                                                                                              \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(v) : "r"(ctx), "i"(8 * (n)));                   \
		break
#define REG_CASES(n)                                                                                         \
	REG_CASE(n);                                                                                         \
	REG_CASE(n + 1);                                                                                     \
	REG_CASE(n + 2);                                                                                     \
	REG_CASE(n + 3);                                                                                     \
	REG_CASE(n + 4)

static __noinline __u64 reg(struct pt_regs *ctx, __u32 n)
{
	__u64 v = 0;

	switch (n) {
		REG_CASES(0);
		REG_CASES(5);
		REG_CASES(10);
		REG_CASES(15);
		REG_CASES(20);
		REG_CASES(25);
		REG_CASE(30);
	}
	return v;
}

/* Conditions on the flags N, Z, C, V that the jump will see. */
static __always_inline bool flags_say(__u64 pstate, __u32 condition)
{
	bool n = pstate >> 31 & 1, z = pstate >> 30 & 1, c = pstate >> 29 & 1, v = pstate >> 28 & 1, t;

	switch (condition >> 1) {
	case 0:
		t = z;
		break;
	case 1:
		t = c;
		break;
	case 2:
		t = n;
		break;
	case 3:
		t = v;
		break;
	case 4:
		t = c && !z;
		break;
	case 5:
		t = n == v;
		break;
	case 6:
		t = !z && n == v;
		break;
	default:
		return true;
	}
	return t != (condition & 1);
}

static __always_inline bool will_jump(struct pt_regs *ctx, __u64 cookie)
{
	__u32 test = COOKIE_TEST(cookie), what = test >> 5 & 127;
	__u64 v;

	if (!COOKIE_TESTS_REGISTER(cookie))
		return flags_say(ctx->pstate, COOKIE_CC(cookie));
	v = reg(ctx, test & 31);
	if (what == COOKIE_TEST_32)
		v = (__u32)v;
	else if (what < COOKIE_TEST_64)
		v = v >> (what & 63) & 1;
	return !v != !!(test & COOKIE_TEST_SET);
}

/* Argument `n` of a function at whose entry the thread is, if it is in a register. */
static __always_inline __u64 arg(struct pt_regs *ctx, __u32 n)
{
	__u64 v = 0;

	switch (n) {
		REG_CASES(0);
		REG_CASE(5);
		REG_CASE(6);
		REG_CASE(7);
	}
	return v;
}

static __always_inline __u64 result(struct pt_regs *ctx)
{
	return ctx->regs[0];
}

static __always_inline __u64 here(struct pt_regs *ctx)
{
	return ctx->pc;
}

static __always_inline __u64 frame_pointer(struct pt_regs *ctx)
{
	return ctx->regs[29];
}

/*
 * Acts as if calls pushed the return address on the stack, so a callee's frame is always below its
 * caller's.
 */
static __always_inline __u64 stack(struct pt_regs *ctx)
{
	return ctx->sp - 8;
}

/*
 * The value when the thread last got a CPU; 0 for a process' first thread if it has never waited for a CPU.
 */
static __always_inline __u64 thread_pointer(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(task, thread.uw.tp_value);
}

static __always_inline __u64 frame_caller(struct pt_regs *ctx, __u32 *flags)
{
	return user_word(ctx->regs[29] + 8, flags) & ADDRESS_MASK;
}

/* If the stack pointer has moved, the function has saved its return address behind its frame pointer. */
static __always_inline __u64 caller(struct pt_regs *ctx, int depth, __u32 *flags)
{
	return depth ? frame_caller(ctx, flags) : ctx->regs[30] & ADDRESS_MASK;
}

/* Whether the 8 bytes of code end with a call of a function by its distance. */
static __always_inline bool calls_by_name(__u64 code)
{
	return (code >> 32 & 0xfc000000) == 0x94000000;
}

#define SYS_SCHED_YIELD 124

static __always_inline bool yields(struct task_struct *task)
{
	struct pt_regs___kernel *user = (struct pt_regs___kernel *)bpf_task_pt_regs(task);

	return user->syscallno == SYS_SCHED_YIELD;
}

#endif
