/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the kernel-side producer writes and the daemon reads: one ring of
 * fixed-size slots per CPU, in two mmap-able BPF array maps.
 *
 *   ring_ctl   one struct ring_ctl per CPU
 *   ring_slots slots_per_cpu (a power of two) struct ring_event per CPU;
 *              CPU c owns the slots [c * slots_per_cpu, (c + 1) * slots_per_cpu)
 *
 * A producer claims position p = head++ of the CPU it runs on unless
 * p - tail would exceed slots_per_cpu - RING_MARGIN, fills the slot
 * p % slots_per_cpu and stores seq = (uint32_t)(p + 1) last. A consumer reads
 * positions in order from tail, stops at the first whose seq is not p + 1 and
 * then stores the new tail. A seq beyond p + 1 means that the slot was
 * overwritten: the consumer counts it as lost and goes on.
 *
 * Programs on one CPU can preempt each other between claim and commit; times
 * are therefore nearly, not strictly, ascending within a ring. Readers order
 * events by time_ns; an event that causes another has the smaller time.
 */
#ifndef GRAIND_RING_ABI_H
#define GRAIND_RING_ABI_H

#ifndef __VMLINUX_H__
#include <stdint.h>
#define RING_U64 uint64_t
#define RING_U32 uint32_t
#define RING_U8 uint8_t
#else
#define RING_U64 __u64
#define RING_U32 __u32
#define RING_U8 __u8
#endif

#define RING_ABI_VERSION 1

/* Slots kept free so that claims that race on one CPU never overrun tail. */
#define RING_MARGIN 256

/* Append only: numbers are never reused. */
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
	RING_TEAM_STARTED = 10,	   /* - (member 0 runs its body from here) */
	RING_MEMBER_BEGIN = 11,	   /* key team, arg member number, site body function */
	RING_WAIT_BEGIN = 12,	   /* arg enum ring_wait, site call site */
	RING_WAIT_END = 13,	   /* arg enum ring_wait */
	RING_GROUP_BEGIN = 14,	   /* site call site */
	RING_SINGLE = 15,	   /* arg 1 when this thread won */
	RING_LOST = 16,		   /* arg events of this thread missing before here */
	RING_CALIBRATE = 17,	   /* the daemon's own cost measurement */
	RING_KIND_MAX
};

enum ring_wait {
	RING_WAIT_TASKWAIT = 1,
	RING_WAIT_TASKGROUP = 2,
	RING_WAIT_BARRIER = 3,	  /* explicit, or implicit at the end of a worksharing construct */
	RING_WAIT_REGION_END = 4, /* the barrier that ends a parallel region */
};

/* ring_event.flags */
#define RING_F_FAULT 1 /* a user page could not be read: site, key or arg is 0 for that */

struct ring_event {
	RING_U64 time_ns; /* CLOCK_MONOTONIC */
	RING_U64 frame;	  /* stack pointer; closes frames whose end was not seen */
	RING_U64 key;
	RING_U64 site;
	RING_U64 spare;
	RING_U32 tgid; /* in the initial PID namespace */
	RING_U32 tid;
	RING_U32 arg;
	RING_U8 kind; /* enum ring_kind */
	RING_U8 flags;
	RING_U8 reserved[2];
	RING_U32 reserved2;
	RING_U32 seq; /* written last */
};

/* Causes by which an event may fail to be recorded, counted per CPU. */
enum ring_loss {
	RING_LOSS_FULL = 0,    /* no free slot */
	RING_LOSS_FAULT = 1,   /* recorded, but a user page could not be read */
	RING_LOSS_STORAGE = 2, /* per-thread state could not be allocated */
	RING_LOSS_MAX = 4
};

struct ring_ctl {
	RING_U64 head; /* producers */
	RING_U64 loss[RING_LOSS_MAX];
	RING_U64 pad_producer[11];
	RING_U64 tail; /* consumer */
	RING_U64 pad_consumer[15];
};

_Static_assert(sizeof(struct ring_event) == 64, "one cache line a slot");
_Static_assert(__builtin_offsetof(struct ring_event, seq) == 60, "seq ends the slot");
_Static_assert(sizeof(struct ring_ctl) == 256, "producer and consumer lines apart");
_Static_assert(__builtin_offsetof(struct ring_ctl, tail) == 128, "producer and consumer lines apart");
_Static_assert(RING_KIND_MAX <= 255, "kind is a byte");

#endif
