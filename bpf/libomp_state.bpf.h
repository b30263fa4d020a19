/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a thread inside libomp keeps from one point to the next, and who called the function at whose entry a
 * probe is. */
#ifndef GRAIND_LIBOMP_STATE_BPF_H
#define GRAIND_LIBOMP_STATE_BPF_H

#include "bpf/libomp_task_cookie.h"
#include "bpf/registers.bpf.h"

/* Taskloops that can be open in each other on one thread; the bounds of deeper ones' tasks are not recorded.
 */
#define LIBOMP_TASKLOOPS 8

/* Where a taskloop's tasks have their bounds. */
struct libomp_taskloop {
	__u64 frame;		  /* stack pointer at the entry of the function that makes the tasks */
	__s32 lower_at, upper_at; /* from the task */
	__u32 down;		  /* the step is negative */
	__u32 unused;
};

struct libomp_thread {
	/* The last call of a function of the runtime that calls other observed ones. */
	__u64 outer_frame, outer_site, outer_ip;
	__u64 league; /* the team of the body of a teams construct that is about to be called, and the number
			 in it */
	__u32 league_number;
	__u32 outer_source; /* that call had the source location of the program */
	__u64 cancel_site;
	__u32 cancel_kind;
	__u32 threads_asked, teams_asked; /* for the next region */
	__u32 team_number;		  /* the thread's number in the runtime, when a GOMP_parallel forks */
	__u32 team_forked;
	__u32 taskloops; /* used of the array */
	struct libomp_taskloop taskloop[LIBOMP_TASKLOOPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct libomp_thread);
} libomp_threads SEC(".maps");

/* NULL only when there is no memory: then counted, and what depends on it is not recorded. */
static __noinline struct libomp_thread *libomp__thread(void)
{
	struct libomp_thread *thread = bpf_task_storage_get(&libomp_threads, bpf_get_current_task_btf(), 0,
							    BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!thread)
		ring__lose(ids__current(), RING_LOSS_STORAGE);
	return thread;
}

/* Whether the address is in the runtime's own code, as the cookie says where that is. */
static __always_inline bool libomp__inside(struct pt_regs *ctx, __u64 cookie, __u64 address)
{
	__u64 start = here(ctx) + COOKIE_OFF(cookie);

	return address - start < (__u64)LIBOMP_COOKIE_SIZE(cookie);
}

/* ident_t's source string. */
static __always_inline __u64 libomp__source(__u64 ident, __u32 *flags)
{
	return ident ? user_word(ident + 16, flags) : 0;
}

/*
 * The application's call site, at the entry of a function (loc, ...) that the
 * runtime also calls itself: then that of the outer function, or 0. *source is
 * the source string, if the program gave it.
 */
static __noinline __u64 libomp__call_site(struct pt_regs *ctx, __u64 cookie, __u64 *source, __u32 *flags)
{
	struct libomp_thread *thread;
	__u64 site;

	if (!source || !flags)
		return 0;
	site = caller(ctx, 0, flags);
	*source = 0;
	if (!libomp__inside(ctx, cookie, site)) {
		*source = libomp__source(arg(ctx, 0), flags);
		return site;
	}
	thread = libomp__thread();
	if (!thread || thread->outer_frame <= stack(ctx))
		return 0;
	if (thread->outer_source)
		*source = libomp__source(arg(ctx, 0), flags);
	return thread->outer_site;
}

#endif
