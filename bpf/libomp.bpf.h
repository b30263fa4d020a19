/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads events at the points of libomp: tasks, regions, members, waits. */
#ifndef GRAIND_LIBOMP_BPF_H
#define GRAIND_LIBOMP_BPF_H

#include "bpf/libomp_state.bpf.h"
#include "bpf/libomp_worksharing.bpf.h"

/* The most dependences of one list that are recorded one by one. */
#define LIBOMP_DEPENDS_MAX 64

/* The runtime's task, kmp_task_t: { shareds, routine, ... }. */
#define LIBOMP_TASK_ROUTINE 8

/* Flags of a task that compilers set (kmp_tasking_flags). */
enum libomp_task_flags {
	LIBOMP_TASK_TIED = 1 << 0,
	LIBOMP_TASK_FINAL = 1 << 1,
	LIBOMP_TASK_MERGEABLE = 1 << 2,
	LIBOMP_TASK_PRIORITY = 1 << 5,
	LIBOMP_TASK_DETACHABLE = 1 << 6,
	LIBOMP_TASK_ANY_THREAD = 1 << 7, /* of `target nowait`, threadset(omp_pool) */
	LIBOMP_TASK_NATIVE = 1 << 24,	 /* set by the runtime: a task of GCC's code */
};

/* Flags of ident_t. */
#define LIBOMP_IDENT_BARRIER_EXPLICIT 0x20u
#define LIBOMP_IDENT_BARRIER_IMPLICIT 0x40u

struct libomp_depend {
	__u64 address, bytes;
	__u8 flags;
	__u8 pad[7];
};

static __always_inline __u32 libomp_task_flags(__u64 task, __u64 cookie, __u32 *flags)
{
	__u32 distance = (COOKIE_A(cookie) | COOKIE_B(cookie) << 6) * 4, word = 0;

	if (distance && bpf_probe_read_user(&word, sizeof(word), (void *)(task - distance)))
		*flags |= RING_F_FAULT;
	return distance ? word : LIBOMP_TASK_TIED;
}

static __always_inline __u32 libomp_task_arg(__u32 word)
{
	return (word & LIBOMP_TASK_TIED ? 0 : RING_TASK_UNTIED) |
	       (word & LIBOMP_TASK_FINAL ? RING_TASK_FINAL : 0) |
	       (word & LIBOMP_TASK_MERGEABLE ? RING_TASK_MERGEABLE : 0) |
	       (word & LIBOMP_TASK_PRIORITY ? RING_TASK_PRIORITY : 0) |
	       (word & LIBOMP_TASK_DETACHABLE ? RING_TASK_DETACH : 0) |
	       (word & LIBOMP_TASK_ANY_THREAD ? RING_TASK_ANY_THREAD : 0);
}

/*
 * Reads dependence number `index` of a list of `count`. If `index` is the last that is recorded, this reads
 * how many are left. Returns 0 after the last one. The function is global and no caller of ring__emit(),
 * because the stack of all callers together is limited.
 */
__noinline int libomp_depend(__u64 list, __u32 index, __u32 count, struct ring_record *record)
{
	struct libomp_depend depend = {};

	if (!record)
		return 0;
	record->kind = RING_DEPEND;
	if (index < LIBOMP_DEPENDS_MAX &&
	    !bpf_probe_read_user(&depend, sizeof(depend), (void *)(list + index * sizeof(depend)))) {
		record->key = depend.address;
		record->arg = libomp_depend_kind(depend.flags);
		return index + 1 < count;
	}
	record->key = count - index;
	record->arg = RING_DEPEND_UNREAD;
	return 0;
}

/* Records one event per dependence. The thread's creation or wait was recorded before. */
__noinline int libomp_depends(__u64 id, __u64 frame, __u64 list, __s32 count)
{
	struct ring_record record = {.frame = frame};

	for (__u32 i = 0; count > 0 && i <= LIBOMP_DEPENDS_MAX; i++) {
		int more = libomp_depend(list, i, (__u32)count, &record);

		ring__emit(id, &record);
		if (!more)
			break;
	}
	return 0;
}

/* The compiler must not find out that the mask is unnecessary: the verifier needs it. */
static __always_inline struct libomp_taskloop *libomp_taskloop_at(struct libomp_thread *thread, __u32 i)
{
	asm volatile("" : "+r"(i));
	return &thread->taskloop[i & (LIBOMP_TASKLOOPS - 1)];
}

