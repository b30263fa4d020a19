/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The gate: one program for all context switches of the machine, however many captures there are. Most
 * threads are followed by no capture; the gate sees this at once. For the other threads it calls the
 * programs of the captures that follow them. A single capture is called for all threads, because it knows
 * its threads itself. The first capture loads the gate, which stays as long as there is any capture.
 */
#ifndef GRAIND_GATE_PROGRAMS_BPF_H
#define GRAIND_GATE_PROGRAMS_BPF_H

#include "bpf/gate.bpf.h"
#include "bpf/ids.bpf.h"
#include <bpf/bpf_tracing.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gate_state);
} gate_state SEC(".maps");

/* The captures that follow all threads of a process, by the process id in graind's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct gate_followers);
} gate_processes SEC(".maps");

static __always_inline const volatile struct gate_state *state_of_gate(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&gate_state, &key);
}

static __always_inline void call_one(struct gate_turn *turn, __u32 number)
{
	__u32 slot = GATE_SLOT(number), n = turn->count, *present;

	if (!number || n >= GATE_CALLS)
		return;
	present = bpf_map_lookup_elem(&gate_numbers, &slot);
	if (!present || *present != number)
		return;
	for (__u32 i = 0; i < GATE_CALLS; i++)
		if (i < n && turn->slot[i] == slot)
			return;
	turn->slot[n & (GATE_CALLS - 1)] = slot;
	turn->count = n + 1;
}

static __always_inline void call_all(struct gate_turn *turn, const struct gate_followers *followers)
{
	for (int i = 0; followers && i < GATE_EACH; i++)
		call_one(turn, followers->number[i]);
}

static __always_inline void look(struct gate_turn *turn, struct task_struct *task, const void *storage,
				 bool follows_processes)
{
	__u32 tgid;

	if (storage)
		call_all(turn, bpf_task_storage_get(&gate_followed, task, 0, 0));
	if (!follows_processes)
		return;
	tgid = ids__of(task) >> 32;
	call_all(turn, bpf_map_lookup_elem(&gate_processes, &tgid));
}

SEC("tp_btf/sched_switch")
int BPF_PROG(gate_of_switches, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	const volatile struct gate_state *gate = state_of_gate();
	/* Each pointer is read once: see gate__storage(). */
	const void *from = gate__storage(prev), *to = gate__storage(next);
	struct gate_turn *turn;
	__u32 event = GATE_SWITCH, sole;

	(void)preempt;
	if (!gate || (gate__have_none(from, to) && !gate->follows_processes))
		return 0;
	turn = bpf_map_lookup_elem(&gate_turns, &event);
	if (!turn)
		return 0;
	turn->count = 0;
	sole = gate->sole;
	if (sole) {
		bpf_tail_call(ctx, &gate_switch, sole - 1);
		return 0;
	}
	look(turn, prev, from, gate->follows_processes);
	look(turn, next, to, gate->follows_processes);
	gate__go_on(ctx, &gate_switch, GATE_SWITCH);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(gate_of_wakeups, struct task_struct *task)
{
	const volatile struct gate_state *gate;
	struct gate_turn *turn;
	__u32 event = GATE_WAKEUP, sole;

	if (!gate__storage(task))
		return 0;
	gate = state_of_gate();
	turn = bpf_map_lookup_elem(&gate_turns, &event);
	if (!gate || !turn)
		return 0;
	turn->count = 0;
	sole = gate->sole;
	if (sole) {
		bpf_tail_call(ctx, &gate_wakeup, sole - 1);
		return 0;
	}
	call_all(turn, bpf_task_storage_get(&gate_followed, task, 0, 0));
	gate__go_on(ctx, &gate_wakeup, GATE_WAKEUP);
	return 0;
}

#endif
