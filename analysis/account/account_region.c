// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/account/account.h"

#include <string.h>

static bool is_wait(enum slot_state state)
{
	return state >= SLOT_BARRIER;
}

void account_region__begin(struct account_region *region, uint64_t now_ns)
{
	region->first = GRAIN_NONE;
	region->begin_ns = region->clock_ns = region->absent_since_ns = now_ns;
}

static void tick(struct account_region *region, uint64_t now_ns)
{
	if (region->ready)
		region->ready_ns += now_ns - region->clock_ns;
	else if (region->works)
		region->works_ns += now_ns - region->clock_ns;
	else if (region->off || (region->no_cpu && region->absent))
		region->off_ns += now_ns - region->clock_ns;
	region->clock_ns = now_ns;
}

void account_region__ready(struct account_region *region, int by, uint64_t now_ns)
{
	tick(region, now_ns);
	region->ready += (uint32_t)by;
}

void account_region__works(struct account_region *region, int by, uint64_t now_ns)
{
	tick(region, now_ns);
	region->works += (uint32_t)by;
}

void account_region__absent(struct account_region *region, int by, uint64_t now_ns)
{
	uint32_t no_cpu = region->no_cpu < region->absent ? region->no_cpu : region->absent;

	tick(region, now_ns);
	region->no_cpu_ns += no_cpu * (now_ns - region->absent_since_ns);
	region->absent_ns += (region->absent - no_cpu) * (now_ns - region->absent_since_ns);
	region->absent_since_ns = now_ns;
	region->absent += (uint32_t)by;
}

void account_region__no_cpu(struct account_region *region, uint32_t count, uint64_t now_ns)
{
	account_region__absent(region, 0, now_ns);
	region->no_cpu = count;
}

void account_region__had_no_cpu(struct account_region *region, uint64_t since_ns, uint64_t now_ns)
{
	uint64_t waited = now_ns - (since_ns > region->begin_ns ? since_ns : region->begin_ns);

	account_region__absent(region, 0, now_ns);
	if (waited > region->absent_ns)
		waited = region->absent_ns;
	region->absent_ns -= waited;
	region->no_cpu_ns += waited;
}

/* Adds the slot's time since its last change to its state. */
static void count(struct account_region *region, const struct account_slot *slot, uint64_t now_ns)
{
	uint64_t all = now_ns - slot->since_ns, ready, works, off;

	if (!is_wait(slot->state)) {
		region->time_ns[slot->state] += all;
		return;
	}
	tick(region, now_ns);
	ready = region->ready_ns - slot->ready_ns;
	works = region->works_ns - slot->works_ns;
	off = region->off_ns - slot->off_ns;
	region->time_ns[GRAIN_CAUSE_MANAGEMENT] += ready;
	if (slot->state == SLOT_TASKS) {
		region->time_ns[GRAIN_CAUSE_LACK_OF_WORK] += all - ready;
		return;
	}
	region->time_ns[GRAIN_CAUSE_IMBALANCE] += works;
	/* All members wait for a member that has no CPU. */
	region->time_ns[GRAIN_CAUSE_PREEMPTED] += off;
	region->time_ns[GRAIN_CAUSE_FORK_JOIN] += all - ready - works - off;
}

static void start(struct account_region *region, struct account_slot *slot, enum slot_state state,
		  uint64_t now_ns)
{
	slot->state = state;
	slot->since_ns = now_ns;
	if (!is_wait(state))
		return;
	tick(region, now_ns);
	slot->ready_ns = region->ready_ns;
	slot->works_ns = region->works_ns;
	slot->off_ns = region->off_ns;
}

static void count_off(struct account_region *region, enum slot_state from, enum slot_state to,
		      uint64_t now_ns)
{
	if ((from == SLOT_BARRIER_OFF) == (to == SLOT_BARRIER_OFF))
		return;
	tick(region, now_ns);
	region->off += to == SLOT_BARRIER_OFF ? 1 : -1U;
}

void account_region__change(struct account_region *region, struct account_slot *slot, enum slot_state state,
			    uint64_t now_ns)
{
	int by = is_wait(slot->state) - is_wait(state);

	count(region, slot, now_ns);
	if (by)
		account_region__works(region, by, now_ns);
	count_off(region, slot->state, state, now_ns);
	start(region, slot, state, now_ns);
}

void account_region__enter(struct account_region *region, struct account_slot *slots, uint32_t slot,
			   uint32_t index, enum slot_state state, uint64_t now_ns)
{
	struct account_slot *s = &slots[slot];

	s->region = index;
	s->previous = GRAIN_NONE;
	s->next = region->first;
	if (s->next != GRAIN_NONE)
		slots[s->next].previous = slot;
	region->first = slot;
	if (!is_wait(state))
		account_region__works(region, 1, now_ns);
	count_off(region, SLOT_BARRIER, state, now_ns);
	start(region, s, state, now_ns);
}

void account_region__leave(struct account_region *region, struct account_slot *slots, uint32_t slot,
			   uint64_t now_ns)
{
	struct account_slot *s = &slots[slot];

	count(region, s, now_ns);
	if (!is_wait(s->state))
		account_region__works(region, -1, now_ns);
	count_off(region, s->state, SLOT_BARRIER, now_ns);
	if (s->previous == GRAIN_NONE)
		region->first = s->next;
	else
		slots[s->previous].next = s->next;
	if (s->next != GRAIN_NONE)
		slots[s->next].previous = s->previous;
	s->region = GRAIN_NONE;
}

/*
 * Moves the cost of events to measuring. It takes the cost away from the causes that this time was counted
 * as.
 */
static void move_measuring(struct account_region *region)
{
	static const enum grain_cause waits[][2] = {{GRAIN_CAUSE_IMBALANCE, GRAIN_CAUSE_FORK_JOIN},
						    {GRAIN_CAUSE_IMBALANCE, GRAIN_CAUSE_PREEMPTED},
						    {GRAIN_CAUSE_LACK_OF_WORK, GRAIN_CAUSE_MANAGEMENT}};

	for (int i = 0; i < SLOT_STATES; i++) {
		uint64_t cost = region->measured_ns[i];

		for (int k = 0; k < (i < GRAIN_CAUSE_COUNT ? 1 : 2); k++) {
			int from = i < GRAIN_CAUSE_COUNT ? i : (int)waits[i - SLOT_BARRIER][k];
			uint64_t part = cost < region->time_ns[from] ? cost : region->time_ns[from];

			region->time_ns[from] -= part;
			region->time_ns[GRAIN_CAUSE_MEASURING] += part;
			cost -= part;
		}
		region->measured_ns[i] = 0;
	}
}

void account_region__settle(struct account_region *region, struct grain_account_part *part, uint64_t now_ns)
{
	account_region__absent(region, 0, now_ns);
	region->time_ns[GRAIN_CAUSE_FORK_JOIN] += region->absent_ns;
	region->time_ns[GRAIN_CAUSE_PREEMPTED] += region->no_cpu_ns;
	region->absent_ns = region->no_cpu_ns = 0;
	move_measuring(region);
	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++) {
		part->cause_ns[region->unknown ? GRAIN_CAUSE_UNKNOWN : i] += region->time_ns[i];
		part->capacity_ns += region->time_ns[i];
		region->time_ns[i] = 0;
	}
}
