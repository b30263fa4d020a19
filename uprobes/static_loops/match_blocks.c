// SPDX-License-Identifier: BSD-2-Clause
/* schedule(static): each thread has one share of the iterations. */
#include "uprobes/static_loops/match_shared.h"

#define SAME_MAX 8	 /* the most jumps of one loop that test T < r */
#define TEST_WINDOW 1024 /* the most blocks between the test of T < r and the one that compares s with e */

/* The number of iterations that is divided if it is a constant, else -1. */
static int64_t constant_count(const struct match *m, uint32_t quotient)
{
	const struct atom *atom = match__is_atom(m, quotient, ATOM_QUOTIENT);
	int64_t count;

	return atom && values__is_constant(m->values, atom->a, &count) && count >= 0 ? count : -1;
}

/*
 * Whether the value can only be 1 / N, or that plus one. The compiler decides without a division that this
 * is 0, or 1 or N if N is 1.
 */
static bool is_length_of_one(const struct match *m, uint32_t value, uint32_t quotient)
{
	uint32_t threads = values__is_atom(m->values, quotient)->b,
		 longer = values__add(m->values, threads, values__constant(m->values, 1), 1), list[4],
		 count = loop_flow__alternatives(m->flow, value, list, 4);
	int64_t constant;

	for (uint32_t i = 0; i < count; i++)
		if (list[i] != threads && list[i] != longer &&
		    (!values__is_constant(m->values, list[i], &constant) || constant < 0 || constant > 2))
			return false;
	return count > 0;
}

/* Whether e - s can only be q or q + 1. */
static bool is_length(const struct match *m, uint32_t value, uint32_t quotient)
{
	uint32_t longer = values__add(m->values, quotient, values__constant(m->values, 1), 1), list[2], count;

	if (value == VALUE_NONE)
		return false;
	if (constant_count(m, quotient) == 1 && is_length_of_one(m, value, quotient))
		return true;
	count = loop_flow__alternatives(m->flow, value, list, 2);
	for (uint32_t i = 0; i < count; i++)
		if (list[i] != quotient && list[i] != longer)
			return false;
	return count > 0;
}

static bool is_length_between(const struct match *m, uint32_t low, uint32_t high, uint32_t quotient)
{
	return is_length(m, values__add(m->values, high, low, -1), quotient);
}

/*
 * Whether the jump at the end of the block tests whether the share is empty. The loop's own test counts,
 * too: its variable is s at first.
 */
static bool tests_share(struct match *m, uint32_t block, uint32_t quotient)
{
	uint32_t left, right;
	int64_t constant;

	if (!match__look_at(m, block) || !match__has_size_of(m, quotient))
		return false;
	left = match__before_loop(m, m->state.left);
	right = match__before_loop(m, m->state.right);
	if (is_length_between(m, m->state.left, m->state.right, quotient) ||
	    is_length_between(m, m->state.right, m->state.left, quotient) ||
	    is_length_between(m, left, m->state.right, quotient) ||
	    is_length_between(m, right, m->state.left, quotient) ||
	    is_length_between(m, left, right, quotient) || is_length_between(m, right, left, quotient))
		return true;
	return values__is_constant(m->values, m->state.right, &constant) && constant == 0 &&
	       is_length(m, m->state.left, quotient);
}

/* The block that tests whether the share is empty. It comes soon after the block that tests T < r. */
static uint32_t find_test(const struct match *m, uint32_t block, uint32_t quotient)
{
	struct match other = *m;
	uint32_t looked_at = 0;

	for (uint32_t i = m->code->blocks[block].order + 1; i < m->code->order_count; i++) {
		uint32_t b = m->code->order[i];

		if (!loop_code__dominates(m->code, block, b))
			continue;
		if (tests_share(&other, b, quotient))
			return b;
		if (++looked_at == TEST_WINDOW)
			break;
	}
	return BLOCK_NONE;
}

static bool is_less_test(const struct match *m, uint32_t *thread, uint32_t *rest, bool *teams,
			 uint32_t *quotient)
{
	const struct atom *t;

	for (int turned = 0; turned < 2; turned++) {
		*thread = turned ? m->state.right : m->state.left;
		*rest = turned ? m->state.left : m->state.right;
		t = match__is_atom(m, *thread, ATOM_THREAD);
		if (!t || (turned ? match__greater_when_taken(m) : match__less_when_taken(m)) < 0)
			continue;
		*teams = t->a;
		if (match__is_rest(m, *rest, *teams, quotient) && match__has_size_of(m, *quotient))
			return true;
	}
	return false;
}

/* The blocks that the test of T < r leads to if it is true, or if it is false. */
static uint32_t way_if(const struct match *m, bool less, uint32_t thread)
{
	bool turned = m->state.left != thread;
	int taken = turned ? match__greater_when_taken(m) : match__less_when_taken(m);

	return match__successor(m, m->block, (taken == 1) == less);
}

