// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/loop_match.h"
#include "uprobes/static_loops/match_shared.h"

#include <errno.h>

#define LEAVE_WINDOW 40 /* the most instructions after a loop among which one is probed */

static bool is_jump_of_loop(const struct match *m, uint32_t insn)
{
	for (size_t i = 0; i < m->found->count; i++)
		if (m->found->list[i].jump == insn && m->found->list[i].form != LOOP_SHARE)
			return true;
	return false;
}

/*
 * Whether the block is the head of a loop that does not contain `inner`, and so is reached again and again.
 */
static bool repeats_without(const struct match *m, uint32_t block, uint32_t inner)
{
	const struct loop_block *b = &m->code->blocks[block];

	for (uint32_t k = b->before; k < b->before_end; k++) {
		uint32_t from = m->code->before[k];

		if (m->code->blocks[from].order != BLOCK_NONE && loop_code__dominates(m->code, block, from) &&
		    !loop_code__dominates(m->code, block, inner))
			return true;
	}
	return false;
}

/*
 * Finds the instruction to probe where control goes on after the loop. The loop may also end by what
 * follows: a barrier, another loop, the end of the function.
 */
static void find_leave(const struct match *m, struct found_loop *loop, uint32_t meets)
{
	const struct loop_block *block;
	uint32_t i;

	loop->leave = INSN_NONE;
	if (meets == BLOCK_NONE)
		return;
	block = &m->code->blocks[meets];
	for (i = block->first; i < block->end && i < block->first + LEAVE_WINDOW; i++) {
		const struct code_insn *base = &m->code->insns[i].base;

		if (base->flow == FLOW_RETURN || base->flow == FLOW_STOP || is_jump_of_loop(m, i) ||
		    m->flow->callee[i] == CALLEE_BARRIER)
			return;
		if (base->emulated && !base->refused)
			break;
	}
	if (i == block->end || i == block->first + LEAVE_WINDOW)
		i = block->first;
	if (repeats_without(m, meets, loop_code__block_of(m->code, loop->jump)) ||
	    m->code->insns[i].base.refused)
		return;
	loop->leave = i;
}

static bool has_thread(const struct match *m, uint32_t value)
{
	const struct value *v;

	if (value == VALUE_NONE)
		return false;
	v = values__get(m->values, value);
	for (uint32_t i = 0; i < v->count * VALUE_DEGREE; i++) {
		uint32_t atom = v->terms[i / VALUE_DEGREE].atoms[i % VALUE_DEGREE];

		if (atom && values__atom_of(m->values, atom)->kind == ATOM_THREAD)
			return true;
	}
	return false;
}

/* Whether all paths from one block to an end of the function lead through another one. */
static bool all_lead_to(const struct match *m, uint32_t from, uint32_t to)
{
	for (uint32_t steps = 0; from != BLOCK_NONE && from != to && steps < m->code->block_count; steps++)
		from = m->code->blocks[from].meets;
	return from == to;
}

/*
 * Whether all threads of a team reach the jump if one of them does: no test of the thread's number decides
 * this. If the compiler knows something about that number, it makes separate code for some threads, and
 * only the others reach this code.
 */
static bool all_come(const struct match *m, uint32_t jump)
{
	uint32_t block = loop_code__block_of(m->code, jump), above = m->code->blocks[block].dominator,
		 below = block;
	struct match other = *m;

	for (; below != 0 && above != BLOCK_NONE; below = above, above = m->code->blocks[above].dominator) {
		const struct loop_block *b = &m->code->blocks[above];

		if (b->next_count < 2 || all_lead_to(m, above, below) || !match__look_at(&other, above) ||
		    (!has_thread(m, other.state.left) && !has_thread(m, other.state.right)))
			continue;
		for (uint32_t k = 0; k < b->next_count; k++)
			if (!match__leads_round(m, b->next[k], above, block))
				return false;
	}
	return true;
}

static bool is_whole(const struct match *m, const struct found_loop *loop)
{
	uint32_t block = loop_code__block_of(m->code, loop->passed);

	return all_come(m, loop->passed) &&
	       (loop->begin == BLOCK_NONE || !match__leads_round(m, 0, block, loop->begin));
}

/* Removes the loops that not all threads reach, or that some threads enter on another path. */
static void keep_whole(const struct match *m, struct found_loops *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct found_loop *loop = &found->list[i];

		if (loop->form == LOOP_SHARE || is_whole(m, loop)) {
			found->list[kept++] = *loop;
			continue;
		}
		found->unknown++;
		/* The loop that needs a share comes right after it. */
		if (kept && found->list[kept - 1].form == LOOP_SHARE)
			kept--;
	}
	found->count = kept;
}

