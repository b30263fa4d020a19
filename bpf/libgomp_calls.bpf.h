/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Open calls of libgomp. The entry of a call keeps data for events inside the call or for its return. They
 * find it by the stack pointer at the entry. Each thread has its own calls, innermost last, which other
 * threads cannot evict. A call whose return is not seen (longjmp) leaves its entry behind. A later call
 * that is above it on the stack removes the entry, because everything below has ended.
 */
#ifndef GRAIND_LIBGOMP_CALLS_BPF_H
#define GRAIND_LIBGOMP_CALLS_BPF_H

#include "bpf/registers.bpf.h"

struct gomp_call {
	__u64 frame;
	__u64 site;
	__u64 step; /* of a taskloop; for the task of a target region: its dependences */
	__u64 task; /* the task being created */
	__u64 body;
	__u32 arg;
	__u32 kind; /* enum ring_kind; RING_NONE: it is over */
};

#define GOMP_CALLS_OWN 32	 /* a power of two */
#define GOMP_CALLS_DEPTH_BITS 13 /* deeper calls are counted, but not kept */
#define GOMP_CALLS_ONE_FRAME 4	 /* the most calls with one frame: these are tail calls */

/* The calls of a thread. Calls from number GOMP_CALLS_OWN on are in gomp_deep_calls. */
struct gomp_calls {
	volatile __u32 depth;
	/*
	 * Temporary results of a search. They are in memory, because the verifier would follow every path
	 * of the loop for numbers in registers.
	 */
	volatile __u32 above, below;
	__u32 pad;
	struct gomp_call own[GOMP_CALLS_OWN];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gomp_calls);
} gomp_calls SEC(".maps");

struct gomp_deep_key {
	__u64 id; /* as ids__current() returns it */
	__u32 number, pad;
};

/* All threads share this map. A thread notices that its calls were evicted, and counts that. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct gomp_deep_key);
	__type(value, struct gomp_call);
} gomp_deep_calls SEC(".maps");

/* The call with that number; NULL: it was evicted. */
static __always_inline struct gomp_call *gomp_calls__at(struct gomp_calls *calls, __u64 id, __u32 number)
{
	struct gomp_deep_key key = {.id = id, .number = number};

	/*
	 * Stops the compiler from using a pointer as the loop's variable. The verifier would not know the
	 * pointer's bounds.
	 */
	barrier_var(number);
	if (number < GOMP_CALLS_OWN)
		return &calls->own[number & (GOMP_CALLS_OWN - 1)];
	return bpf_map_lookup_elem(&gomp_deep_calls, &key);
}

enum gomp_call_absent {
	GOMP_CALL_NONE = -1,
	GOMP_CALL_LOST = -2, /* it may have been evicted, which is counted */
};

/* Whether call `number` is not below `frame`. For evicted calls this is not known. */
static __always_inline bool gomp_calls__above(struct gomp_calls *calls, __u64 id, __u32 number, __u64 frame)
{
	const struct gomp_call *call = gomp_calls__at(calls, id, number);

	return !call || call->frame >= frame;
}

/* Counts the thread's calls that are not below `frame`, into `above`. */
static __always_inline void gomp_calls__look(struct gomp_calls *calls, __u64 id, __u64 frame)
{
	calls->above = 0;
	calls->below = calls->depth;
	if (calls->depth && gomp_calls__above(calls, id, calls->depth - 1, frame))
		calls->above = calls->depth;
	for (__u32 i = 0; i < GOMP_CALLS_DEPTH_BITS && calls->above < calls->below; i++) {
		__u32 middle = (calls->above + calls->below) / 2;

		if (gomp_calls__above(calls, id, middle, frame))
			calls->above = middle + 1;
		else
			calls->below = middle;
	}
}

/*
 * The number of the thread's open call with that frame, or enum gomp_call_absent. `over`: the thread's
 * stack is known to end at `frame`, so calls below it are forgotten.
 */
__noinline int gomp_call__number(__u64 id, __u64 frame, __u32 kind, __u32 over)
{
	struct gomp_calls *calls = bpf_task_storage_get(&gomp_calls, bpf_get_current_task_btf(), 0, 0);

	if (!calls)
		return GOMP_CALL_NONE;
	gomp_calls__look(calls, id, frame);
	if (over)
		calls->depth = calls->above;
	for (__u32 i = 0; i < GOMP_CALLS_ONE_FRAME && i < calls->above; i++) {
		__u32 number = calls->above - 1 - i;
		struct gomp_call *call = gomp_calls__at(calls, id, number);

		if (over && number + 1 == calls->depth && (!call || call->kind == RING_NONE))
			calls->depth = number;
		if (call && call->kind == RING_NONE)
			continue;
		if (call && call->frame != frame)
			break;
		if (call && call->kind == kind)
			return number;
		if (!call) {
			ring__lose(id, RING_LOSS_STORAGE);
			return GOMP_CALL_LOST;
		}
	}
	return GOMP_CALL_NONE;
}

/*
 * The open call with that frame. NULL: its entry was not seen; or the call is lost, which is counted and
 * noted in `flags`. `over` is as of gomp_call__number().
 */
static __always_inline struct gomp_call *gomp_call__find(__u64 id, __u64 frame, __u32 kind, bool over,
							 __u32 *flags)
{
	struct gomp_calls *calls = bpf_task_storage_get(&gomp_calls, bpf_get_current_task_btf(), 0, 0);
	__u32 depth = calls ? calls->depth : 0;
	struct gomp_call *innermost;
	int number;

	if (!calls || !depth)
		return NULL;
	/* The usual case: the innermost call is the one. */
	innermost = gomp_calls__at(calls, id, depth - 1);
	if (innermost && innermost->frame == frame && innermost->kind == kind)
		return innermost;
	number = gomp_call__number(id, frame, kind, over);
	if (number == GOMP_CALL_LOST)
		*flags |= RING_F_FAULT;
	return number < 0 ? NULL : gomp_calls__at(calls, id, number);
}

/*
 * Opens `call` and replaces a call of the same frame and kind. With `only_new`, such a call is kept
 * instead.
 */
__noinline int gomp_call__put(__u64 id, const struct gomp_call *call, __u32 only_new)
{
	struct gomp_deep_key key = {.id = id};
	struct gomp_calls *calls;
	int number;

	if (!call)
		return 0;
	number = gomp_call__number(id, call->frame, call->kind, true);
	calls = bpf_task_storage_get(&gomp_calls, bpf_get_current_task_btf(), 0,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!calls)
		goto lost;
	if (number >= 0 && only_new)
		return 0;
	key.number = number >= 0 ? number : calls->depth;
	if (key.number < GOMP_CALLS_OWN) {
		calls->own[key.number & (GOMP_CALLS_OWN - 1)] = *call;
	} else {
		/* Linux 6.1 cannot store a map value from the argument of a global function. */
		struct gomp_call deep = *call;

		if (key.number >> GOMP_CALLS_DEPTH_BITS ||
		    bpf_map_update_elem(&gomp_deep_calls, &key, &deep, 0))
			goto lost;
	}
	if (number < 0)
		calls->depth++;
	return 0;
lost:
	ring__lose(id, RING_LOSS_STORAGE);
	return 0;
}

/* Closes the call. Its content is valid until the next call is put. */
static __always_inline void gomp_call__close(struct gomp_call *call)
{
	call->kind = RING_NONE;
}

#endif