/*
 * The jumps that test the same T < r for the same loop. If the test is executed again and again, the
 * compiler may make several jumps of it.
 */
struct same_tests {
	uint32_t blocks[SAME_MAX], count;
	uint32_t test; /* the block that tests whether the share is empty; BLOCK_NONE: it was not found */
};

static bool find_same(const struct match *m, uint32_t thread, uint32_t quotient, struct same_tests *out)
{
	uint32_t less = way_if(m, true, thread), other = way_if(m, false, thread);
	struct match at = *m;

	*out = (struct same_tests){.test = BLOCK_NONE};
	for (uint32_t i = 0; i < m->code->order_count; i++) {
		uint32_t t, rest, q;
		bool teams;

		if (!match__look_at(&at, m->code->order[i]) || !is_less_test(&at, &t, &rest, &teams, &q) ||
		    q != quotient || t != thread || way_if(&at, true, t) != less ||
		    way_if(&at, false, t) != other)
			continue;
		if (out->count == SAME_MAX)
			return false;
		out->blocks[out->count++] = at.block;
		if (out->test == BLOCK_NONE)
			out->test = find_test(m, at.block, quotient);
	}
	return out->test != BLOCK_NONE && !match__leads_round_all(m, m->code->blocks[out->test].meets,
								  out->blocks, out->count, out->test);
}

bool match_blocks__share(struct match *m)
{
	uint32_t thread, rest, quotient, test;
	struct same_tests same;
	struct found_loop loop = {.form = LOOP_BLOCK,
				  .jump = m->jump,
				  .passed = m->jump,
				  .begin = BLOCK_NONE,
				  .leave = INSN_NONE};

	if (!is_less_test(m, &thread, &rest, &loop.teams, &quotient))
		return true;
	if (m->less_count == LESS_MAX)
		return true;
	m->less[m->less_count].block = m->block;
	m->less[m->less_count++].quotient = quotient;
	test = find_test(m, m->block, quotient);
	match__place_of(m, values__atom(m->values, ATOM_THREADS, loop.teams, 0, 0), &loop.threads);
	loop.count = constant_count(m, quotient);
	if (!match__place_of(m, quotient, &loop.quotient) || !match__place_of(m, rest, &loop.rest))
		loop.quotient.in = FOUND_NOWHERE;
	if (test == BLOCK_NONE || match__leads_round(m, m->code->blocks[test].meets, m->block, test)) {
		if (find_same(m, thread, quotient, &same))
			test = same.test;
		else if (test != BLOCK_NONE)
			return true; /* the loop is seen at the test of s < e */
	}
	if ((loop.quotient.in == FOUND_NOWHERE && (loop.count < 0 || loop.threads.in == FOUND_NOWHERE)) ||
	    !match__place_of(m, thread, &loop.thread) || test == BLOCK_NONE) {
		m->less[m->less_count - 1].unseen = true;
		return true;
	}
	loop.wide = m->state.size == 8;
	loop.test = test;
	loop.divides = quotient;
	/* Blocks that only threads with a longer share pass meet the others at the test. */
	loop.leave = m->code->blocks[test].meets; /* this is a block until all loops are known */
	return match__add_loop(m, &loop);
}

/* Whether the block tests s < e of a loop that was already found, and is not behind that loop's end. */
static bool is_known_test(const struct match *m, uint32_t block, uint32_t quotient)
{
	for (size_t i = 0; i < m->found->count; i++) {
		const struct found_loop *loop = &m->found->list[i];
		uint32_t begin = loop_code__block_of(m->code, loop->jump);

		if (loop->form != LOOP_BLOCK && loop->form != LOOP_RANGE && loop->form != LOOP_ENTER)
			continue;
		if (loop->test == block)
			return true;
		if (loop->divides == quotient && loop_code__dominates(m->code, begin, block) &&
		    !match__leads_round(m, m->code->blocks[loop->test].meets, begin, block))
			return true;
	}
	return false;
}

/*
 * Whether only threads with T < r reach this block, or only the others. The compiler then has separate code
 * for each group.
 */
static bool is_of_some(const struct match *m, uint32_t block, uint32_t quotient)
{
	for (size_t i = 0; i < m->less_count; i++) {
		uint32_t less = m->less[i].block;

		if (m->less[i].quotient != quotient || !loop_code__dominates(m->code, less, block))
			continue;
		for (int taken = 0; taken < 2; taken++) {
			uint32_t way = match__successor(m, less, taken),
				 other = match__successor(m, less, !taken);

			if (way != BLOCK_NONE && loop_code__dominates(m->code, way, block) &&
			    !match__leads_round(m, other, less, way))
				return true;
		}
	}
	return false;
}

