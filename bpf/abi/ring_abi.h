/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the kernel-side producer writes and the daemon reads: one ring of fixed-size slots per CPU, in
 * mmap-able BPF array maps.
 *
 *   ring_ctl   one struct ring_ctl per CPU
 *   ring_slots slots_per_cpu (a power of two) struct ring_event per CPU;
 *              CPU c owns the slots [c * slots_per_cpu, (c + 1) * slots_per_cpu)
 *   node_slots in place of ring_slots if there are several NUMA nodes: one map per node, in its memory.
 *              CPU c owns slots_per_cpu slots of its node's map, from its first_slot on
 *
 * A producer claims position p = head++ of the CPU it runs on unless p - tail would exceed
 * slots_per_cpu - RING_MARGIN, fills the slot p % slots_per_cpu and stores seq = (uint32_t)(p + 1) last.
 * A consumer reads positions in order from tail, stops at the first whose seq is not p + 1 and then stores
 * the new tail. A seq beyond p + 1 means that the slot was overwritten: the consumer counts it as lost and
 * goes on.
 *
 * Programs on one CPU can preempt each other between claim and commit. So the times in a ring are nearly,
 * but not strictly, ascending. Readers order events by time_ns. An event that causes another one has the
 * smaller time.
 */
#ifndef GRAIND_RING_ABI_H
#define GRAIND_RING_ABI_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#define RING_U64 uint64_t
#define RING_S64 int64_t
#define RING_U32 uint32_t
#define RING_U8 uint8_t
#else
#define RING_U64 __u64
#define RING_S64 __s64
#define RING_U32 __u32
#define RING_U8 __u8
#endif

#define RING_ABI_VERSION 1

/* Slots kept free so that claims that race on one CPU never overrun tail. */
#define RING_MARGIN 256

