/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the account (grain_account.h) in one pass over the events, before the graph is built from them.
 *
 * A slot is a place for one thread. At each moment the program has one slot for each member of an open
 * region, and one for each thread outside of regions that is no worker. A thread that begins a region has its
 * slot in that region until the region ends. What the slot's thread does decides the cause of the slot's
 * time. A slot has no thread if its member has not begun or has ended; its time then counts as begin and end
 * of the region. The account has the same number of slots all the time: the largest number that the program
 * ever has. If the program has fewer slots at a moment, the time of the missing ones is lost to serial code
 * if no region is open, and to the small region if one is open.
 */
#ifndef GRAIND_ACCOUNT_H
#define GRAIND_ACCOUNT_H

#include "analysis/base/number_map.h"
#include "analysis/graph/graph.h"
#include "analysis/include/grain_account.h"

/* Fills graph->account. Returns 0, -ENOMEM or -E2BIG. If there can be no account, the account says why. */
int graph__account(struct grain_graph *graph);

/* ---- account_serial.c: serial code ---- */

struct account_sample {
	uint32_t stack; /* number of its stack in the stream */
	uint32_t gap;	/* index; GRAIN_NONE: there is no room for its gap */
};

struct account_serial {
	struct grain_serial public;
	struct grain_serial_function *functions;
	struct grain_serial_gap *gaps;
	size_t gap_capacity;
	struct number_map gap_of; /* by the definitions before and after */
	struct account_sample *samples;
	size_t sample_count, sample_capacity;
	size_t gap_first;      /* the first sample in the gap that is open */
	uint32_t before;       /* definition of the region that ended last; GRAIN_NONE: none */
	uint64_t gap_begin_ns; /* `passed_ns` when the gap began */
};

/*
 * `passed_ns` is the time that has passed so far while no parallel region was open. A gap begins after a
 * region, and ends before one.
 */
void account_serial__begin(struct account_serial *serial, uint32_t before, uint64_t passed_ns);
int account_serial__end(struct account_serial *serial, struct memory *memory, uint32_t after,
			uint64_t passed_ns);
/* Takes a sample of serial code. Returns 0, -ENOMEM or -E2BIG. */
int account_serial__sample(struct account_serial *serial, struct memory *memory, uint32_t stack);
/* Names the functions of the samples, once the graph has names for their addresses. Returns 0 or -ENOMEM. */
int graph__name_serial(struct grain_graph *graph);
void account_serial__free(struct account_serial *serial);

struct account {
	struct grain_account public;
	struct account_serial serial;
	struct grain_account_part
		*parts; /* the first one: outside of regions; the second one: regions without definition */
	size_t part_count, part_capacity;
};
void account__free(struct account *account); /* accepts NULL */

/*
 * account_off_cpu.c: the cause of time in which a thread has something to do and no CPU. `reason` is an
 * EVENT_REASON_*, `by` the number of the neighbour that has the CPU, 0: not known.
 */
enum grain_cause account__off_cpu(const struct event_stream *stream, uint8_t reason, uint32_t by);

/* account_result.c: sorts the parts, adds them up and computes the factors. */
void account__finish(struct account *account);

/* ---- account_region.c: slots, and what their threads do
 * ------------------------------------------------------- */

/* What a slot's thread does: a cause, or a wait. What other threads do decides the cause of a wait. */
enum slot_state {
	SLOT_BARRIER = GRAIN_CAUSE_COUNT, /* waits at a barrier */
	SLOT_BARRIER_OFF,		  /* waits at a barrier, could run and has no CPU */
	SLOT_TASKS,			  /* waits for tasks */
	SLOT_STATES
};

struct account_slot {
	uint32_t region;	 /* index in the list of open regions; GRAIN_NONE: its thread has no slot */
	uint32_t next, previous; /* slots of the same region */
	enum slot_state state;
	uint64_t since_ns;		     /* time when it entered this state */
	uint64_t ready_ns, works_ns, off_ns; /* values of the region's clocks at that time */
};

/* An open region. The first one stands for everything outside of regions. */
struct account_region {
	uint32_t id, part;
	uint32_t serial;  /* no other region has it; 0: the place is free */
	uint32_t first;	  /* slot; GRAIN_NONE: none */
	uint32_t members; /* number of slots of a parallel region */
	uint32_t absent;  /* number of slots whose thread has not begun or has ended */
	uint32_t works;	  /* number of slots that are in no wait, and of members whose thread is in a region
			     inside */
	uint32_t ready;	  /* number of tasks that can be begun */
	bool parallel;	  /* this region or a region around it has two or more members */
	bool unknown;	  /* events of the region are missing */
	uint64_t begin_ns;
	uint32_t off; /* number of slots in SLOT_BARRIER_OFF */
	/*
	 * Clocks: each counts the time while its condition holds. ready_ns: a task can be begun. works_ns: no
	 * task can, but a member works. off_ns: no member works, but one could go on and has no CPU.
	 */
	uint64_t ready_ns, works_ns, off_ns, clock_ns;
	uint32_t no_cpu; /* number of threads without a slot that could run and have no CPU: they may be
			    members of this region */
	uint64_t absent_ns, no_cpu_ns, absent_since_ns;
	uint64_t time_ns[GRAIN_CAUSE_COUNT];
	uint64_t measured_ns[SLOT_STATES]; /* per state: cost of the events of threads in it */
};

void account_region__begin(struct account_region *region, uint64_t now_ns);
/* `by`: 1 or -1; 0 only lets the clocks go on. */
void account_region__ready(struct account_region *region, int by, uint64_t now_ns);
void account_region__works(struct account_region *region, int by, uint64_t now_ns);
void account_region__absent(struct account_region *region, int by, uint64_t now_ns);
/* From now on, `count` threads without a slot have no CPU. */
void account_region__no_cpu(struct account_region *region, uint32_t count, uint64_t now_ns);
/* One of these threads had no CPU since `since_ns`. This is known only now. */
void account_region__had_no_cpu(struct account_region *region, uint64_t since_ns, uint64_t now_ns);
/* The slot enters the region, or leaves it. */
void account_region__enter(struct account_region *region, struct account_slot *slots, uint32_t slot,
			   uint32_t index, enum slot_state state, uint64_t now_ns);
void account_region__leave(struct account_region *region, struct account_slot *slots, uint32_t slot,
			   uint64_t now_ns);
void account_region__change(struct account_region *region, struct account_slot *slot, enum slot_state state,
			    uint64_t now_ns);
/* Adds the region's times to the part. */
void account_region__settle(struct account_region *region, struct grain_account_part *part, uint64_t now_ns);

#endif
