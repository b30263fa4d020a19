/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The state that a thread inside libomp keeps from one point to the next, and the caller of the function at
 * whose entry a probe is.
 */
#ifndef GRAIND_LIBOMP_STATE_BPF_H
#define GRAIND_LIBOMP_STATE_BPF_H

#include "bpf/abi/libomp_task_cookie.h"
#include "bpf/registers.bpf.h"

/*
 * The most taskloops that one thread can have open inside each other. Bounds of tasks in deeper taskloops
 * are not recorded.
 */
#define LIBOMP_TASKLOOPS 8

/* An open taskloop, and where its tasks have their bounds. */
struct libomp_taskloop {
	__u64 frame;		  /* stack pointer at the entry of the function that makes the tasks */
	__s32 lower_at, upper_at; /* offsets of the bounds from the task */
	__u32 down;		  /* the step is negative */
	__u32 unused;
};

struct libomp_thread {
	/* The last call of a runtime function that itself calls other observed functions. */
	__u64 outer_frame, outer_site, outer_ip;
	__u64 league; /* the team of the teams construct whose body is about to be called, and its number in
			 the league */
	__u32 league_number;
	__u32 outer_source; /* that call had a source location from the program */
	__u64 cancel_site;
	__u32 cancel_kind;
	__u32 threads_asked, teams_asked; /* for the next region */
	__u32 team_number;		  /* the thread's number in the runtime, when a GOMP_parallel forks */
	__u32 team_forked;
	__u32 helper; /* 0: a normal thread; else a helper of the runtime: 1 + number of tasks that it runs */
	__u32 taskloops; /* number of open taskloops in the array */
	struct libomp_taskloop taskloop[LIBOMP_TASKLOOPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct libomp_thread);
} libomp_threads SEC(".maps");

/*
 * The thread's state. NULL: there is no memory for it, which is counted. Events that need it are not
 * recorded.
 */
static __noinline struct libomp_thread *libomp__thread(void)
{
	struct libomp_thread *thread = bpf_task_storage_get(&libomp_threads, bpf_get_current_task_btf(), 0,
							    BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!thread)
		ring__lose(ids__current(), RING_LOSS_STORAGE);
	return thread;
}

/*
 * libomp runs tasks of `target nowait` on threads that it makes for them. These helpers are members of a
 * region that the runtime begins for itself, with a body of its own. That region is not recorded, nor what
 * the helpers do outside of tasks.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* process */
	__type(value, __u64);
} helper_bodies SEC(".maps");

/* Whether any helper is known. */
volatile __u32 helpers_known;

/* Makes the thread a helper if it begins, or is a member of, a region with the helpers' body. */
static __always_inline bool helper__becomes(struct libomp_thread *thread, __u64 id, __u64 body)
{
	__u32 tgid = id >> 32;
	__u64 *known = helpers_known ? bpf_map_lookup_elem(&helper_bodies, &tgid) : NULL;

	if (!known || *known != body)
		return false;
	if (thread)
		thread->helper = 1;
	return true;
}

static __noinline int helper__begins(__u64 id, __u64 body)
{
	__u32 tgid = id >> 32;

	bpf_map_update_elem(&helper_bodies, &tgid, &body, 0);
	helpers_known = 1;
	helper__becomes(libomp__thread(), id, body);
	return 0;
}

/* Whether this is an event of a helper outside of tasks. */
static __noinline int helper__idles(__u32 kind)
{
	struct libomp_thread *thread =
		bpf_task_storage_get(&libomp_threads, bpf_get_current_task_btf(), 0, 0);

	if (!thread || !thread->helper)
		return 0;
	if (kind == RING_TASK_BEGIN)
		thread->helper++;
	else if (kind == RING_TASK_END && thread->helper > 1)
		thread->helper--;
	else
		return thread->helper == 1;
	return 0;
}

/* Whether the address is in the runtime's own code. The cookie says where that code is. */
static __always_inline bool libomp__inside(struct pt_regs *ctx, __u64 cookie, __u64 address)
{
	__u64 start = here(ctx) + COOKIE_OFF(cookie);

	return address - start < (__u64)LIBOMP_COOKIE_SIZE(cookie);
}

/*
 * Whether the runtime itself called its function that returns to this address. The runtime calls the
 * program's bodies by their addresses. If a body's last act is a jump to a function, that function also
 * returns to the runtime.
 */
static __noinline bool libomp__called_inside(struct pt_regs *ctx, __u64 cookie, __u64 address)
{
	__u32 flags = 0;

	return libomp__inside(ctx, cookie, address) &&
	       (calls_by_name(user_word(address - 8, &flags)) || flags);
}

/* ident_t's source string. */
static __always_inline __u64 libomp__source(__u64 ident, __u32 *flags)
{
	return ident ? user_word(ident + 16, flags) : 0;
}

/*
 * The application's call site, at the entry of a function (loc, ...) that the runtime also calls itself.
 * For a call from the runtime it is the call site of the outer function, or 0. It is also 0 if a body jumps
 * to the function. *source is the source string, if the program gave one.
 */
static __noinline __u64 libomp__call_site(struct pt_regs *ctx, __u64 cookie, __u64 *source, __u32 *flags)
{
	struct libomp_thread *thread;
	__u64 site;

	if (!source || !flags)
		return 0;
	site = caller(ctx, 0, flags);
	*source = 0;
	if (!libomp__called_inside(ctx, cookie, site)) {
		*source = libomp__source(arg(ctx, 0), flags);
		return libomp__inside(ctx, cookie, site) ? 0 : site;
	}
	thread = libomp__thread();
	if (!thread || thread->outer_frame <= stack(ctx))
		return 0;
	if (thread->outer_source)
		*source = libomp__source(arg(ctx, 0), flags);
	return thread->outer_site;
}

#endif