static __noinline void libomp_keep_taskloop(struct pt_regs *ctx)
{
	struct libomp_thread *thread = libomp__thread();
	__u32 n, i;

	if (!thread)
		return;
	/* Taskloops that have returned by now are below the frame of this one. */
	n = thread->taskloops;
	for (i = 0; i < LIBOMP_TASKLOOPS; i++) {
		if (n == 0 || n > LIBOMP_TASKLOOPS || libomp_taskloop_at(thread, n - 1)->frame > stack(ctx))
			break;
		n--;
	}
	if (n < LIBOMP_TASKLOOPS) {
		struct libomp_taskloop *loop = libomp_taskloop_at(thread, n);

		loop->frame = stack(ctx);
		loop->lower_at = (__s32)(arg(ctx, 3) - arg(ctx, 2));
		loop->upper_at = (__s32)(arg(ctx, 4) - arg(ctx, 2));
		loop->down = (__s64)arg(ctx, 5) < 0;
	}
	thread->taskloops = n < LIBOMP_TASKLOOPS ? n + 1 : LIBOMP_TASKLOOPS + 1;
}

/* Reads the bounds of a task of the innermost open taskloop. False: they are not known. */
static __noinline bool libomp_task_bounds(struct pt_regs *ctx, __u32 word, struct ring_record *record)
{
	struct libomp_thread *thread = libomp__thread();
	__u64 task = arg(ctx, 2);
	__u32 n, i;

	if (!thread || !record)
		return false;
	n = thread->taskloops;
	if (n > LIBOMP_TASKLOOPS)
		return false;
	for (i = 0; i < LIBOMP_TASKLOOPS; i++) {
		struct libomp_taskloop *loop;

		if (n == 0 || n > LIBOMP_TASKLOOPS)
			return false;
		loop = libomp_taskloop_at(thread, n - 1);
		if (loop->frame <= stack(ctx)) {
			n--;
			continue;
		}
		record->key = user_word(task + (__s64)loop->lower_at, &record->flags);
		record->extra = user_word(task + (__s64)loop->upper_at, &record->flags);
		/* GCC's code has an exclusive upper bound. */
		if (word & LIBOMP_TASK_NATIVE)
			record->extra += loop->down ? 1 : -1;
		return true;
	}
	return false;
}

static __noinline void libomp_create(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	struct ring_record bounds = {.frame = record->frame, .kind = RING_TASK_BOUNDS};
	__u32 how = COOKIE_CC(cookie), word, flags = 0;
	__u64 list2;

	word = libomp_task_flags(arg(ctx, 2), cookie, &flags);
	record->key = arg(ctx, 2);
	record->arg = libomp_task_arg(word);
	if (how == LIBOMP_CREATE_TASKLOOP) {
		record->arg |= RING_TASK_OF_TASKLOOP;
		if (libomp__inside(ctx, cookie, user_word(arg(ctx, 2) + LIBOMP_TASK_ROUTINE, &flags)))
			record->arg |= RING_TASK_SPLIT;
		record->flags = flags;
		if (record->arg & RING_TASK_SPLIT || !libomp_task_bounds(ctx, word, &bounds))
			return;
		ring__emit(id, record);
		*record = bounds;
		return;
	}
	record->site = libomp__call_site(ctx, cookie, &record->extra, &flags);
	if (how == LIBOMP_CREATE_DEPEND) {
		list2 = argument(ctx, 6, &flags);
		if ((__s32)arg(ctx, 3) > 0 || (__s32)arg(ctx, 5) > 0)
			record->arg |= RING_TASK_HAS_DEPEND;
		record->flags = flags;
		ring__emit(id, record);
		libomp_depends(id, record->frame, arg(ctx, 4), (__s32)arg(ctx, 3));
		libomp_depends(id, record->frame, list2, (__s32)arg(ctx, 5));
		record->kind = RING_NONE;
	}
	record->flags = flags;
}

static __noinline void libomp_undeferred(struct pt_regs *ctx, __u64 cookie, struct ring_record *record)
{
	__u32 flags = 0;

	record->key = user_word(arg(ctx, 2) + LIBOMP_TASK_ROUTINE, &flags);
	record->arg = libomp_task_arg(libomp_task_flags(arg(ctx, 2), cookie, &flags));
	record->site = libomp__call_site(ctx, cookie, &record->extra, &flags);
	record->flags = flags;
}

