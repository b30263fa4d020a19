/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counters of one thread. Some the kernel keeps for every thread: they are read
 * where it has them. The others are perf events that count on each CPU whatever
 * runs there: what a CPU counted while the thread was on it is added up when the
 * scheduler takes it off; at an event of the thread what has come since is added.
 * The time on a CPU is added up likewise.
 *
 * Programs at uprobes can be preempted, those of the scheduler cannot: `total`,
 * `base` and `turn` are written by the latter, and the former look again when
 * `turn` has changed. `mark` and `sum` belong to the thread's own events.
 *
 * Kernels do not show every switch: those from some threads were never seen on
 * virtual machines. A thread that gives events is on a CPU, whatever was seen;
 * what it counted meanwhile is unknown then.
 */
#ifndef GRAIND_COUNTERS_BPF_H
#define GRAIND_COUNTERS_BPF_H

#include "bpf/vmlinux.h"
#include "bpf/ring_abi.h"
#include <bpf/bpf_helpers.h>

/* Event e of CPU c is at e * counter_cpus + c. Resized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} counter_events SEC(".maps");

/* How many of each there are, perf events first; set before loading. */
const volatile __u32 counter_event_count = 0;
const volatile __u32 counter_perf_count = 0;
const volatile __u32 counter_count = 0;
const volatile __u32 counter_cpus = 1;

/* A counter is a sum of events: to which one each belongs, and whether it is taken off there. */
const volatile struct ring_counter_term counter_terms[RING_COUNTERS_MAX];

#define COUNTER_TRIES 8

/* Time is in ns: enabled, and of that on the PMU. An event that does not count has enabled = UNREAD. */
#define COUNTER_UNREAD (~0ull)

struct thread_counts {
	struct bpf_perf_event_value scratch[3]; /* of counters__passed */
	struct bpf_perf_event_value total[RING_COUNTERS_MAX], base[RING_COUNTERS_MAX];
	struct bpf_perf_event_value mark[RING_COUNTERS_MAX];
	__u64 sum[RING_COUNTERS_MAX];
	__u64 ran_ns;	/* on CPUs, until the scheduler last took the thread off */
	__u64 on_ns;	/* since when it is on this one */
	__u32 turn;	/* grows when the scheduler takes the thread off */
	__u32 counting; /* base is valid */
	__u32 missed;	/* the scheduler took the thread off or put it back unseen since the last reading */
};

static __always_inline void counters__read(__u32 event, struct bpf_perf_event_value *out)
{
	__u32 index = event * counter_cpus + bpf_get_smp_processor_id();

	if (bpf_perf_event_read_value(&counter_events, index, out, sizeof(*out)))
		out->enabled = COUNTER_UNREAD;
}

/* What came from base to now; time that nothing counted in is time enabled but not running. */
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

/* The scheduler takes the thread off this CPU. */
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

/* It puts the thread onto this CPU. */
static __always_inline void counters__enter(struct thread_counts *counts)
{
	for (__u32 i = 0; i < RING_COUNTERS_MAX && i < counter_perf_count && counts->counting; i++)
		counters__read(i, &counts->base[i]);
	counts->on_ns = bpf_ktime_get_ns();
}

/* What the kernel has counted of a thread in its life. */
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

/* The first event that is counted of the thread that runs: everything is 0 there. */
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
 * What was counted in `passed`, scaled to the time in which nothing counted;
 * false: it was counted too little to tell. Times are below 2^63 ns.
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

/* Of a perf event: what came since the last call; false when a part of that is unknown. */
static __always_inline bool counters__passed(struct thread_counts *counts, __u32 event, __u64 *out)
{
	/* Not on the stack, of which callers have used most. */
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

/* The time on CPUs so far; false when it cannot be told. */
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
 * Brings the counter of event `event` of the thread that runs up to now; -1:
 * unknown, as is what was not counted since the last call. A global function:
 * as part of a loop the verifier would follow what is known of each event
 * together with what is known of all others.
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

/*
 * Brings the sums of the thread that runs up to now. The result has a bit for
 * each counter of which a part since the last call was not counted.
 */
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

/* The kinds of events at which a fragment may begin or end. */
static __always_inline bool counters__wanted(__u32 kind)
{
	const __u64 not = 1ull << RING_LOST | 1ull << RING_DEPEND | 1ull << RING_TASK_BOUNDS |
			  1ull << RING_TASK_FULFILL | 1ull << RING_CANCEL | 1ull << RING_LOOP_PARAMS |
			  1ull << RING_CHUNK_STRIDE | 1ull << RING_LOCK_WAIT | 1ull << RING_BODY |
			  1ull << RING_OFF_CPU | 1ull << RING_ON_CPU | 1ull << RING_COUNTERS;

	return !(not >> (kind & 63) & 1);
}

#endif
