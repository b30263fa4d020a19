/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The maps that the gate (gate_programs.bpf.h) and the programs behind it share. */
#ifndef GRAIND_GATE_BPF_H
#define GRAIND_GATE_BPF_H

#include "bpf/vmlinux.h"
#include "bpf/abi/gate_abi.h"
#include <bpf/bpf_helpers.h>

/* The captures that follow a thread. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gate_followers);
} gate_followed SEC(".maps");

/* The number of the capture that has each slot now. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GATE_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} gate_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GATE_EVENTS);
	__type(key, __u32);
	__type(value, struct gate_turn);
} gate_turns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, GATE_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} gate_switch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, GATE_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} gate_wakeup SEC(".maps");

/*
 * Not NULL if any BPF program keeps data of the thread. Most threads have none, and this shows it without a
 * call. Read the pointer only once in a program: for each place that reads it, the kernel searches all its
 * types by name when it checks the program, which takes some milliseconds.
 */
static __always_inline const void *gate__storage(const struct task_struct *task)
{
	return task->bpf_storage;
}

/*
 * Whether both are NULL. Without the barrier the compiler would combine the pointers, which the kernel
 * forbids.
 */
static __always_inline bool gate__have_none(const void *storage, const void *other)
{
	if (storage)
		return false;
	asm volatile("" ::: "memory");
	return !other;
}

/* Calls the next program, if there is one. Slots that are empty by now are skipped. */
static __always_inline void gate__go_on(void *ctx, void *programs, __u32 event)
{
	struct gate_turn *turn = bpf_map_lookup_elem(&gate_turns, &event);

	for (int i = 0; turn && i < GATE_CALLS; i++) {
		__u32 n = turn->count;

		if (!n || n > GATE_CALLS)
			return;
		turn->count = n - 1;
		bpf_tail_call(ctx, programs, turn->slot[(n - 1) & (GATE_CALLS - 1)]);
	}
}

#endif
