/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads events at the points of libgomp: tasks, regions, members, waits. */
#ifndef GRAIND_LIBGOMP_BPF_H
#define GRAIND_LIBGOMP_BPF_H

#include "bpf/libgomp_bodies.bpf.h"
#include "bpf/libgomp_target.bpf.h"
#include "bpf/libgomp_tasks.bpf.h"
#include "bpf/worksharing.bpf.h"

/*
 * libgomp executes the teams of a league one after another on the calling thread. The league is recorded as
 * a region whose members run in turn. GOMP_teams_reg chooses their number if none is given.
 */
static __always_inline void teams_begin(struct pt_regs *ctx, __u64 id, struct ring_record *record)
{
	record->arg |= RING_REGION_TEAMS;
	ring__emit(id, record);
	record->kind = RING_TEAM_START;
	record->key = stack(ctx);
	record->site = 0;
	record->arg = arg(ctx, 2);
	ring__emit(id, record);
	record->kind = RING_TEAM_STARTED;
	record->arg = 0;
}

/* A team has ended. The frame is that of GOMP_teams_reg's entry. */
static __always_inline void team_end(__u64 id, struct ring_record *record)
{
	record->arg = RING_WAIT_REGION_END;
	record->frame -= 8;
	record->kind = RING_WAIT_BEGIN;
	ring__emit(id, record);
	record->frame += 16;
	record->kind = RING_WAIT_END;
	ring__emit(id, record);
	record->arg = 0;
}

static __always_inline void teams_end(__u64 id, struct ring_record *record)
{
	record->frame -= 8;
	team_end(id, record);
	record->kind = RING_REGION_END;
}

/* At the end of the last team, the return of GOMP_teams_reg records the rest if its entry was seen. */
static __always_inline void teams_next(struct pt_regs *ctx, __u64 id, __u64 cookie,
				       struct ring_record *record)
{
	record->frame += COOKIE_OFF(cookie);
	if (will_jump(ctx, cookie) != (COOKIE_REG2(cookie) == COOKIE_IF_TAKEN)) {
		record->arg = RING_TEAMS_OVER;
		return;
	}
	team_end(id, record);
	record->frame -= 8;
	record->arg = (__u32)reg(ctx, COOKIE_REG(cookie));
	record->kind = RING_TEAM_STARTED;
}

static __noinline void wait_begin(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	__u32 over = COOKIE_REG2(cookie);

	if (!record)
		return;
	record->arg = COOKIE_A(cookie);
	if (record->arg == RING_WAIT_TASKWAIT_DEPEND) {
		if (COOKIE_REG(cookie) != COOKIE_REG_NONE) {
			depend_wait_begin(ctx, id, record, cookie);
		} else {
			record->site = caller(ctx, 0, &record->flags);
			emit_with_depends(id, record, arg(ctx, 0));
		}
		return;
	}
	record->frame += COOKIE_OFF(cookie) - (int)COOKIE_B(cookie) * 8;
	if (record->arg != RING_WAIT_REGION_END)
		record->site = caller(ctx, COOKIE_OFF(cookie), &record->flags);
	if (over == COOKIE_REG_NONE || will_jump(ctx, cookie) != (over == COOKIE_IF_TAKEN))
		return;
	ring__emit(id, record);
	record->kind = RING_WAIT_END;
	record->site = 0;
	record->frame += 8;
}

