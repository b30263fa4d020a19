// SPDX-License-Identifier: BSD-2-Clause
/*
 * schedule(static): loops with the same share as an earlier loop. The compiler does not test that share
 * again. Such a loop is known by its number of iterations: the length of the share.
 */
#include "uprobes/static_loops/match_shared.h"

#define HEADS_MAX 16

/* Whether the value is the length of the share times `factor`. */
static bool is_lengths(const struct match *m, uint32_t value, uint32_t quotient, int64_t factor)
{
	uint32_t by = values__constant(m->values, factor),
		 short_one = values__multiply(m->values, quotient, by),
		 long_one = values__add(m->values, short_one, by, 1), list[2];

	if (value == VALUE_NONE || loop_flow__alternatives(m->flow, value, list, 2) != 2)
		return false;
	return (list[0] == short_one && list[1] == long_one) || (list[0] == long_one && list[1] == short_one);
}

/*
 * The jump leads back to the loop's head. Whether it does so until `difference` has gone down to 0 from its
 * value after the first iteration. The loop is then executed once more than `difference` goes down.
 */
static bool counts_share(const struct match *m, uint32_t head, uint32_t difference, uint32_t quotient)
{
	struct match_change changes[MATCH_VARIABLES];
	uint32_t count = difference == VALUE_NONE ? 0 : match__variables(m, difference, changes),
		 first = VALUE_NONE;
	int64_t step = 0;

	if (!count || values__atom_of(m->values, changes[0].atom)->a != head)
		return false;
	for (uint32_t k = m->code->blocks[head].before; k < m->code->blocks[head].before_end; k++) {
		uint32_t from = m->code->before[k], then;
		int64_t change;

		if (m->code->blocks[from].order == BLOCK_NONE)
			continue;
		for (uint32_t i = 0; i < count; i++)
			changes[i].by = loop_flow__at_end(m->flow, from,
							  values__atom_of(m->values, changes[i].atom)->b);
		then = match__substitute(m, difference, changes, count);
		if (then == VALUE_NONE)
			return false;
		if (!loop_code__dominates(m->code, head, from)) {
			if (first != VALUE_NONE && first != then)
				return false;
			first = then;
			continue;
		}
		if (!values__is_constant(m->values, values__add(m->values, then, difference, -1), &change) ||
		    change >= 0 || (step && change != step))
			return false;
		step = change;
	}
	return step && first != VALUE_NONE &&
	       is_lengths(m, values__add(m->values, first, values__constant(m->values, step), -1), quotient,
			  -step);
}

/* Whether the block is the head of a loop that is executed as often as the share is long. */
static bool is_body(const struct match *m, uint32_t head, uint32_t quotient)
{
	const struct loop_block *block = &m->code->blocks[head];
	struct match other = *m;

	for (uint32_t k = block->before; k < block->before_end; k++) {
		uint32_t from = m->code->before[k];

		if (m->code->blocks[from].order == BLOCK_NONE || !loop_code__dominates(m->code, head, from) ||
		    !match__look_at(&other, from) || !match__has_size_of(&other, quotient))
			continue;
		for (int turned = -1; turned <= 1; turned += 2)
			if (counts_share(m, head,
					 values__add(m->values,
						     turned < 0 ? other.state.right : other.state.left,
						     turned < 0 ? other.state.left : other.state.right, -1),
					 quotient))
				return true;
	}
	return false;
}

/* Whether the loop with this share is the last one before the block. */
static bool is_nearest(const struct match *m, const struct found_loop *loop, uint32_t block)
{
	uint32_t own = loop_code__block_of(m->code, loop->passed);

	if (!loop_code__dominates(m->code, own, block))
		return false;
	for (size_t i = 0; i < m->found->count; i++) {
		const struct found_loop *other = &m->found->list[i];
		uint32_t at = loop_code__block_of(m->code, other->passed);

		if (other == loop || other->form == LOOP_SHARE || other->divides != loop->divides ||
		    other->test == BLOCK_NONE)
			continue;
		/* One loop has several such jumps, and it is not known which of them was passed. */
		if (other->test == loop->test || (at != own && loop_code__dominates(m->code, own, at) &&
						  loop_code__dominates(m->code, at, block)))
			return false;
	}
	return true;
}

static bool add_others(struct match *m, struct found_loop *loop, const uint32_t *heads, uint32_t count)
{
	struct more_loops more = {.shared = loop->form == LOOP_ENTER ? loop->shared : loop->jump,
				  .site = loop->passed,
				  .teams = loop->teams};
	const struct loop_block *test = &m->code->blocks[loop->test];
	uint32_t own = loop_code__block_of(m->code, loop->passed);
	size_t before = m->found->count, index = (size_t)(loop - m->found->list);
	struct flow_state state;

	if (test->next_count != 2 || !loop_flow__before(m->flow, more.shared, &state))
		return false;
	more.sp = state.reg[CODE_REG_SP];
	more.begin = test->next[match__leads_round(m, test->next[0], own, heads[0]) ? 0 : 1];
	more.empty = test->next[more.begin == test->next[0]];
	if (match__leads_round(m, more.empty, own, heads[0]) || !match_more__others(m, &more, heads, count)) {
		m->found->count = before;
		return false;
	}
	m->found->list[index].keeps = true; /* the list may have moved */
	return true;
}

void match_same__add(struct match *m)
{
	size_t count = m->found->count;

	for (size_t f = 0; f < count; f++) {
		struct found_loop *loop = &m->found->list[f];
		uint32_t heads[HEADS_MAX], head_count = 0;

		if ((loop->form != LOOP_BLOCK && loop->form != LOOP_RANGE && loop->form != LOOP_ENTER) ||
		    loop->test == BLOCK_NONE || loop->divides == VALUE_NONE)
			continue;
		for (uint32_t i = 0; i < m->code->order_count && head_count < HEADS_MAX; i++) {
			uint32_t b = m->code->order[i];

			if (is_nearest(m, loop, b) && is_body(m, b, loop->divides) &&
			    !match_more__is_without_barrier(m, loop->test, b))
				heads[head_count++] = b;
		}
		if (head_count && !add_others(m, loop, heads, head_count))
			m->found->unknown += head_count;
	}
}
