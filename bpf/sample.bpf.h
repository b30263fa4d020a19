/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples of recorded threads at a fixed frequency, by a perf event on each CPU or of each thread. The
 * stack is walked by frame pointers. If the thread is in the kernel, the innermost address is the kernel's,
 * and the program's addresses follow.
 */
#ifndef GRAIND_SAMPLE_BPF_H
#define GRAIND_SAMPLE_BPF_H

#include "bpf/ring.bpf.h"

struct sample_stack {
	__u64 address[RING_STACK_MAX + RING_STACK_EACH];
	__u32 turn; /* samples since one was taken */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_stack);
} sample_stacks SEC(".maps");

/* For a capture of every process: only threads with events are sampled. */
const volatile __u32 sample_followed = 0;

/* One of this many interrupts on a CPU becomes a sample; 0: every interrupt does. */
__u32 sample_every = 0;

/*
 * Threads that were found while events were being opened for others. Such a thread may also have inherited
 * its creator's event, and so have two. Its own event has a cookie, inherited ones have none. Its own event
 * comes later, because an inherited event is as old as the thread. The key is the thread, the value has a
 * bit for each kind of event that it was given.
 */
enum { TWOFOLD_SAMPLE = 1, TWOFOLD_ACCESS = 2 };
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} twofold SEC(".maps");
__u32 any_twofold = 0;

/* Whether this event is a thread's second one of that kind. */
static __always_inline bool sample__is_second(struct bpf_perf_event_data *ctx, __u64 id, __u8 kind)
{
	__u32 tid = id;
	__u8 *handed = *(volatile __u32 *)&any_twofold ? bpf_map_lookup_elem(&twofold, &tid) : NULL;

	if (!handed)
		return false;
	if (bpf_get_attach_cookie(ctx))
		return *handed & kind;
	*handed |= kind;
	return false;
}

static __always_inline bool sample__wanted(__u64 id)
{
	__u32 tgid = id >> 32;

	if (!tgid || !(*(volatile __u32 *)&enabled | *(volatile __u32 *)&sampled))
		return false;
	if (sample_followed)
		return thread_state(false) != NULL;
	if (target_tgid)
		return tgid == target_tgid;
	return bpf_map_lookup_elem(&targets, &tgid) != NULL;
}

/* Fills in the stack; returns the number of addresses. */
static __always_inline __u32 sample__walk(struct bpf_perf_event_data *ctx, struct sample_stack *stack)
{
	__u64 ip = SAMPLED_AT(ctx->regs);
	bool kernel = (__s64)ip < 0;
	__u32 depth;
	long bytes;

	stack->address[0] = ip;
	bytes = kernel ? bpf_get_stack(ctx, &stack->address[1], (RING_STACK_MAX - 1) * sizeof(__u64),
				       BPF_F_USER_STACK)
		       : bpf_get_stack(ctx, &stack->address[0], RING_STACK_MAX * sizeof(__u64),
				       BPF_F_USER_STACK);
	depth = bytes < 0 ? 1 : (__u32)bytes / sizeof(__u64) + kernel;
	/* The outermost frame of a thread has the return address 0. */
	if (depth > 1 && depth <= RING_STACK_MAX && !stack->address[depth - 1])
		depth--;
	return depth;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	__u64 id = ids__current();
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0, depth;
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);
	struct sample_stack *stack = bpf_map_lookup_elem(&sample_stacks, &zero);

	if (!ctl || !stack)
		return 0;
	__sync_fetch_and_add(&ctl->asked, 1);
	if (!sample__wanted(id) || sample__is_second(ctx, id, TWOFOLD_SAMPLE) ||
	    ++stack->turn < *(volatile __u32 *)&sample_every)
		return 0;
	stack->turn = 0;
	depth = sample__walk(ctx, stack);
	for (__u32 i = 0; i < RING_STACK_MAX && i < depth; i += RING_STACK_EACH) {
		struct ring_record record = {
			.kind = i ? RING_SAMPLE_STACK : RING_SAMPLE,
			.arg = i ? i : depth,
			.key = stack->address[i],
			.frame = stack->address[i + 1],
			.extra = stack->address[i + 2],
		};

		if (!ring__put(ctl, cpu, id, &record)) {
			ring__lose(id, RING_LOSS_SAMPLE);
			return 0;
		}
	}
	return 0;
}

#endif