static __always_inline void libgomp__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
					  struct ring_record *record)
{
	switch (record->kind) {
	case RING_TASK_CREATE:
		record->key = reg(ctx, COOKIE_REG(cookie));
		if (COOKIE_A(cookie) == COOKIE_OF_TASKLOOP)
			taskloop_create(ctx, id, cookie, record);
		else if (COOKIE_A(cookie) == COOKIE_OF_TARGET)
			target_create(ctx, id, cookie, record);
		else if (COOKIE_B(cookie))
			bodies__create(ctx, id, record);
		else
			task_call(ctx, id, cookie, record, 0);
		break;
	case RING_TASK_CREATE_END:
		if (COOKIE_A(cookie) == COOKIE_OF_TASKLOOP)
			taskloop_create_end(ctx, id, cookie, record);
		else if (COOKIE_A(cookie) == COOKIE_OF_TARGET)
			target_created(id, cookie, record);
		else if (COOKIE_B(cookie))
			bodies__created(ctx, id, record);
		break;
	case RING_BODY:
		bodies__call(ctx, id, cookie, record);
		break;
	case RING_TASK_BEGIN:
		record->key = reg(ctx, COOKIE_REG(cookie));
		record->site = reg(ctx, COOKIE_REG2(cookie));
		if (!record->site)
			target_task_begin(id, record);
		break;
	case RING_TASK_END:
		target_task_end(id, record);
		break;
	case RING_UNDEFERRED_END:
		if (COOKIE_A(cookie) == COOKIE_OF_TARGET)
			target_end(id, cookie, record);
		break;
	case RING_UNDEFERRED_BEGIN:
		if (COOKIE_A(cookie) == COOKIE_OF_TARGET) {
			target_begin(ctx, id, cookie, record);
			break;
		}
		if (COOKIE_A(cookie) == COOKIE_OF_TASK && COOKIE_B(cookie) == COOKIE_UNDEFERRED_KEEP) {
			task_keep(ctx, id, cookie, record);
			break;
		}
		record->key = COOKIE_REG2(cookie) != COOKIE_REG_NONE
				      ? reg(ctx, COOKIE_REG2(cookie))
				      : user_word(frame_pointer(ctx) + COOKIE_OFF(cookie), &record->flags);
		if (COOKIE_A(cookie) == COOKIE_OF_TASKLOOP)
			taskloop_undeferred(ctx, id, 8 * COOKIE_B(cookie), record);
		else
			task_call(ctx, id, cookie, record, 0);
		break;
	case RING_TASKLOOP_BEGIN:
		taskloop_begin(ctx, id, record);
		break;
	case RING_TASKLOOP_END:
		taskloop_end(ctx, id, record);
		break;
	case RING_TASK_FULFILL:
		record->key = reg(ctx, COOKIE_REG(cookie));
		break;
	case RING_CANCEL:
		if (COOKIE_B(cookie))
			cancel_return(ctx, id, record);
		else
			cancel_entry(ctx, id, record, COOKIE_A(cookie) == RING_CANCEL_POINT);
		break;
	case RING_REGION_BEGIN:
		record->key = arg(ctx, 0);
		record->arg = arg(ctx, 2) & RING_REGION_THREADS;
		record->site = caller(ctx, 0, &record->flags);
		if (COOKIE_B(cookie) && bodies__outermost(ctx, cookie, &record->flags))
			record->arg |= RING_REGION_OUTERMOST;
		if (COOKIE_REG(cookie) != COOKIE_REG_NONE)
			teams_begin(ctx, id, record);
		else if (COOKIE_A(cookie))
			worksharing__of_region(ctx, id, COOKIE_A(cookie), record);
		break;
	case RING_REGION_END:
		if (COOKIE_REG(cookie) != COOKIE_REG_NONE)
			teams_end(id, record);
		break;
	case RING_TEAM_START:
		record->key = arg(ctx, 4);
		record->arg = arg(ctx, 2);
		break;
	case RING_TEAM_STARTED:
		if (COOKIE_REG(cookie) != COOKIE_REG_NONE)
			teams_next(ctx, id, cookie, record);
		break;
	case RING_MEMBER_BEGIN:
		record->site = reg(ctx, COOKIE_REG2(cookie));
		member__read(thread_pointer() + member__offset(ctx, cookie,
							       COOKIE_REG(cookie) != COOKIE_REG_NONE,
							       &record->flags),
			     cookie, record);
		break;
	case RING_WAIT_BEGIN:
		wait_begin(ctx, id, cookie, record);
		break;
	case RING_WAIT_END:
		record->arg = COOKIE_A(cookie);
		record->frame += COOKIE_OFF(cookie);
		if (COOKIE_REG(cookie) != COOKIE_REG_NONE)
			depend_wait_end(ctx, id, record);
		break;
	case RING_GROUP_BEGIN:
		record->site = caller(ctx, 0, &record->flags);
		break;
	case RING_SINGLE:
		record->arg = result(ctx) & 0xff;
		break;
	default:
		worksharing__read(ctx, id, cookie, record);
		break;
	}
}

#endif
