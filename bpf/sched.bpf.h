/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records when and why the scheduler takes threads off their CPUs, who runs instead, and when it puts them
 * back. A thread is followed from the begin of its part in a region. A thread that was in a region when the
 * capture began is followed from one of its first events on. For all other threads only one check is made.
 */
#ifndef GRAIND_SCHED_BPF_H
#define GRAIND_SCHED_BPF_H

#include "bpf/registers.bpf.h"

#define TASK_DEAD 0x80

/* The end of a time slice and sched_yield() differ only by the system call. */
static __always_inline __u32 sched__reason(struct task_struct *task, bool preempt, unsigned int prev_state)
{
	if (prev_state)
		return RING_OFF_BLOCKED;
	if (preempt)
		return RING_OFF_PREEMPTED;
	return yields(task) ? RING_OFF_YIELDED : RING_OFF_PREEMPTED;
}

/* The thread's state; NULL: it is not followed. `storage` is the thread's gate__storage(). */
static __always_inline struct thread_state *sched__known(struct task_struct *task, const void *storage)
{
	return storage ? bpf_task_storage_get(&threads, task, 0, 0) : NULL;
}

/* Like sched__known(), but begins to follow a thread that must be followed from now on. */
static __always_inline struct thread_state *sched__state(struct task_struct *task, const void *storage)
{
	struct thread_state *state = sched__known(task, storage);
	__u32 tgid;

	if (state || !follow_targets)
		return state;
	tgid = ids__of(task) >> 32;
	if (!bpf_map_lookup_elem(&targets, &tgid))
		return NULL;
	return bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void sched__leave(struct task_struct *task, const void *storage,
					 struct task_struct *next, bool preempt, unsigned int prev_state)
{
	struct thread_state *state = sched__state(task, storage);
	struct ring_record record = {.kind = RING_OFF_CPU};
	__u64 id;

	if (!state || prev_state & TASK_DEAD)
		return;
	id = ids__of(task);
	/* The thread had events before its process was refused. */
	if (is_refused(id >> 32)) {
		bpf_task_storage_delete(&threads, task);
		return;
	}
	if (state->off)
		state->counts.missed = 1;
	else if (counter_count)
		counters__leave(&state->counts);
	record.arg = sched__reason(task, preempt, prev_state);
	record.frame = ids__of(next);
	bpf_probe_read_kernel(&record.key, sizeof(record.key), next->comm);
	bpf_probe_read_kernel(&record.extra, sizeof(record.extra), next->comm + sizeof(record.key));
	state->off = 1;
	state->woken_ns = 0;
	ring__emit_of(state, id, &record);
}

static __always_inline void sched__enter(struct task_struct *task, const void *storage)
{
	struct thread_state *state = sched__known(task, storage);
	struct ring_record record = {.kind = RING_ON_CPU};

	if (!state)
		return;
	if (counter_count)
		counters__enter(&state->counts);
	/* The kernel did not report that the thread left its CPU. Readers must know that. */
	if (!state->off)
		state->counts.missed = 1;
	else
		record.key = state->woken_ns;
	state->off = 0;
	ring__emit_of(state, ids__of(task), &record);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	const void *from = gate__storage(prev), *to = gate__storage(next);

	if (*(volatile __u32 *)&enabled) {
		sched__leave(prev, from, next, preempt, prev_state);
		sched__enter(next, to);
	}
	if (gate_number)
		gate__go_on(ctx, &gate_switch, GATE_SWITCH);
	return 0;
}

/* From here on a thread that was blocked waits for a CPU. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	struct thread_state *state = sched__known(task, gate__storage(task));

	if (state && state->off && !state->woken_ns)
		state->woken_ns = bpf_ktime_get_ns();
	if (gate_number)
		gate__go_on(ctx, &gate_wakeup, GATE_WAKEUP);
	return 0;
}

#endif
