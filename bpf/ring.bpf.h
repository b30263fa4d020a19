/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The producer's end of the rings of ring_abi.h. */
#ifndef GRAIND_RING_BPF_H
#define GRAIND_RING_BPF_H

#include "bpf/vmlinux.h"
#include "bpf/counters.bpf.h"
#include "bpf/ids.bpf.h"
#include "bpf/ring_abi.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

/* Sizes are set before loading: CPUs, and CPUs << slots_shift. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ring_ctl);
} ring_ctl SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ring_event);
} ring_slots SEC(".maps");

/* The rings of each NUMA node, in its memory; made only where there are several. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} node_slots SEC(".maps");

struct thread_state {
	__u32 lost;	/* events not yet reported by a RING_LOST */
	__u32 off;	/* its latest RING_OFF_CPU has no RING_ON_CPU yet */
	__u64 woken_ns; /* since when it waits for a CPU after it was blocked */
	struct thread_counts counts;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads SEC(".maps");

const volatile __u32 slots_shift = 16;

/* Entries of node_slots; 0: all rings are in ring_slots. */
const volatile __u32 ring_nodes = 0;

/* Threads that give events get a thread_state: what else happens to them is followed too. */
const volatile __u32 follow_threads = 0;

/*
 * All threads of the thread groups in `targets` are followed, from the first
 * time that they leave a CPU: processes that record by themselves.
 */
const volatile __u32 follow_targets = 0;

/* Of the events of threads that were in a region already when the capture began, every so many'th looks. */
#define FOLLOW_EVERY 16

/* The one switch: attaching many probes is not atomic, turning this is. */
__u32 enabled = 0;

/* Samples go on without it. */
__u32 sampled = 0;

/* Set once anything was lost, so that the usual event does not look. */
__u32 any_lost = 0;

/* Thread group to record; 0 = all. */
const volatile __u32 target_tgid = 0;

/*
 * Whether only the thread groups in `targets` are recorded: where the kernel's
 * links cannot tell processes apart and there may be several.
 */
const volatile __u32 filtered = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

/*
 * Of a capture of every process: thread groups of which nobody wants to know anything, so that
 * their hits end here.
 */
const volatile __u32 refusing = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} refused SEC(".maps");

static __always_inline bool is_refused(__u32 tgid)
{
	return refusing && bpf_map_lookup_elem(&refused, &tgid);
}

/* What was lost of each thread group. The daemon takes out those that it has no more use for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ring_losses);
} losses_of SEC(".maps");

static const struct ring_losses no_losses;

/* `id` as that of ids__current(). Global like ring__emit(). */
__noinline int ring__lose(__u64 id, __u32 cause)
{
	__u32 cpu = bpf_get_smp_processor_id(), tgid = id >> 32;
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);
	struct ring_losses *losses = bpf_map_lookup_elem(&losses_of, &tgid);

	if (!ctl || cause >= RING_LOSS_MAX)
		return 0;
	if (!losses) {
		bpf_map_update_elem(&losses_of, &tgid, &no_losses, BPF_NOEXIST);
		losses = bpf_map_lookup_elem(&losses_of, &tgid);
	}
	__sync_fetch_and_add(&ctl->loss[cause], 1);
	if (losses)
		__sync_fetch_and_add(&losses->loss[cause], 1);
	else
		__sync_fetch_and_add(&ctl->loss[RING_LOSS_NOBODYS], 1);
	return 0;
}

/* What one event says besides when and where. */
struct ring_record {
	__u64 frame, key, site, extra;
	__u32 arg, kind, flags;
};

static __always_inline struct ring_event *ring__slot(const struct ring_ctl *ctl, __u32 cpu, __u32 offset)
{
	__u32 index;

	if (ring_nodes) {
		__u32 node = ctl->node;
		void *slots = bpf_map_lookup_elem(&node_slots, &node);

		index = ctl->first_slot + offset;
		return slots ? bpf_map_lookup_elem(slots, &index) : NULL;
	}
	index = cpu << slots_shift | offset;
	return bpf_map_lookup_elem(&ring_slots, &index);
}

static __always_inline bool ring__put(struct ring_ctl *ctl, __u32 cpu, __u64 id,
				      const struct ring_record *record)
{
	__u32 mask = (1u << slots_shift) - 1;
	__u64 now = bpf_ktime_get_ns();

	if (ctl->head - ctl->tail > mask + 1 - RING_MARGIN)
		return false;
	__u64 position = __sync_fetch_and_add(&ctl->head, 1);
	struct ring_event *slot = ring__slot(ctl, cpu, (__u32)position & mask);
	if (!slot)
		return false;
	slot->time_ns = now;
	slot->frame = record->frame;
	slot->key = record->key;
	slot->site = record->site;
	slot->extra = record->extra;
	slot->tgid = id >> 32;
	slot->tid = id;
	slot->arg = record->arg;
	slot->kind = record->kind;
	slot->flags = record->flags;
	barrier();
	*(volatile __u32 *)&slot->seq = (__u32)position + 1;
	return true;
}