/*
 * A taskloop without its own taskgroup may still have one in the program: clang calls the taskgroup itself.
 */
static __noinline void libomp_taskloop(struct pt_regs *ctx, __u64 id, __u64 cookie,
				       struct ring_record *record)
{
	struct ring_record group = {.frame = record->frame, .kind = RING_GROUP_BEGIN};
	struct libomp_thread *thread = libomp__thread();
	__u32 flags = 0;

	record->key = user_word(arg(ctx, 2) + LIBOMP_TASK_ROUTINE, &flags);
	record->arg = libomp_task_arg(libomp_task_flags(arg(ctx, 2), cookie, &flags));
	record->site = libomp__call_site(ctx, cookie, &record->extra, &flags);
	record->flags = flags;
	/* The runtime calls the taskgroup around the tasks. */
	if (thread && !libomp__called_inside(ctx, cookie, caller(ctx, 0, &flags))) {
		thread->outer_frame = stack(ctx);
		thread->outer_site = record->site;
		thread->outer_source = 1;
		thread->outer_ip = 0;
	}
	if (COOKIE_CC(cookie) == LIBOMP_TASKLOOP_GROUPS && !(__u32)argument(ctx, 7, &flags)) { /* nogroup */
		ring__emit(id, record);
		group.site = record->site;
		group.extra = record->extra;
		*record = group;
	}
}

static __noinline void libomp_region_begin(struct pt_regs *ctx, __u64 id, __u64 cookie,
					   struct ring_record *record)
{
	struct ring_record member = {.frame = record->frame, .kind = RING_MEMBER_BEGIN};
	struct libomp_thread *thread = libomp__thread();
	__u32 how = COOKIE_CC(cookie), flags = 0;
	__u64 direct = caller(ctx, 0, &flags);

	if (how == LIBOMP_REGION_GOMP) {
		record->site = direct;
		if (thread && libomp__inside(ctx, cookie, direct) && thread->outer_frame > stack(ctx))
			record->site = thread->outer_site;
		record->key = arg(ctx, 0);
		record->arg = (__u32)arg(ctx, 2);
		record->flags = flags;
		return;
	}
	record->site = libomp__call_site(ctx, cookie, &record->extra, &flags);
	if (how == LIBOMP_REGION_SERIAL) {
		/*
		 * A serialized region calls this function inside its own call, unless that call was only an
		 * attempt.
		 */
		if (libomp__called_inside(ctx, cookie, direct) &&
		    (!thread || thread->outer_frame <= stack(ctx) ||
		     direct - thread->outer_ip >= LIBOMP_COOKIE_SIZE_UNIT)) {
			record->kind = RING_NONE;
			return;
		}
		record->arg = 1;
		record->flags = flags;
		ring__emit(id, record);
		member.key = stack(ctx);
		*record = member;
		return;
	}
	record->key = arg(ctx, 2);
	if (how == LIBOMP_REGION_FORK && libomp__inside(ctx, cookie, record->key) &&
	    libomp__called_inside(ctx, cookie, direct)) {
		helper__begins(id, record->key);
		record->kind = RING_NONE;
		return;
	}
	if (thread && how == LIBOMP_REGION_TEAMS) {
		record->arg = thread->teams_asked & RING_REGION_THREADS;
		thread->teams_asked = 0;
	} else if (thread) {
		record->arg = thread->threads_asked & RING_REGION_THREADS;
		thread->threads_asked = 0;
	}
	if (how == LIBOMP_REGION_TEAMS)
		record->arg |= RING_REGION_TEAMS;
	record->flags = flags;
}

/* Also ends member 0 and its wait for the other members. */
static __noinline void libomp_region_end(struct pt_regs *ctx, __u64 id, __u64 cookie,
					 struct ring_record *record)
{
	struct ring_record end = {.frame = record->frame, .arg = RING_WAIT_REGION_END};
	struct libomp_thread *thread;
	__u32 flags = 0;
	__u64 site;

	if (COOKIE_A(cookie) == LIBOMP_REGION_SERIAL) {
		site = caller(ctx, 0, &flags);
		if (libomp__called_inside(ctx, cookie, site)) {
			thread = libomp__thread();
			if (!thread || thread->outer_frame <= stack(ctx) ||
			    site - thread->outer_ip >= LIBOMP_COOKIE_SIZE_UNIT) {
				record->kind = RING_NONE;
				return;
			}
		}
		end.kind = RING_WAIT_BEGIN;
		ring__emit(id, &end);
	}
	end.kind = RING_WAIT_END;
	ring__emit(id, &end);
}

