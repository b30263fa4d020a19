/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * When and why the scheduler takes threads off their CPUs, for whom, and when it
 * puts them back. A thread is followed from where its part in a region begins;
 * one that was in a region when the capture began, from one of its first events
 * on. Of all others no more is looked up than that they are not followed.
 */
#ifndef GRAIND_SCHED_BPF_H
#define GRAIND_SCHED_BPF_H

#include "bpf/registers.bpf.h"

#define TASK_DEAD 0x80

/* The end of a time slice and a call of sched_yield() look the same but for the system call. */
static __always_inline __u32 sched__reason(struct task_struct *task, bool preempt, unsigned int prev_state)
{
	if (prev_state)
		return RING_OFF_BLOCKED;
	if (preempt)
		return RING_OFF_PREEMPTED;
	return yields(task) ? RING_OFF_YIELDED : RING_OFF_PREEMPTED;
}

/*
 * NULL: the thread is not followed. Most threads have nothing of any BPF
 * program, which is known without a call.
 */
static __always_inline struct thread_state *sched__known(struct task_struct *task)
{
	return task->bpf_storage ? bpf_task_storage_get(&threads, task, 0, 0) : NULL;
}

/* Likewise; one that is to be followed from now on is. */
static __always_inline struct thread_state *sched__state(struct task_struct *task)
{
	struct thread_state *state = sched__known(task);
	__u32 tgid;

	if (state || !follow_targets)
		return state;
	tgid = ids__of(task) >> 32;
	if (!bpf_map_lookup_elem(&targets, &tgid))
		return NULL;
	return bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void sched__leave(struct task_struct *task, struct task_struct *next, bool preempt,
					 unsigned int prev_state)
{
	struct thread_state *state = sched__state(task);
	struct ring_record record = {.kind = RING_OFF_CPU};
	__u64 id;

	if (!state || prev_state & TASK_DEAD)
		return;
	id = ids__of(task);
	/* It gave events before it was known that nobody wants them. */
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

static __always_inline void sched__enter(struct task_struct *task)
{
	struct thread_state *state = sched__known(task);
	struct ring_record record = {.kind = RING_ON_CPU};

	if (!state)
		return;
	if (counter_count)
		counters__enter(&state->counts);
	/* The kernel has not told that it left: so must be known who reads this. */
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
	(void)ctx;
	if (!*(volatile __u32 *)&enabled)
		return 0;
	sched__leave(prev, next, preempt, prev_state);
	sched__enter(next);
	return 0;
}

/* From here on a thread that was blocked waits for a CPU. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	struct thread_state *state = sched__known(task);

	(void)ctx;
	if (state && state->off && !state->woken_ns)
		state->woken_ns = bpf_ktime_get_ns();
	return 0;
}

#endif
