/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the rings of ring_abi.h. */
#ifndef GRAIND_RING_BPF_H
#define GRAIND_RING_BPF_H

#include "bpf/vmlinux.h"
#include "bpf/counters.bpf.h"
#include "bpf/gate.bpf.h"
#include "bpf/ids.bpf.h"
#include "bpf/abi/ring_abi.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

/* Sizes are set before loading: number of CPUs, and CPUs << slots_shift. */
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

/* The rings of each NUMA node, in the node's memory. The map is used only if there are several nodes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} node_slots SEC(".maps");

struct thread_state {
	__u32 lost;	  /* events not yet reported by a RING_LOST */
	__u32 lost_flags; /* RING_F_IN_PROGRAM: at least one of them had that flag */
	__u32 off;	  /* its latest RING_OFF_CPU has no RING_ON_CPU yet */
	__u32 gated;	  /* the gate calls this capture's programs at the thread's switches */
	__u64 woken_ns;	  /* since when it waits for a CPU after it was blocked; 0: it does not wait */
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

/* Threads with events get a thread_state, so that their scheduling is recorded, too. */
const volatile __u32 follow_threads = 0;

/*
 * All threads of the thread groups in `targets` are followed from their first switch on. This is for
 * processes that libgrainshim records.
 */
const volatile __u32 follow_targets = 0;

/* For a thread that was in a region when the capture began: one of this many events checks for its state. */
#define FOLLOW_EVERY 16

/* The switch for recording. Attaching many probes is not atomic, but setting this is. */
__u32 enabled = 0;

/* Samples are taken even if `enabled` is not set. */
__u32 sampled = 0;

/* Set once anything was lost, so that the usual event need not check. */
__u32 any_lost = 0;

/* Thread group to record; 0 = all. */
const volatile __u32 target_tgid = 0;

/*
 * Whether only the thread groups in `targets` are recorded. This is needed if the kernel's links cannot
 * tell processes apart and there may be several.
 */
const volatile __u32 filtered = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

/* For a capture of every process: some thread groups are refused, and their hits end here. */
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

/* The losses of each thread group. graind removes entries that it does not need any more. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ring_losses);
} losses_of SEC(".maps");

static const struct ring_losses no_losses;

/* `id` is as of ids__current(). The function is global for the same reason as ring__emit(). */
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

/* The content of one event besides its time and thread. */
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

static __noinline void ring__count_lost(__u64 id, struct thread_state *state, __u32 flags)
{
	ring__lose(id, RING_LOSS_FULL);
	if (state) {
		state->lost++;
		state->lost_flags |= flags & RING_F_IN_PROGRAM;
	} else {
		ring__lose(id, RING_LOSS_STORAGE);
	}
	any_lost = 1;
}

/* Reports a thread's earlier losses in the stream, before its next event. */
static __noinline void ring__report_lost(struct ring_ctl *ctl, __u32 cpu, __u64 id,
					 struct thread_state *state)
{
	if (!ctl || !state || !state->lost)
		return;
	struct ring_record record = {.kind = RING_LOST, .arg = state->lost, .flags = state->lost_flags};
	if (ring__put(ctl, cpu, id, &record))
		state->lost = state->lost_flags = 0;
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
		ring__count_lost(id, state, record->flags);
}

/* Counts a hit without an event. */
static __noinline void ring__pass(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);

	if (ctl)
		__sync_fetch_and_add(&ctl->passed, 1);
}

/* This capture's number in the gate; 0: the kernel calls its programs directly. */
const volatile __u32 gate_number = 0;

/* Makes the gate call the capture's programs at switches of the current thread. */
static __noinline int gate__follow(struct thread_state *state)
{
	struct gate_followers *followers;

	if (!state)
		return 0;
	followers = bpf_task_storage_get(&gate_followed, bpf_get_current_task_btf(), 0,
					 BPF_LOCAL_STORAGE_GET_F_CREATE);
	for (int i = 0; followers && i < GATE_EACH; i++) {
		__u32 number = followers->number[i], slot = GATE_SLOT(number),
		      *present = bpf_map_lookup_elem(&gate_numbers, &slot);

		/* The slot is free, or its capture has ended. */
		if ((!number || !present || *present != number) &&
		    __sync_val_compare_and_swap(&followers->number[i], number, gate_number) == number) {
			state->gated = 1;
			return 0;
		}
	}
	return 0;
}

/* The state of the current thread. If it has none and `make` is set, a state is made. */
static __always_inline struct thread_state *thread_state(bool make)
{
	struct thread_state *state = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0,
							  make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);

	if (make && gate_number && state && !state->gated)
		gate__follow(state);
	return state;
}

/*
 * A lookup of the state costs a tenth of an event. So it is done at events that begin a thread's part in a
 * region, and now and then at others.
 */
static __always_inline bool begins_part(const struct ring_ctl *ctl, const struct ring_record *record)
{
	return record->kind == RING_REGION_BEGIN || record->kind == RING_TEAM_STARTED ||
	       record->kind == RING_MEMBER_BEGIN || ctl->head % FOLLOW_EVERY == 0;
}

/*
 * Updates the thread's counters. Returns the bits of counters__sum(), or -1 if there is nothing to record.
 * Counting and recording are called one after the other, not within each other, because the stack of all
 * callers together is limited.
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

/* Records the thread's counter values for its next event, which has this kind. */
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
 * `id` is what ids__current() returned. All functions that are called from many places are global: the
 * verifier checks them once and not at every call, which is a large part of the cost of attaching. Such
 * functions return a number.
 */
__noinline int ring__emit(__u64 id, const struct ring_record *record)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ring_ctl *ctl = bpf_map_lookup_elem(&ring_ctl, &cpu);

	if (!ctl || !record)
		return 0;
	if (record->flags & RING_F_FAULT)
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
		ring__count_lost(id, thread_state(true), record->flags);
	return 0;
}

#endif
