// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loops that begin without a test of their own. If several loops have the same share, or one loop is
 * executed again and again, the compiler tests only once whether the share is empty. The share is kept at
 * that test.
 */
#include "uprobes/static_loops/match_shared.h"

#include <stdlib.h>

#define BEFORE_MAX 4

/* Marks the blocks that control can reach from those in `from` without passing a marked one. */
static bool mark_from(const struct match *m, const uint32_t *from, size_t from_count, uint8_t *marks)
{
	uint32_t *list = malloc(m->code->block_count * sizeof(*list)), count = 0;

	if (!list)
		return false;
	for (size_t i = 0; i < from_count; i++) {
		if (from[i] == BLOCK_NONE || marks[from[i]])
			continue;
		marks[from[i]] = 1;
		list[count++] = from[i];
	}
	while (count) {
		const struct loop_block *block = &m->code->blocks[list[--count]];

		for (uint32_t k = 0; k < block->next_count; k++) {
			if (marks[block->next[k]])
				continue;
			marks[block->next[k]] = 1;
			list[count++] = block->next[k];
		}
	}
	free(list);
	return true;
}

/* The instruction to probe in a block, behind its last call. A cheap one is preferred. */
static uint32_t pick(const struct match *m, uint32_t block)
{
	uint32_t found = INSN_NONE;

	for (uint32_t i = m->code->blocks[block].end; i-- > m->code->blocks[block].first;) {
		const struct code_insn *base = &m->code->insns[i].base;

		if (base->flow == FLOW_CALL)
			break;
		if (base->refused)
			continue;
		if (base->emulated)
			return i;
		if (found == INSN_NONE)
			found = i;
	}
	return found;
}

static bool add_enter(struct match *m, const struct more_loops *more, uint32_t insn, uint32_t site,
		      uint32_t leave)
{
	struct found_loop loop = {.form = LOOP_ENTER,
				  .jump = insn,
				  .site = site,
				  .passed = more->site,
				  .begin = BLOCK_NONE,
				  .shared = more->shared,
				  .teams = more->teams,
				  .test = BLOCK_NONE,
				  .divides = VALUE_NONE,
				  .leave = leave};
	struct flow_state state;

	return insn != INSN_NONE && loop_flow__before(m->flow, insn, &state) &&
	       state.reg[CODE_REG_SP] == more->sp && match__add_loop(m, &loop);
}

/*
 * The blocks from which control comes to the head of the loop. 0: they also lead elsewhere, or there are
 * too many.
 */
static uint32_t before_head(const struct match *m, uint32_t head, uint32_t *out)
{
	const struct loop_block *block = &m->code->blocks[head];
	uint32_t count = 0;

	for (uint32_t k = block->before; k < block->before_end; k++) {
		uint32_t from = m->code->before[k];

		if (m->code->blocks[from].order == BLOCK_NONE || loop_code__dominates(m->code, head, from))
			continue;
		if (count == BEFORE_MAX || m->code->blocks[from].next_count != 1)
			return 0;
		out[count++] = from;
	}
	return count;
}

bool match_more__again(struct match *m, const struct more_loops *more, uint32_t head)
{
	uint32_t before[BEFORE_MAX], count = before_head(m, head, before);

	if (!count || match__leads_round(m, more->empty, loop_code__block_of(m->code, more->site), head))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!add_enter(m, more, pick(m, before[i]), more->site, BLOCK_NONE))
			return false;
	return true;
}

/* ---- other loops with the same share ---------------------------------- */

static bool waits(const struct match *m, uint32_t block)
{
	for (uint32_t i = m->code->blocks[block].first; i < m->code->blocks[block].end; i++)
		if (m->flow->callee[i] == CALLEE_BARRIER)
			return true;
	return false;
}

bool match_more__is_without_barrier(const struct match *m, uint32_t from, uint32_t to)
{
	uint8_t *marks = calloc(m->code->block_count, 1);
	bool leads = true;

	for (uint32_t b = 0; marks && b < m->code->block_count; b++)
		marks[b] = b != to && waits(m, b);
	if (marks && !(from != to && marks[from])) {
		leads = mark_from(m, &from, 1, marks) ? marks[to] : true;
	} else if (marks) {
		leads = false;
	}
	free(marks);
	return leads;
}

/* The instruction at which threads with an empty share wait for the `number`th time (from 1). */
static uint32_t empty_wait(const struct match *m, uint32_t block, uint32_t number)
{
	while (block != BLOCK_NONE &&
	       m->code->blocks[block].before_end - m->code->blocks[block].before == 1) {
		for (uint32_t i = m->code->blocks[block].first; i < m->code->blocks[block].end; i++)
			if (m->flow->callee[i] == CALLEE_BARRIER && --number == 0)
				return m->code->insns[i].base.refused ? INSN_NONE : i;
		block = m->code->blocks[block].next_count == 1 ? m->code->blocks[block].next[0] : BLOCK_NONE;
	}
	return INSN_NONE;
}

bool match_more__others(struct match *m, const struct more_loops *more, const uint32_t *heads, uint32_t count)
{
	uint32_t last = more->begin;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t before[BEFORE_MAX],
			from = before_head(m, heads[i], before) == 1 ? before[0] : BLOCK_NONE,
			insn = from == BLOCK_NONE ? INSN_NONE : pick(m, from);

		/*
		 * A barrier is between the loops, so they are not parts of one loop that the compiler has
		 * divided.
		 */
		if (insn == INSN_NONE || (!waits(m, from) && match_more__is_without_barrier(m, last, from)) ||
		    !add_enter(m, more, insn, insn, match_more__behind(m, heads[i])) ||
		    !add_enter(m, more, empty_wait(m, more->empty, i + 1), insn, BLOCK_NONE))
			return false;
		last = heads[i];
	}
	return true;
}

uint32_t match_more__behind(const struct match *m, uint32_t head)
{
	uint32_t behind = m->code->blocks[head].meets, steps = 0;

	while (behind != BLOCK_NONE && loop_code__dominates(m->code, head, behind) && !waits(m, behind) &&
	       steps++ < m->code->block_count) {
		const struct loop_block *block = &m->code->blocks[head];
		bool inside = false;

		for (uint32_t k = block->before; k < block->before_end && !inside; k++) {
			uint32_t from = m->code->before[k];

			inside = loop_code__dominates(m->code, head, from) &&
				 match__leads_round(m, behind, head, from);
		}
		if (!inside)
			break;
		behind = m->code->blocks[behind].meets;
	}
	return behind;
}
