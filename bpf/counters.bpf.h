/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counters of one thread. The kernel keeps some of them for every thread; those are read from its task. The
 * others are perf events that count on each CPU whatever runs there. When the scheduler takes a thread off
 * its CPU, the CPU's count since the thread came is added to the thread's sums. An event of the thread adds
 * the count since then. Time on a CPU is added up in the same way.
 *
 * Programs at uprobes can be preempted, programs of the scheduler cannot. The scheduler's programs write
 * `total`, `base` and `turn`. The programs at uprobes read them again if `turn` has changed. `mark` and `sum`
 * belong to the thread's own events.
 *
 * Kernels do not report every switch: on virtual machines, switches from some threads are never seen. A
 * thread with an event is on a CPU, even if its switch was not seen. What it counted meanwhile is then
 * unknown.
 */
#ifndef GRAIND_COUNTERS_BPF_H
#define GRAIND_COUNTERS_BPF_H

#include "bpf/vmlinux.h"
#include "bpf/abi/ring_abi.h"
#include <bpf/bpf_helpers.h>

/* Event e of CPU c is at e * counter_cpus + c. Resized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} counter_events SEC(".maps");

/* Numbers of events and counters, perf events first; set before loading. */
const volatile __u32 counter_event_count = 0;
const volatile __u32 counter_perf_count = 0;
const volatile __u32 counter_count = 0;
const volatile __u32 counter_cpus = 1;

/* The counter that each event belongs to, and whether the event is added or subtracted. */
const volatile struct ring_counter_term counter_terms[RING_COUNTERS_MAX];

#define COUNTER_TRIES 8

/* Times in ns: enabled, and on the PMU. An event that does not count has enabled = COUNTER_UNREAD. */
#define COUNTER_UNREAD (~0ull)

struct thread_counts {
	struct bpf_perf_event_value scratch[3]; /* temporary data of counters__passed() */
	struct bpf_perf_event_value total[RING_COUNTERS_MAX], base[RING_COUNTERS_MAX];
	struct bpf_perf_event_value mark[RING_COUNTERS_MAX];
	__u64 sum[RING_COUNTERS_MAX];
	__u64 ran_ns;	/* time on CPUs until the thread was last taken off */
	__u64 on_ns;	/* since when it is on this CPU */
	__u32 turn;	/* incremented when the thread is taken off */
	__u32 counting; /* base is valid */
	__u32 missed;	/* a switch of the thread was missed since the last reading */
};

static __always_inline void counters__read(__u32 event, struct bpf_perf_event_value *out)
{
	__u32 index = event * counter_cpus + bpf_get_smp_processor_id();

	if (bpf_perf_event_read_value(&counter_events, index, out, sizeof(*out)))
		out->enabled = COUNTER_UNREAD;
}

/*
 * Adds what was counted from `base` to `now`. Time that is in `enabled` but not in `running` is time
 * without counting.
 */
static __always_inline void counters__add(struct bpf_perf_event_value *to,
					  const struct bpf_perf_event_value *base,
					  const struct bpf_perf_event_value *now)
{
	if (base->enabled == COUNTER_UNREAD || now->enabled == COUNTER_UNREAD) {
		to->enabled++;
		return;
	}
	to->counter += now->counter - base->counter;
	to->enabled += now->enabled - base->enabled;
	to->running += now->running - base->running;
}

/* Called when the thread leaves this CPU: adds up what was counted on it. */
static __always_inline void counters__leave(struct thread_counts *counts)
{
	struct bpf_perf_event_value now;

	for (__u32 i = 0; i < RING_COUNTERS_MAX && i < counter_perf_count && counts->counting; i++) {
		counters__read(i, &now);
		counters__add(&counts->total[i], &counts->base[i], &now);
	}
	counts->ran_ns += bpf_ktime_get_ns() - counts->on_ns;
	counts->turn++;
}

/* Called when the thread begins to run on this CPU. */
static __always_inline void counters__enter(struct thread_counts *counts)
{
	for (__u32 i = 0; i < RING_COUNTERS_MAX && i < counter_perf_count && counts->counting; i++)
		counters__read(i, &counts->base[i]);
	counts->on_ns = bpf_ktime_get_ns();
}

/* Reads one of the counts that the kernel keeps for each thread. */
static __always_inline __u64 counters__kept(const struct task_struct *task, __u32 source)
{
	switch (source) {
	case RING_COUNTER_FAULTS:
		return task->min_flt + task->maj_flt;
	case RING_COUNTER_MINOR_FAULTS:
		return task->min_flt;
	case RING_COUNTER_MAJOR_FAULTS:
		return task->maj_flt;
	case RING_COUNTER_SWITCHES:
		return task->nvcsw + task->nivcsw;
	case RING_COUNTER_MIGRATIONS:
		return task->se.nr_migrations;
	default:
		return 0;
	}
}