static __noinline void ring__count_lost(__u64 id, struct thread_state *state)
{
	ring__lose(id, RING_LOSS_FULL);
	if (state)
		state->lost++;
	else
		ring__lose(id, RING_LOSS_STORAGE);
	any_lost = 1;
}

/* Reports a thread's earlier losses in the stream, before its next event. */
static __noinline void ring__report_lost(struct ring_ctl *ctl, __u32 cpu, __u64 id,
					 struct thread_state *state)
{
	if (!ctl || !state || !state->lost)
		return;
	struct ring_record record = {.kind = RING_LOST, .arg = state->lost};
	if (ring__put(ctl, cpu, id, &record))
		state->lost = 0;
}

/* An event of a thread whose state is known. */
static __always_inline void ring__emit_of(struct thread_state *state, __u64 id,
					  const struct ring_record *record)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);

	if (!ctl)
		return;
	if (any_lost)
		ring__report_lost(ctl, cpu, id, state);
	if (!ring__put(ctl, cpu, id, record))
		ring__count_lost(id, state);
}

/* A hit that leaves no event. */
static __noinline void ring__pass(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);

	if (ctl)
		__sync_fetch_and_add(&ctl->passed, 1);
}

/* The state of the thread that runs; made for it when it has none and `make`. */
static __always_inline struct thread_state *thread_state(bool make)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0,
				    make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/*
 * Looking for the state costs a tenth of an event: done at the events with
 * which a thread's part in a region begins, and now and then at others.
 */
static __always_inline bool begins_part(const struct ring_ctl *ctl, const struct ring_record *record)
{
	return record->kind == RING_REGION_BEGIN || record->kind == RING_TEAM_STARTED ||
	       record->kind == RING_MEMBER_BEGIN || ctl->head % FOLLOW_EVERY == 0;
}

/*
 * Brings the thread's counters up to now: the bits of counters__sum, or -1 if
 * there is nothing to record. Counting and recording are functions beside, not
 * within each other: what all callers together have on the stack is limited.
 */
static __noinline int ring__count(struct thread_state *state)
{
	struct thread_counts *counts;

	if (!state)
		return -1;
	counts = &state->counts;
	if (state->off) {
		counters__enter(counts);
		state->off = 0;
		counts->missed = 1;
	}
	if (counts->counting)
		return counters__sum(counts) & ((1u << RING_COUNTERS_MAX) - 1);
	return counters__begin(counts) ? 0 : -1;
}

/* What the thread's counters read, for the event of that kind that comes next. */
static __noinline void ring__put_counters(const struct thread_state *state, __u64 id, __u32 kind, __u32 blind)
{
	struct ring_record record = {.kind = RING_COUNTERS};
	__u32 cpu = bpf_get_smp_processor_id();
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);

	if (!ctl || !state)
		return;
	for (__u32 i = 0; i < RING_COUNTERS_MAX && i < counter_count; i += RING_COUNTERS_EACH) {
		record.arg = RING_COUNTERS_ARG(i, blind >> i & 7, kind);
		record.frame = state->counts.sum[i];
		record.key = i + 1 < RING_COUNTERS_MAX ? state->counts.sum[i + 1] : 0;
		record.extra = i + 2 < RING_COUNTERS_MAX ? state->counts.sum[i + 2] : 0;
		ring__put(ctl, cpu, id, &record);
	}
}

/*
 * `id` is what ids__current() returned. A global function, as all that is
 * called from many places: the verifier checks it once and not at every call,
 * which is a large part of what attaching costs. Such functions return a number.
 */
__noinline int ring__emit(__u64 id, const struct ring_record *record)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);

	if (!ctl || !record)
		return 0;
	if (record->flags)
		__sync_fetch_and_add(&ctl->loss[RING_LOSS_FAULT], 1);
	if (follow_threads && begins_part(ctl, record))
		thread_state(true);
	if (any_lost)
		ring__report_lost(ctl, cpu, id, thread_state(false));
	if (counter_count && counters__wanted(record->kind)) {
		struct thread_state *state = thread_state(true);
		int blind = ring__count(state);

		if (blind >= 0)
			ring__put_counters(state, id, record->kind, (__u32)blind);
	}
	if (!ring__put(ctl, cpu, id, record))
		ring__count_lost(id, thread_state(true));
	return 0;
}

#endif