/* Whether the value can only be the quotient of a division by the number of threads, or that plus one. */
static bool is_share(const struct match *m, uint32_t value, uint32_t *quotient, bool *teams)
{
	uint32_t list[2], count = loop_flow__alternatives(m->flow, value, list, 2);

	for (uint32_t i = 0; i < count; i++) {
		const struct atom *atom = match__is_atom(m, list[i], ATOM_QUOTIENT), *threads;

		threads = atom ? match__is_atom(m, atom->b, ATOM_THREADS) : NULL;
		if (!threads)
			continue;
		*teams = threads->a;
		*quotient = list[i];
		/* If it is only one of them, the compiler has separate code for some of the threads. */
		return count == 2 && is_length(m, value, list[i]);
	}
	return false;
}

/* Whether the value can only be the remainder of the division, or 0. */
static bool is_rest_or_zero(const struct match *m, uint32_t value, bool teams, uint32_t quotient)
{
	uint32_t list[2], count = loop_flow__alternatives(m->flow, value, list, 2), of;
	int64_t constant;

	for (uint32_t i = 0; i < count; i++)
		if (!(values__is_constant(m->values, list[i], &constant) && constant == 0) &&
		    !(match__is_rest(m, list[i], teams, &of) && of == quotient))
			return false;
	return count == 2;
}

/* Whether the jump compares the share's first iteration with its end. These become *first and *end. */
static bool compares_bounds(struct match *m, struct found_loop *loop, uint32_t *quotient, uint32_t *first,
			    uint32_t *end)
{
	for (int turned = 0; turned < 2; turned++) {
		int below = turned ? match__greater_when_taken(m) : match__less_when_taken(m);
		uint32_t length, before;

		*first = turned ? m->state.right : m->state.left;
		*end = turned ? m->state.left : m->state.right;
		length = values__add(m->values, *end, *first, -1);
		if (below < 0 || !is_share(m, length, quotient, &loop->teams))
			continue;
		before = values__multiply(m->values, length,
					  values__atom(m->values, ATOM_THREAD, loop->teams, 0, 0));
		if (!is_rest_or_zero(m, values__add(m->values, *first, before, -1), loop->teams, *quotient))
			continue;
		loop->enters_taken = below == 1;
		return true;
	}
	return false;
}

/* Whether the jump compares the share's length with 0. */
static bool compares_length(struct match *m, struct found_loop *loop, uint32_t *quotient)
{
	int64_t constant;
	int more = match__greater_when_taken(m);

	if (!values__is_constant(m->values, m->state.right, &constant) || constant != 0 ||
	    !is_share(m, m->state.left, quotient, &loop->teams))
		return false;
	if (more < 0 && (more = match__equal_when_taken(m)) >= 0)
		more = !more;
	loop->enters_taken = more == 1;
	return more >= 0;
}

bool match_blocks__range(struct match *m)
{
	struct found_loop loop = {.form = LOOP_RANGE, .jump = m->jump, .passed = m->jump}, share;
	uint32_t quotient, first = VALUE_NONE, end = VALUE_NONE;
	bool bounds = compares_bounds(m, &loop, &quotient, &first, &end);

	if ((!bounds && !compares_length(m, &loop, &quotient)) || !match__has_size_of(m, quotient))
		return true;
	if (is_known_test(m, m->block, quotient))
		return true;
	loop.test = m->block;
	loop.begin = match__successor(m, m->block, loop.enters_taken);
	loop.divides = quotient;
	loop.wide = m->state.size == 8;
	loop.leave = m->code->blocks[m->block].meets;
	if (is_of_some(m, m->block, quotient) ||
	    match__leads_round(m, loop.leave, m->block, match__successor(m, m->block, loop.enters_taken))) {
		m->found->unknown++;
		return true;
	}
	if (!bounds || !match__place_of(m, first, &loop.first) || !match__place_of(m, end, &loop.end)) {
		if (!match_share__find(m, quotient, loop.teams, &share)) {
			m->found->unknown++;
			return true;
		}
		if (!match__add_loop(m, &share))
			return false;
		loop.form = LOOP_ENTER;
		loop.site = m->jump;
		loop.shared = share.jump;
	}
	return match__add_loop(m, &loop);
}

uint32_t match_blocks__begin(const struct match *m, const struct found_loop *loop)
{
	struct match at = *m;
	int below = -1;

	if ((loop->form != LOOP_BLOCK && loop->form != LOOP_RANGE && loop->form != LOOP_ENTER) ||
	    loop->test == BLOCK_NONE || loop->divides == VALUE_NONE)
		return BLOCK_NONE;
	if (loop->begin != BLOCK_NONE)
		return loop->begin;
	if (!match__look_at(&at, loop->test))
		return BLOCK_NONE;
	if (is_length_between(m, at.state.left, at.state.right, loop->divides))
		below = match__less_when_taken(&at);
	else if (is_length_between(m, at.state.right, at.state.left, loop->divides))
		below = match__greater_when_taken(&at);
	return below < 0 ? BLOCK_NONE : match__successor(m, loop->test, below == 1);
}