/* Number of tests of T < r that belong to no loop that was found. */
static size_t unseen_tests(const struct match *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->less_count; i++) {
		bool seen = !m->less[i].unseen;

		for (size_t k = 0; k < m->found->count && !seen; k++) {
			const struct found_loop *loop = &m->found->list[k];

			seen = loop->form != LOOP_SHARE && loop->divides == m->less[i].quotient &&
			       all_lead_to(m, m->less[i].block, loop_code__block_of(m->code, loop->jump));
		}
		count += !seen;
	}
	return count;
}

static bool waits_in(const struct match *m, uint32_t block)
{
	for (uint32_t i = m->code->blocks[block].first; i < m->code->blocks[block].end; i++)
		if (m->flow->callee[i] == CALLEE_BARRIER)
			return true;
	return false;
}

static bool is_head(const struct match *m, uint32_t block)
{
	const struct loop_block *b = &m->code->blocks[block];

	for (uint32_t k = b->before; k < b->before_end; k++)
		if (m->code->blocks[m->code->before[k]].order != BLOCK_NONE &&
		    loop_code__dominates(m->code, block, m->code->before[k]))
			return true;
	return false;
}

/* Whether another loop follows behind the block, and the test need not be passed again before it. */
static bool loops_behind(const struct match *m, uint32_t block, uint32_t begin, uint32_t test)
{
	for (uint32_t i = 0; i < m->code->order_count; i++) {
		uint32_t b = m->code->order[i];

		if (b != block && is_head(m, b) && loop_code__dominates(m->code, begin, b) &&
		    match__leads_round(m, block, test, b))
			return true;
	}
	return false;
}

/*
 * Whether more is executed with the loop's share than is seen: a barrier, and another loop behind it, are
 * both executed only if the share is not empty.
 */
static bool is_first_of_several(const struct match *m, const struct found_loop *loop)
{
	uint32_t begin = match_blocks__begin(m, loop);

	if (begin == BLOCK_NONE || match__leads_round(m, 0, loop->test, begin))
		return false;
	for (size_t i = 0; i < m->found->count; i++)
		if (m->found->list[i].form == LOOP_ENTER && &m->found->list[i] != loop &&
		    m->found->list[i].passed == loop->passed)
			return false;
	for (uint32_t i = 0; i < m->code->order_count; i++) {
		uint32_t b = m->code->order[i];

		if (waits_in(m, b) && loop_code__dominates(m->code, begin, b) &&
		    loops_behind(m, b, begin, loop->test))
			return true;
	}
	return false;
}

static size_t unseen_others(const struct match *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->found->count; i++)
		count += is_first_of_several(m, &m->found->list[i]);
	return count;
}

struct unseen_shares {
	struct match m;
	uint32_t last; /* the share that was counted last */
	size_t count;
};

static bool count_share(void *data, uint32_t insn, const struct flow_state *state)
{
	struct unseen_shares *s = data;
	struct match *m = &s->m;
	uint32_t share = state->reg[m->code->arch->result];
	const struct atom *atom = match__is_atom(m, share, ATOM_QUOTIENT);

	if (insn == 0 || m->code->insns[insn - 1].lift.op != LIFT_DIVIDE || !atom || !atom->c ||
	    share == s->last || !match__is_atom(m, atom->b, ATOM_THREADS))
		return false;
	s->last = share;
	for (size_t i = 0; i < m->found->count; i++)
		if (m->found->list[i].divides == share)
			return false;
	s->count++;
	return false;
}

/* Number of shares of 8-bit or 16-bit numbers that no loop has. */
static size_t narrow_shares(const struct match *m)
{
	struct unseen_shares s = {.m = *m, .last = VALUE_NONE};

	for (uint32_t i = 0; i < m->code->order_count; i++)
		loop_flow__walk(m->flow, m->code->order[i], count_share, &s);
	return s.count;
}

int loop_match__find(struct loop_flow *flow, struct found_loops *found)
{
	struct match m = {.flow = flow, .values = flow->values, .code = flow->code, .found = found};

	found->count = found->unknown = 0;
	for (uint32_t i = 0; i < m.code->order_count; i++)
		if (match__look_at(&m, m.code->order[i]) &&
		    (!match_blocks__share(&m) || !match_blocks__range(&m) || !match_chunks__first(&m)))
			return -ENOMEM;
	match_same__add(&m);
	keep_whole(&m, found);
	found->unknown += unseen_tests(&m) + unseen_others(&m) + narrow_shares(&m);
	for (size_t i = 0; i < found->count; i++)
		if (found->list[i].form == LOOP_BLOCK || found->list[i].form == LOOP_STRIDE ||
		    found->list[i].form == LOOP_RANGE || found->list[i].form == LOOP_ENTER)
			find_leave(&m, &found->list[i], found->list[i].leave);
	return 0;
}