/* The runtime's thread with the number `number`. */
static __always_inline __u64 libomp_thread_of(struct pt_regs *ctx, __u64 cookie, __u32 number, __u32 *flags)
{
	__u64 threads = here(ctx) + COOKIE_OFF(cookie);

	threads = user_word(threads, flags);
	if (COOKIE_B(cookie) > 1)
		threads = user_word(threads, flags);
	return user_word(threads + 8 * (__u64)number, flags);
}

static __noinline void libomp_member(struct pt_regs *ctx, __u64 id, __u64 cookie, struct ring_record *record)
{
	struct libomp_thread *thread = libomp__thread();
	__u32 flags = 0, number_at;
	__u64 of;

	switch (COOKIE_CC(cookie)) {
	case LIBOMP_MEMBER_MICROTASK:
		record->site = arg(ctx, 0);
		if (thread && thread->league) {
			record->key = thread->league;
			record->arg = thread->league_number;
			thread->league = 0;
			break;
		}
		if (helper__becomes(thread, id, record->site)) {
			record->kind = RING_NONE;
			return;
		}
		record->arg = (__u32)arg(ctx, 2);
		of = libomp_thread_of(ctx, cookie, (__u32)arg(ctx, 1), &flags);
		record->key = user_word(of + COOKIE_A(cookie) * 8, &flags);
		break;
	case LIBOMP_MEMBER_LEAGUE:
		record->kind = RING_NONE;
		number_at = (COOKIE_REG(cookie) | COOKIE_REG2(cookie) << 4) * 4;
		of = libomp_thread_of(ctx, cookie, (__u32)arg(ctx, 0), &flags);
		if (!thread)
			break;
		thread->league = user_word(of + COOKIE_A(cookie) * 8, &flags);
		thread->league_number = (__u32)user_word(of + number_at, &flags);
		break;
	default: /* LIBOMP_MEMBER_GOMP */
		if (COOKIE_REG(cookie) != COOKIE_REG_NONE)
			record->site = reg(ctx, COOKIE_REG(cookie));
		record->key = stack(ctx);
		if (!thread || !thread->team_forked)
			break;
		thread->team_forked = 0;
		of = libomp_thread_of(ctx, cookie, thread->team_number, &flags);
		record->key = user_word(of + COOKIE_A(cookie) * 8, &flags);
		break;
	}
	record->flags = flags;
}

static __noinline void libomp_wait_begin(struct pt_regs *ctx, __u64 id, __u64 cookie,
					 struct ring_record *record)
{
	__u32 how = COOKIE_CC(cookie), flags = 0, word = 0;

	record->arg = COOKIE_A(cookie);
	if (how == LIBOMP_WAIT_MEMBER)
		return;
	if (how == LIBOMP_WAIT_CALL || how == LIBOMP_WAIT_BARE) {
		if (how == LIBOMP_WAIT_BARE)
			record->site = caller(ctx, 0, &record->flags);
		else if (COOKIE_OFF(cookie) >= 0)
			record->site = caller(ctx, COOKIE_OFF(cookie), &record->flags);
		return;
	}
	record->site = libomp__call_site(ctx, cookie, &record->extra, &flags);
	if (how == LIBOMP_WAIT_BARRIER && arg(ctx, 0)) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(arg(ctx, 0) + 4)))
			flags |= RING_F_FAULT;
		if (!(word & LIBOMP_IDENT_BARRIER_EXPLICIT) && word & LIBOMP_IDENT_BARRIER_IMPLICIT)
			record->arg = RING_WAIT_BARRIER_IMPLICIT;
	}
	record->flags = flags;
	if (how == LIBOMP_WAIT_DEPEND) {
		ring__emit(id, record);
		libomp_depends(id, record->frame, arg(ctx, 3), (__s32)arg(ctx, 2));
		libomp_depends(id, record->frame, arg(ctx, 5), (__s32)arg(ctx, 4));
		record->kind = RING_NONE;
	}
}