/* Append only: a number is never used again. */
enum ring_kind {
	RING_NONE = 0,
	RING_TASK_CREATE = 1,	   /* key block, site call site, arg GOMP flags */
	RING_TASK_CREATE_END = 2,  /* - */
	RING_TASK_BEGIN = 3,	   /* key block, site body function */
	RING_TASK_END = 4,	   /* - */
	RING_UNDEFERRED_BEGIN = 5, /* key body function, site call site, arg flags */
	RING_UNDEFERRED_END = 6,   /* - */
	RING_REGION_BEGIN = 7,	   /* key body function, site call site, arg threads asked */
	RING_REGION_END = 8,	   /* - */
	RING_TEAM_START = 9,	   /* key team, arg threads got */
	RING_TEAM_STARTED =
		10, /* arg: the member that runs its body from here on: 0, or the next team; or TEAMS_OVER */
	RING_MEMBER_BEGIN = 11, /* key team, arg member number, site body function */
	RING_WAIT_BEGIN = 12,	/* arg enum ring_wait, site call site */
	RING_WAIT_END = 13,	/* arg enum ring_wait */
	RING_GROUP_BEGIN = 14,	/* site call site */
	RING_SINGLE = 15,	/* arg 1 when this thread won */
	RING_LOST = 16, /* arg: number of the thread's events that are missing here; RING_F_IN_PROGRAM: also
			   events with that flag */
	RING_CALIBRATE = 17, /* graind measures what an event costs */
	RING_DEPEND = 18,    /* key address, arg enum ring_depend; of the open creation or dependence wait */
	RING_TASK_BOUNDS = 19,	  /* key lower, extra upper; of the open creation or the task just begun */
	RING_TASKLOOP_BEGIN = 20, /* key body function, site call site, arg flags, extra ident */
	RING_TASKLOOP_END = 21,	  /* - */
	RING_TASK_FULFILL = 22,	  /* key task */
	RING_CANCEL = 23,	  /* arg enum ring_cancel; site call site */
	RING_LOOP_BEGIN = 24,	  /* key lower, extra upper, arg enum ring_loop, site call site */
	RING_LOOP_PARAMS = 25,	  /* key step, extra chunk size (0 unknown), site ident; follows LOOP_BEGIN */
	RING_CHUNK_NEXT = 26,	  /* asks for the next chunk: the open one is over */
	RING_CHUNK_BEGIN = 27,	  /* key lower, extra upper, arg enum ring_loop's UPPER_EXCLUSIVE or 0 */
	RING_CHUNK_STRIDE =
		28,	    /* key stride; follows CHUNK_BEGIN: static chunks that are not seen one by one */
	RING_LOOP_END = 29, /* no iterations are left for this thread, or it left the loop. Ends the open loop
			       of its innermost task or member; ignored if none is open there */
	RING_SECTIONS_BEGIN =
		30, /* arg number of sections | RING_SECTIONS_OF_REGION, site call site, extra ident */
	RING_SECTION_NEXT = 31,	 /* asks for the next section: the open one is over */
	RING_SECTION_BEGIN = 32, /* arg number from 0 */
	RING_SECTIONS_END = 33,	 /* no sections are left for this thread, or it left them */
	RING_SINGLE_END = 34,	 /* the thread that executes the single leaves it */
	RING_LOCK_WAIT = 35, /* recorded when the lock is got: key lock, extra time the wait began, arg enum
				ring_lock, site */
	RING_STATIC_SHARE = 36, /* site call site of omp_get_num_threads: maybe an inline static loop */
	RING_BODY = 37, /* for graind: key a body function that is new to its process, arg enum ring_body */
	RING_OFF_CPU = 38,  /* arg enum ring_off; frame is tgid << 32 | tid of the thread that runs instead,
			       key and extra are the 16 bytes of its command */
	RING_ON_CPU = 39,   /* key: since when it could have run; 0: since its RING_OFF_CPU. That event is
			       missing if the kernel did not report it */
	RING_COUNTERS = 40, /* comes before an event of the thread and has the counter values at that event:
			       frame, key and extra are three values, arg is RING_COUNTERS_ARG */
	RING_SAMPLE = 41, /* where the thread is: arg is the number of addresses, innermost first; key, frame
			     and extra are the first three */
	RING_SAMPLE_STACK = 42, /* belongs to the thread's latest RING_SAMPLE: key, frame and extra are its
				   addresses from number arg on */
	RING_ACCESS = 43,	/* the thread uses memory: key address */
	RING_KIND_MAX
};

/*
 * `first`: the number of the first of the three counters. `blind`: a bit for each counter that is partly
 * unknown since the thread's last reading. `kind`: the kind of the event that follows.
 */
#define RING_COUNTERS_ARG(first, blind, kind) ((first) | (blind) << 8 | (kind) << 16)
#define RING_COUNTERS_MAX 8 /* the most counters of a capture, and the most events in their sums */
#define RING_COUNTERS_EACH 3

#define RING_STACK_MAX 63 /* the most addresses of a sample */
#define RING_STACK_EACH 3

/* Where a count comes from: a perf event on each CPU, or a count that the kernel keeps for each thread. */
enum ring_counter_source {
	RING_COUNTER_PERF = 0,
	RING_COUNTER_CLOCK = 1, /* ns on a CPU */
	RING_COUNTER_FAULTS = 2,
	RING_COUNTER_MINOR_FAULTS = 3,
	RING_COUNTER_MAJOR_FAULTS = 4,
	RING_COUNTER_SWITCHES = 5,
	RING_COUNTER_MIGRATIONS = 6,
};

/* A counter is a sum of events. This is one of them: it is added or subtracted. */
struct ring_counter_term {
	RING_U32 counter;
	RING_U32 minus;
	RING_U32 source; /* enum ring_counter_source */
};

/* Why a thread left its CPU. */
enum ring_off {
	RING_OFF_PREEMPTED = 1,
	RING_OFF_BLOCKED = 2,
	RING_OFF_YIELDED = 3, /* sched_yield(), and another thread ran */
};

