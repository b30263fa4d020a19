/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where recorded threads are, asked a set number of times a second: a perf
 * event on each CPU. The stack is that of frame pointers; in the kernel its
 * innermost address is the kernel's, those of the program follow.
 */
#ifndef GRAIND_SAMPLE_BPF_H
#define GRAIND_SAMPLE_BPF_H

#include "bpf/ring.bpf.h"

struct sample_stack {
	__u64 address[RING_STACK_MAX + RING_STACK_EACH];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_stack);
} sample_stacks SEC(".maps");

/* Only threads that give events, where the capture is of every process. */
const volatile __u32 sample_followed = 0;

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

/* Fills the stack; the number of addresses in it. */
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
	/* Where a thread began it returns to nowhere. */
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

	if (!ctl || !stack || !sample__wanted(id))
		return 0;
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