static __noinline void libomp_keep(struct pt_regs *ctx, __u64 cookie)
{
	struct libomp_thread *thread;
	__u32 flags = 0;
	__u64 source;

	if (COOKIE_A(cookie) == LIBOMP_KEEP_TASKLOOP) {
		libomp_keep_taskloop(ctx);
		return;
	}
	thread = libomp__thread();
	if (!thread)
		return;
	switch (COOKIE_A(cookie)) {
	case LIBOMP_KEEP_SITE:
		thread->outer_frame = stack(ctx);
		thread->outer_site = caller(ctx, 0, &flags);
		thread->outer_ip = here(ctx);
		thread->outer_source = COOKIE_B(cookie);
		break;
	case LIBOMP_KEEP_FORK:
		thread->team_forked = (__u32)arg(ctx, 2) == 0;
		thread->team_number = (__u32)arg(ctx, 1);
		break;
	case LIBOMP_KEEP_THREADS:
		thread->threads_asked =
			(__u32)(COOKIE_B(cookie) ? user_word(arg(ctx, 3), &flags) : arg(ctx, 2));
		break;
	case LIBOMP_KEEP_TEAMS:
		thread->teams_asked = (__u32)arg(ctx, 2);
		break;
	case LIBOMP_KEEP_CANCEL:
	case LIBOMP_KEEP_CANCEL_POINT:
		thread->cancel_kind = (__u32)arg(ctx, 2) & 7;
		if (COOKIE_A(cookie) == LIBOMP_KEEP_CANCEL_POINT)
			thread->cancel_kind |= RING_CANCEL_POINT;
		thread->cancel_site = libomp__call_site(ctx, cookie, &source, &flags);
		break;
	}
}

/* At the return of a cancel or cancellation point: whether the construct is cancelled. */
static __noinline void libomp_cancel(struct pt_regs *ctx, struct ring_record *record)
{
	struct libomp_thread *thread = libomp__thread();

	if (!thread || !(__u32)result(ctx)) {
		record->kind = RING_NONE;
		return;
	}
	record->site = thread->cancel_site;
	switch (thread->cancel_kind & 7) {
	case 1:
		record->arg = RING_CANCEL_PARALLEL;
		break;
	case 2:
		record->arg = RING_CANCEL_LOOP;
		break;
	case 3:
		record->arg = RING_CANCEL_SECTIONS;
		break;
	case 4:
		record->arg = RING_CANCEL_TASKGROUP;
		break;
	}
	record->arg |= thread->cancel_kind & RING_CANCEL_POINT;
}

static __always_inline void libomp__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
					 struct ring_record *record)
{
	if (helpers_known && helper__idles(record->kind)) {
		record->kind = RING_NONE;
		return;
	}
	switch (record->kind) {
	case RING_NONE:
		libomp_keep(ctx, cookie);
		break;
	case RING_TASK_CREATE:
		libomp_create(ctx, id, cookie, record);
		break;
	case RING_TASK_BEGIN:
		record->key = reg(ctx, COOKIE_REG(cookie));
		record->site = user_word(record->key + LIBOMP_TASK_ROUTINE, &record->flags);
		break;
	case RING_UNDEFERRED_BEGIN:
		libomp_undeferred(ctx, cookie, record);
		break;
	case RING_TASKLOOP_BEGIN:
		libomp_taskloop(ctx, id, cookie, record);
		break;
	case RING_TASK_FULFILL:
		record->key = user_word(arg(ctx, 0) + COOKIE_A(cookie) * 8, &record->flags);
		break;
	case RING_REGION_BEGIN:
		libomp_region_begin(ctx, id, cookie, record);
		break;
	case RING_REGION_END:
		libomp_region_end(ctx, id, cookie, record);
		break;
	case RING_MEMBER_BEGIN:
		libomp_member(ctx, id, cookie, record);
		break;
	case RING_WAIT_BEGIN:
		libomp_wait_begin(ctx, id, cookie, record);
		break;
	case RING_WAIT_END:
		record->arg = COOKIE_A(cookie);
		break;
	case RING_GROUP_BEGIN:
		if (COOKIE_CC(cookie) == LIBOMP_GROUP_BARE)
			record->site = caller(ctx, 0, &record->flags);
		else
			record->site = libomp__call_site(ctx, cookie, &record->extra, &record->flags);
		break;
	case RING_CANCEL:
		libomp_cancel(ctx, record);
		break;
	case RING_TASK_CREATE_END:
	case RING_TASK_END:
	case RING_UNDEFERRED_END:
	case RING_TASKLOOP_END:
		break;
	default:
		libomp_worksharing__read(ctx, id, cookie, record);
		break;
	}
}

#endif
