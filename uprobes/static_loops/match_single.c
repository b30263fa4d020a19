// SPDX-License-Identifier: BSD-2-Clause
/* schedule(static, 1): nothing limits its chunks, so it looks like a loop that people write. */
#include "uprobes/static_loops/match_shared.h"

#include <stdlib.h>

#define ASK_WINDOW 8 /* the most instructions between the two questions */

/* Whether the function asks for the number of threads and right after it for the thread's number. */
static bool asks_as_gcc_does(const struct match *m)
{
	enum flow_callee last = CALLEE_OTHER;
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->code->count; i++) {
		enum flow_callee is = (enum flow_callee)m->flow->callee[i];

		if (m->code->insns[i].base.flow != FLOW_CALL)
			continue;
		if ((last == CALLEE_THREADS && is == CALLEE_THREAD) ||
		    (last == CALLEE_TEAMS && is == CALLEE_TEAM))
			if (i - at <= ASK_WINDOW)
				return true;
		last = is;
		at = i;
	}
	return false;
}

/* Whether the block repeats an instruction that can fail, such as the addition of a reduction. */
static bool is_atomic(const struct match *m, const struct loop_block *block)
{
	for (uint32_t i = block->first; i < block->end; i++)
		if (m->code->arch->step == 1 && m->code->insns[i].base.id == X86_INS_CMPXCHG)
			return true;
	return false;
}

/* What a block does first: it calls the barrier; it makes another call or repeats; or neither. */
enum does { DOES_NOTHING, DOES_WAIT, DOES_OTHER };

static enum does first_deed(const struct match *m, uint32_t number)
{
	const struct loop_block *block = &m->code->blocks[number];

	for (uint32_t i = block->first; i < block->end; i++)
		if (m->flow->callee[i] == CALLEE_BARRIER)
			return DOES_WAIT;
		else if (m->code->insns[i].base.flow == FLOW_CALL)
			return DOES_OTHER;
	if (block->leaves || !block->next_count)
		return DOES_OTHER;
	for (uint32_t k = 0; k < block->next_count; k++)
		if (m->code->blocks[block->next[k]].order <= block->order &&
		    !is_atomic(m, &m->code->blocks[block->next[k]]))
			return DOES_OTHER;
	return DOES_NOTHING;
}

/*
 * Whether all paths from the block lead to one barrier, without a call or another loop before it. *barrier:
 * its block.
 */
static bool waits_after(const struct match *m, uint32_t from, uint32_t *barrier)
{
	uint32_t *list = malloc(m->code->block_count * sizeof(*list)), count = 0;
	uint8_t *seen = calloc(m->code->block_count, 1);
	bool waits = list && seen && from != BLOCK_NONE;

	*barrier = BLOCK_NONE;
	if (waits) {
		seen[from] = 1;
		list[count++] = from;
	}
	while (waits && count) {
		uint32_t at = list[--count];
		const struct loop_block *block = &m->code->blocks[at];
		enum does does = first_deed(m, at);

		waits = does == DOES_NOTHING ||
			(does == DOES_WAIT && (*barrier == BLOCK_NONE || *barrier == at));
		if (does == DOES_WAIT)
			*barrier = at;
		for (uint32_t k = 0; does == DOES_NOTHING && k < block->next_count; k++) {
			if (seen[block->next[k]])
				continue;
			seen[block->next[k]] = 1;
			list[count++] = block->next[k];
		}
	}
	free(list);
	free(seen);
	return waits && *barrier != BLOCK_NONE;
}

/* Whether the jump at the end of the block only asks whether there are iterations. */
static bool asks_for_iterations(const struct match *m, uint32_t block, uint32_t n)
{
	struct match other = *m;
	uint32_t difference, more, less;
	int64_t constant;

	if (!match__look_at(&other, block))
		return false;
	difference = values__add(m->values, other.state.left, other.state.right, -1);
	more = values__add(m->values, difference, n, 1);
	less = values__add(m->values, difference, n, -1);
	return values__is_constant(m->values, difference, &constant) ||
	       values__is_constant(m->values, more, &constant) ||
	       values__is_constant(m->values, less, &constant);
}

/*
 * Whether all threads of the team reach the loop and wait for each other after it. Then the compiler has
 * made it, or it is equal to such a loop. Before the loop, there may only be the question whether it has
 * iterations.
 */
static bool is_of_all(const struct match *m, uint32_t n)
{
	uint32_t barrier, block = m->block;

	if (!waits_after(m, m->code->blocks[m->block].meets, &barrier))
		return false;
	while (!loop_code__dominates(m->code, block, barrier)) {
		uint32_t before = m->code->blocks[block].dominator;

		if (before == block || before == BLOCK_NONE)
			return false;
		block = before;
		if (m->code->blocks[block].next_count > 1 && !asks_for_iterations(m, block, n))
			return false;
	}
	return true;
}

bool match_single__is_of_compiler(const struct match *m, uint32_t n)
{
	return asks_as_gcc_does(m) || is_of_all(m, n);
}
