// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The uprobe program for libgomp: one for all points; the attach cookie says
 * what the point stands for and where its operands are (cookie.h).
 */
#include "bpf/ring.bpf.h"
#include "bpf/cookie.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Thread group to record; 0 = all. */
const volatile __u32 target_tgid = 0;

/* The one switch: attaching many probes is not atomic, turning this is. */
__u32 enabled = 0;

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

/* GOMP_task has a frame: its return address and, next to it, its seventh argument, the flags. */
static __always_inline void task_call(struct pt_regs *ctx, __u64 *site, __u32 *arg, __u32 *flags)
{
	__u64 words[2] = {};

	if (bpf_probe_read_user(words, sizeof(words), (void *)(ctx->bp + 8)))
		*flags |= RING_F_FAULT;
	*site = words[0];
	*arg = words[1];
}

/* The team and member number of this thread, from the runtime's thread-local block. */
static __always_inline void member(struct pt_regs *ctx, __u64 cookie, __u64 *team, __u32 *number,
				   __u32 *flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 block = BPF_CORE_READ(task, thread.fsbase) + user_word(ctx->ip + COOKIE_OFF(cookie), flags);

	*team = user_word(block + COOKIE_A(cookie) * 4, flags);
	*number = user_word(block + COOKIE_B(cookie) * 4, flags);
}

SEC("uprobe")
int libgomp_probe(struct pt_regs *ctx)
{
	__u64 id, cookie, key = 0, site = 0, frame = ctx->sp;
	__u32 kind, flags = 0, arg = 0;

	if (!*(volatile __u32 *)&enabled)
		return 0;
	id = bpf_get_current_pid_tgid();
	if (target_tgid && id >> 32 != target_tgid)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	if (COOKIE_WHEN(cookie) &&
	    will_jump(ctx->flags, COOKIE_CC(cookie)) != (COOKIE_WHEN(cookie) == COOKIE_IF_TAKEN))
		return 0;
	kind = COOKIE_KIND(cookie);
	switch (kind) {
	case RING_TASK_CREATE:
		key = reg(ctx, COOKIE_REG(cookie));
		task_call(ctx, &site, &arg, &flags);
		break;
	case RING_TASK_BEGIN:
		key = reg(ctx, COOKIE_REG(cookie));
		site = reg(ctx, COOKIE_REG2(cookie));
		break;
	case RING_UNDEFERRED_BEGIN:
		key = COOKIE_REG2(cookie) != COOKIE_REG_NONE
			      ? reg(ctx, COOKIE_REG2(cookie))
			      : user_word(ctx->bp + COOKIE_OFF(cookie), &flags);
		task_call(ctx, &site, &arg, &flags);
		break;
	case RING_REGION_BEGIN:
		key = ctx->di;
		arg = ctx->dx;
		site = user_word(ctx->sp, &flags);
		break;
	case RING_TEAM_START:
		key = ctx->r8;
		arg = ctx->dx;
		break;
	case RING_MEMBER_BEGIN:
		site = reg(ctx, COOKIE_REG2(cookie));
		member(ctx, cookie, &key, &arg, &flags);
		break;
	case RING_WAIT_BEGIN:
		arg = COOKIE_A(cookie);
		frame -= COOKIE_B(cookie) * 8;
		if (arg != RING_WAIT_REGION_END)
			site = user_word(ctx->sp, &flags);
		break;
	case RING_WAIT_END:
		arg = COOKIE_A(cookie);
		break;
	case RING_GROUP_BEGIN:
		site = user_word(ctx->sp, &flags);
		break;
	case RING_SINGLE:
		arg = ctx->ax & 0xff;
		break;
	}
	ring__emit(id, frame, kind, flags, key, site, arg);
	return 0;
}
