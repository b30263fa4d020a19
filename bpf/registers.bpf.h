/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Registers, flags and memory of the observed thread. registers_x86.bpf.h and registers_arm64.bpf.h define
 * what depends on the processor:
 *
 *   arg(ctx, n), argument(ctx, n, &flags)  arguments of the function at whose entry the probe is
 *   result(ctx)             what a function returns, at its return
 *   reg(ctx, n)             a register by its number in cookies
 *   will_jump(ctx, cookie)  whether the conditional jump under the probe is about to be taken
 *   here(ctx)               the address of the probe; at a return, the address to which it returns
 *   frame_pointer(ctx)
 *   stack(ctx)              the frame, at a point that is no return: the stack pointer, which on x86-64 is
 * the address of the return address at a function's entry; ctx->sp - 8 at the return is the same caller(ctx,
 * depth, &flags)  the return address; depth: bytes that the stack pointer has gone down frame_caller(ctx,
 * &flags)   the return address of the function that has the frame pointer thread_pointer() yields(task)
 * whether the task, which is the current one, is in the system call sched_yield
 */
#ifndef GRAIND_REGISTERS_BPF_H
#define GRAIND_REGISTERS_BPF_H

#include "bpf/ring.bpf.h"
#include "bpf/abi/cookie.h"

static __always_inline __u64 user_word(__u64 address, __u32 *flags)
{
	__u64 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)address))
		*flags |= RING_F_FAULT;
	return v;
}

#if defined(__TARGET_ARCH_arm64)
#include "bpf/registers_arm64.bpf.h"
#else
#include "bpf/registers_x86.bpf.h"
#endif

/* Argument `n` of a function whose argument registers are intact and whose entry had this stack pointer. */
static __always_inline __u64 argument_of(struct pt_regs *ctx, __u64 frame, __u32 n, __u32 *flags)
{
	return n < ARGUMENT_REGISTERS ? arg(ctx, n)
				      : user_word(frame + 8 + 8 * (__u64)(n - ARGUMENT_REGISTERS), flags);
}

/*
 * Argument `n` (from 0) of the function at whose entry the probe is, or at an
 * instruction before which neither the argument registers nor the stack pointer changed.
 */
static __always_inline __u64 argument(struct pt_regs *ctx, __u32 n, __u32 *flags)
{
	return argument_of(ctx, stack(ctx), n, flags);
}

#endif
