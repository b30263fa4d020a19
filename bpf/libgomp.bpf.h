/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is read at the points of libgomp: tasks, regions, members, waits. */
#ifndef GRAIND_LIBGOMP_BPF_H
#define GRAIND_LIBGOMP_BPF_H

#include "bpf/worksharing.bpf.h"

/* GOMP_task has a frame: its return address and, next to it, its seventh argument, the flags. */
static __always_inline void task_call(struct pt_regs *ctx, __u64 *site, __u32 *arg, __u32 *flags)
{
	__u64 words[2] = {};

	if (bpf_probe_read_user(words, sizeof(words), (void *)(ctx->bp + 8)))
		*flags |= RING_F_FAULT;
	*site = words[0];
	*arg = (__u32)words[1] | RING_TASK_RAW_GOMP;
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

static __always_inline void libgomp__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
					  struct ring_record *record)
{
	switch (record->kind) {
	case RING_TASK_CREATE:
		record->key = reg(ctx, COOKIE_REG(cookie));
		task_call(ctx, &record->site, &record->arg, &record->flags);
		break;
	case RING_TASK_BEGIN:
		record->key = reg(ctx, COOKIE_REG(cookie));
		record->site = reg(ctx, COOKIE_REG2(cookie));
		break;
	case RING_UNDEFERRED_BEGIN:
		record->key = COOKIE_REG2(cookie) != COOKIE_REG_NONE
				      ? reg(ctx, COOKIE_REG2(cookie))
				      : user_word(ctx->bp + COOKIE_OFF(cookie), &record->flags);
		task_call(ctx, &record->site, &record->arg, &record->flags);
		break;
	case RING_REGION_BEGIN:
		record->key = ctx->di;
		record->arg = ctx->dx;
		record->site = user_word(ctx->sp, &record->flags);
		break;
	case RING_TEAM_START:
		record->key = ctx->r8;
		record->arg = ctx->dx;
		break;
	case RING_MEMBER_BEGIN:
		record->site = reg(ctx, COOKIE_REG2(cookie));
		member(ctx, cookie, &record->key, &record->arg, &record->flags);
		break;
	case RING_WAIT_BEGIN:
		record->arg = COOKIE_A(cookie);
		record->frame -= COOKIE_B(cookie) * 8;
		if (record->arg != RING_WAIT_REGION_END)
			record->site = user_word(ctx->sp, &record->flags);
		break;
	case RING_WAIT_END:
		record->arg = COOKIE_A(cookie);
		break;
	case RING_GROUP_BEGIN:
		record->site = user_word(ctx->sp, &record->flags);
		break;
	case RING_SINGLE:
		record->arg = ctx->ax & 0xff;
		break;
	default:
		worksharing__read(ctx, id, cookie, record);
		break;
	}
}

#endif