enum ring_wait {
	RING_WAIT_TASKWAIT = 1,
	RING_WAIT_TASKGROUP = 2,
	RING_WAIT_BARRIER = 3,	  /* an explicit barrier, or the implicit one of a worksharing construct */
	RING_WAIT_REGION_END = 4, /* the barrier that ends a parallel region */
	RING_WAIT_TASKWAIT_DEPEND = 5,	/* taskwait depend; dependences of an undeferred task */
	RING_WAIT_BARRIER_IMPLICIT = 6, /* a barrier that is known to end a worksharing construct */
	RING_WAIT_TASKYIELD = 7,
};

enum ring_depend {
	RING_DEPEND_IN = 1,
	RING_DEPEND_OUT = 2, /* also inout, if the runtime does not distinguish them */
	RING_DEPEND_INOUT = 3,
	RING_DEPEND_MUTEXINOUTSET = 4,
	RING_DEPEND_INOUTSET = 5,
	RING_DEPEND_ALL = 6,	  /* omp_all_memory */
	RING_DEPEND_UNREAD = 255, /* key: number of dependences that could not be read */
};

/*
 * Bits of arg of task creations, undeferred tasks and taskloops. The flags of all runtimes are translated
 * to these.
 */
enum ring_task {
	RING_TASK_UNTIED = 1 << 0,
	RING_TASK_FINAL = 1 << 1,
	RING_TASK_MERGEABLE = 1 << 2,
	RING_TASK_HAS_DEPEND = 1 << 3,
	RING_TASK_PRIORITY = 1 << 4,
	RING_TASK_DETACH = 1 << 5,
	RING_TASK_OF_TASKLOOP = 1 << 6,
	RING_TASK_SPLIT = 1 << 7,   /* made by the runtime itself to split a taskloop */
	RING_TASK_NOGROUP = 1 << 8, /* taskloop nogroup */
	RING_TASK_TARGET = 1 << 9,
	RING_TASK_BODY_KNOWN = 1 << 10, /* of a creation: extra is the body function, not ident */
	RING_TASK_ANY_THREAD = 1 << 11, /* also a thread outside the team: a helper, a free agent */
};

/* arg of TASK_BEGIN */
#define RING_BEGIN_DATA 1u /* key is the address of the body's data, inside of the task's block */

/* The construct whose body a function is. */
enum ring_body {
	RING_BODY_TASK = 1,
	RING_BODY_TASKLOOP = 2,
	RING_BODY_MEMBER = 3, /* of a parallel region */
	RING_BODY_OTHER = 4,  /* recorded in another way, or not at all */
};

enum ring_cancel {
	RING_CANCEL_PARALLEL = 1,
	RING_CANCEL_LOOP = 2,
	RING_CANCEL_SECTIONS = 4,
	RING_CANCEL_TASKGROUP = 8,
	RING_CANCEL_POINT = 16, /* at a cancellation point that finds the construct cancelled; not set: at the
				   cancel itself */
};

/* The low byte is the schedule. The other bits are flags. */
enum ring_loop {
	RING_LOOP_STATIC = 1,
	RING_LOOP_DYNAMIC = 2,
	RING_LOOP_GUIDED = 3,
	RING_LOOP_AUTO = 4,
	RING_LOOP_RUNTIME = 5, /* as OMP_SCHEDULE says */
	RING_LOOP_SCHEDULE = 0xff,
	RING_LOOP_ORDERED = 1 << 8,
	RING_LOOP_NONMONOTONIC = 1 << 9,
	RING_LOOP_DOACROSS = 1 << 10,
	RING_LOOP_UNSIGNED = 1 << 11, /* bounds are unsigned 64-bit numbers */
	RING_LOOP_OF_REGION =
		1 << 12, /* follows REGION_BEGIN: the loop of a combined construct, not yet begun */
	RING_LOOP_UPPER_EXCLUSIVE = 1 << 13,
	RING_LOOP_IS_SECTIONS = 1 << 14, /* clang's sections: a static loop over their numbers */
	RING_LOOP_BOUNDS_HIDDEN = 1 << 15,
	RING_LOOP_DISTRIBUTE = 1 << 16,
	RING_LOOP_IN_PROGRAM = 1 << 17, /* the compiler wrote it into the program: its end may not be seen */
	RING_LOOP_UPPER_UNKNOWN = 1 << 18,
};