/* Called at the current thread's first event with counters: sets all of them to 0. */
static __noinline bool counters__begin(struct thread_counts *counts)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	if (!counts)
		return false;
	for (__u32 i = counter_perf_count; i < RING_COUNTERS_MAX && i < counter_event_count; i++)
		counts->mark[i].counter = counters__kept(task, counter_terms[i].source);
	for (int try = 0; try < COUNTER_TRIES; try++) {
		__u32 turn = *(volatile __u32 *)&counts->turn;

		for (__u32 i = 0; i < RING_COUNTERS_MAX && i < counter_perf_count; i++) {
			counts->total[i].counter = counts->total[i].enabled = counts->total[i].running = 0;
			counters__read(i, &counts->base[i]);
		}
		counts->ran_ns = 0;
		counts->on_ns = bpf_ktime_get_ns();
		barrier();
		*(volatile __u32 *)&counts->counting = 1;
		if (*(volatile __u32 *)&counts->turn == turn)
			return true;
		*(volatile __u32 *)&counts->counting = 0;
	}
	return false;
}

/*
 * Scales the count up for the time in which nothing was counted. False: nothing was counted at all. Times
 * must be below 2^63 ns.
 */
static __always_inline bool counters__scale(struct bpf_perf_event_value *passed)
{
	__u32 shift = passed->enabled >> 32 ? 20 : 0;
	__u64 enabled = passed->enabled >> shift, running = passed->running >> shift, d = passed->counter;

	if (passed->enabled == passed->running)
		return true;
	if (!running)
		return false;
	passed->counter = d / running * enabled + d % running * enabled / running;
	return true;
}

/* Computes what a perf event has counted since the last call. False: a part of it is unknown. */
static __always_inline bool counters__passed(struct thread_counts *counts, __u32 event, __u64 *out)
{
	/* These are not on the stack, because the callers leave no room there. */
	struct bpf_perf_event_value *total = &counts->scratch[0], *now = &counts->scratch[1],
				    *passed = &counts->scratch[2];
	__u32 turn, tries = 0;

	do {
		turn = *(volatile __u32 *)&counts->turn;
		barrier();
		*total = counts->total[event];
		counters__read(event, now);
		counters__add(total, &counts->base[event], now);
		barrier();
	} while (*(volatile __u32 *)&counts->turn != turn && ++tries < COUNTER_TRIES);
	passed->counter = total->counter - counts->mark[event].counter;
	passed->enabled = total->enabled - counts->mark[event].enabled;
	passed->running = total->running - counts->mark[event].running;
	counts->mark[event] = *total;
	if (!counters__scale(passed))
		tries = COUNTER_TRIES;
	*out = passed->counter;
	return tries < COUNTER_TRIES;
}

/* Computes the time that the thread has run so far. False: the time is not known. */
static __always_inline bool counters__clock(struct thread_counts *counts, __u64 *out)
{
	__u32 turn, tries = 0;

	do {
		turn = *(volatile __u32 *)&counts->turn;
		barrier();
		*out = *(volatile __u64 *)&counts->ran_ns + bpf_ktime_get_ns() -
		       *(volatile __u64 *)&counts->on_ns;
		barrier();
	} while (*(volatile __u32 *)&counts->turn != turn && ++tries < COUNTER_TRIES);
	return tries < COUNTER_TRIES;
}

/*
 * Updates the current thread's sum of one event. -1: a part since the last call is unknown. The verifier
 * checks a global function only once. If this were inlined into a loop, it would be checked for every
 * combination of states of all events.
 */
__noinline int counters__count(struct thread_counts *counts, __u32 event)
{
	__u32 i = event & (RING_COUNTERS_MAX - 1),
	      counter = counter_terms[i].counter & (RING_COUNTERS_MAX - 1), source = counter_terms[i].source;
	__u64 passed, now;
	bool known = true;

	if (!counts)
		return -1;
	if (source == RING_COUNTER_PERF) {
		known = counters__passed(counts, i, &passed);
	} else {
		if (source == RING_COUNTER_CLOCK)
			known = counters__clock(counts, &now);
		else
			now = counters__kept(bpf_get_current_task_btf(), source);
		passed = now - counts->mark[i].counter;
		counts->mark[i].counter = now;
	}
	counts->sum[counter] += counter_terms[i].minus ? -passed : passed;
	return known ? 0 : -1;
}

/* Updates all sums of the current thread. Returns a bit for each counter of which a part is unknown. */
static __always_inline __u32 counters__sum(struct thread_counts *counts)
{
	__u32 blind = 0, missed = counts->missed;

	counts->missed = 0;
	for (__u32 i = 0; i < RING_COUNTERS_MAX && i < counter_event_count; i++) {
		__u32 source = counter_terms[i].source,
		      unseen = missed && (source == RING_COUNTER_PERF || source == RING_COUNTER_CLOCK);

		if (counters__count(counts, i) || unseen)
			blind |= 1u << (counter_terms[i].counter & (RING_COUNTERS_MAX - 1));
	}
	return blind;
}

/* Whether a fragment may begin or end at an event of this kind. Counters are read only at such events. */
static __always_inline bool counters__wanted(__u32 kind)
{
	const __u64 not = 1ull << RING_LOST | 1ull << RING_DEPEND | 1ull << RING_TASK_BOUNDS |
			  1ull << RING_TASK_FULFILL | 1ull << RING_CANCEL | 1ull << RING_LOOP_PARAMS |
			  1ull << RING_CHUNK_STRIDE | 1ull << RING_LOCK_WAIT | 1ull << RING_BODY |
			  1ull << RING_OFF_CPU | 1ull << RING_ON_CPU | 1ull << RING_COUNTERS;

	return !(not >> (kind & 63) & 1);
}

#endif
