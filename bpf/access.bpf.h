/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples of the memory that recorded threads use. Each sample is the data address of a perf event of a
 * thread or CPU. A CPU takes a limited number per second.
 */
#ifndef GRAIND_ACCESS_BPF_H
#define GRAIND_ACCESS_BPF_H

#include "bpf/sample.bpf.h"

#define ACCESS_SECOND 1000000000ull

struct access_rate {
	__u64 since_ns;
	__u64 count;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct access_rate);
} access_rates SEC(".maps");

/* The most samples of a CPU per second; more are counted as lost. */
const volatile __u32 access_limit = 0;

static __always_inline bool access__may(void)
{
	__u32 zero = 0;
	struct access_rate *rate = bpf_map_lookup_elem(&access_rates, &zero);
	__u64 now = bpf_ktime_get_ns();

	if (!rate)
		return false;
	if (now - rate->since_ns >= ACCESS_SECOND) {
		rate->since_ns = now;
		rate->count = 0;
	}
	return rate->count++ < access_limit;
}

/*
 * A sample of an instruction that uses no memory has no address. Addresses of the kernel's own data are
 * dropped.
 */
SEC("perf_event")
int access(struct bpf_perf_event_data *ctx)
{
	__u64 id = ids__current(), address = ctx->addr;
	__u32 cpu = bpf_get_smp_processor_id();
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);
	struct ring_record record = {.kind = RING_ACCESS, .key = address};

	if (!ctl)
		return 0;
	__sync_fetch_and_add(&ctl->asked, 1);
	if (!address || (__s64)address < 0 || !sample__wanted(id) ||
	    sample__is_second(ctx, id, TWOFOLD_ACCESS))
		return 0;
	if (!access__may() || !ring__put(ctl, cpu, id, &record))
		ring__lose(id, RING_LOSS_ACCESS);
	return 0;
}

#endif