#define RING_SECTIONS_OF_REGION (1u << 31)
/* Bits in arg of REGION_BEGIN. */
#define RING_REGION_TEAMS (1u << 31)	 /* a teams construct on the host */
#define RING_REGION_OUTERMOST (1u << 30) /* its thread is known to be in no other region */
#define RING_REGION_THREADS (RING_REGION_OUTERMOST - 1)
#define RING_TEAMS_OVER (1u << 31) /* arg of TEAM_STARTED: the league's last team has run its body */

enum ring_lock {
	RING_LOCK_CRITICAL = 1,
	RING_LOCK_ORDERED = 2,
	RING_LOCK_OMP = 3,
	RING_LOCK_DOACROSS = 4, /* ordered depend(sink) */
	RING_LOCK_ATOMIC = 5,
};

/* ring_event.flags */
#define RING_F_FAULT 1	    /* a user page could not be read: site, key or arg is 0 for that */
#define RING_F_IN_PROGRAM 2 /* from a probe in the program's own code; nothing else records such events */

struct ring_event {
	RING_U64 time_ns; /* CLOCK_MONOTONIC */
	RING_U64 frame;	  /* stack pointer; frames below it have ended */
	RING_U64 key;
	RING_U64 site;
	RING_U64 extra;
	RING_U32 tgid; /* in graind's PID namespace */
	RING_U32 tid;
	RING_U32 arg;
	RING_U8 kind; /* enum ring_kind */
	RING_U8 flags;
	RING_U8 reserved[2];
	RING_U32 reserved2;
	RING_U32 seq; /* written last */
};

/* Why events are lost or incomplete. Counted per CPU and per thread group. */
enum ring_loss {
	RING_LOSS_FULL = 0,    /* no free slot */
	RING_LOSS_FAULT = 1,   /* recorded, but a user page could not be read */
	RING_LOSS_STORAGE = 2, /* per-thread state could not be allocated */
	RING_LOSS_BODY = 3,    /* a body began whose construct was not seen before */
	RING_LOSS_SAMPLE = 4,  /* no free slot for a sample or the rest of its stack */
	RING_LOSS_ACCESS = 5,  /* no free slot for an access, or more accesses than a CPU may have */
	RING_LOSS_NOBODYS =
		6, /* losses of any cause that belong to no known process; also counted under their cause */
	RING_LOSS_MAX = 7
};

/* The losses of one thread group, except RING_LOSS_FAULT. */
struct ring_losses {
	RING_U64 loss[RING_LOSS_MAX];
};

struct ring_ctl {
	RING_U64 head; /* producers */
	RING_U64 loss[RING_LOSS_MAX];
	RING_U32 node;	     /* index into node_slots; graind sets it once */
	RING_U32 first_slot; /* its first slot in that map */
	RING_U64 passed;     /* number of hits without an event, which also cost time */
	RING_U64 asked;	     /* number of interrupts for samples, which also cost time */
	RING_U64 pad_producer[5];
	RING_U64 tail; /* consumer */
	RING_U64 pad_consumer[15];
};

_Static_assert(sizeof(struct ring_event) == 64, "one cache line a slot");
_Static_assert(__builtin_offsetof(struct ring_event, seq) == 60, "seq ends the slot");
_Static_assert(sizeof(struct ring_ctl) == 256, "producer and consumer lines apart");
_Static_assert(__builtin_offsetof(struct ring_ctl, tail) == 128, "producer and consumer lines apart");
_Static_assert(RING_KIND_MAX <= 255, "kind is a byte");

#endif
