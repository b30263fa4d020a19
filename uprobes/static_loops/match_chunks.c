// SPDX-License-Identifier: BSD-2-Clause
/* schedule(static, k): each thread has chunks of k iterations, one after the other. */
#include "uprobes/static_loops/match_shared.h"

#include "bpf/abi/loop_cookie.h"

#define LIMIT_SIZE 4 /* the least bytes of numbers of which chunks' ends may be computed from n */
#define LATER_MAX 16 /* the most blocks from the test of the first chunk to the code for its end */

/* The computation of a chunk's first iteration. */
struct chunk_first {
	uint32_t factor; /* the value k */
	bool teams;
	uint32_t trip; /* the value of trip, a MEETING; VALUE_NONE: trip is 0 */
};

/* The factor of a term as a value: its constant and all its atoms except one. */
static uint32_t factor_of(const struct match *m, const struct value_term *term, int without)
{
	uint32_t value = values__constant(m->values, term->factor);

	for (int k = 0; k < VALUE_DEGREE && term->atoms[k]; k++)
		if (k != without)
			value = values__multiply(m->values, value,
						 values__atom_of(m->values, term->atoms[k])->value);
	return value;
}

/* The position of the term's atom of this kind. -1: there is none. */
static int atom_in(const struct match *m, const struct value_term *term, enum atom_kind kind)
{
	for (int k = 0; k < VALUE_DEGREE && term->atoms[k]; k++)
		if (values__atom_of(m->values, term->atoms[k])->kind == kind)
			return k;
	return -1;
}

/* Whether the value is k * T, or k * T + k * N * trip. */
static bool is_chunk_first(const struct match *m, uint32_t value, struct chunk_first *out)
{
	struct value v;
	uint32_t others = VALUE_NONE;

	if (value == VALUE_NONE)
		return false;
	v = *values__get(m->values, value);
	*out = (struct chunk_first){.factor = VALUE_NONE, .trip = VALUE_NONE};
	if (v.constant || !v.count || v.count > 2)
		return false;
	for (uint32_t i = 0; i < v.count; i++) {
		int thread = atom_in(m, &v.terms[i], ATOM_THREAD),
		    threads = atom_in(m, &v.terms[i], ATOM_THREADS);

		if (thread >= 0 && threads < 0 && out->factor == VALUE_NONE) {
			out->teams = values__atom_of(m->values, v.terms[i].atoms[thread])->a;
			out->factor = factor_of(m, &v.terms[i], thread);
		} else if (threads >= 0 && thread < 0) {
			others = factor_of(m, &v.terms[i], threads);
		} else {
			return false;
		}
	}
	if (out->factor == VALUE_NONE || (v.count == 2) != (others != VALUE_NONE))
		return false;
	if (others == VALUE_NONE)
		return true;
	/* k * trip, if trip is counted */
	v = *values__get(m->values, others);
	if (v.constant || v.count != 1)
		return false;
	for (int k = 0; k < VALUE_DEGREE && v.terms[0].atoms[k]; k++) {
		const struct atom *atom = values__atom_of(m->values, v.terms[0].atoms[k]);

		if (atom->kind == ATOM_MEETING && factor_of(m, &v.terms[0], k) == out->factor)
			out->trip = values__atom_of(m->values, v.terms[0].atoms[k])->value;
	}
	return out->trip != VALUE_NONE;
}

static bool is_same(const struct match *m, uint32_t a, uint32_t b)
{
	return a == b || match__is_zero(m, values__add(m->values, a, b, -1));
}

/*
 * Whether the value is one of two, and the instruction or the jump before it decides. This does not count
 * what a location holds at the head of a loop: that may come from the previous iteration.
 */
static bool is_either(const struct match *m, uint32_t value, uint32_t one, uint32_t two)
{
	const struct atom *atom = values__is_atom(m->values, value);
	const struct loop_block *block;
	uint32_t block_number, location;
	bool ones = false, twos = false;

	if (atom && atom->kind == ATOM_EITHER) {
		uint32_t b = atom->b, c = atom->c;

		return (c == two && is_same(m, b, one)) || (b == two && is_same(m, c, one));
	}
	if (!atom || atom->kind != ATOM_MEETING)
		return false;
	block_number = atom->a;
	location = atom->b;
	block = &m->code->blocks[block_number];
	for (uint32_t k = block->before; k < block->before_end; k++) {
		uint32_t from = m->code->before[k], held = loop_flow__at_end(m->flow, from, location);

		if (loop_code__dominates(m->code, block_number, from) ||
		    (held != two && !is_same(m, held, one)))
			return false;
		ones |= held != two;
		twos |= held == two;
	}
	return ones && twos;
}

/* Where the end of the chunk that begins with `first` is: min(first + k, n). */
static bool place_of_end(const struct match *m, uint32_t first, uint32_t factor, uint32_t n,
			 struct found_at *out)
{
	uint32_t full = values__add(m->values, first, factor, 1);

	for (uint32_t i = 0; i < CODE_REG_SP + (uint32_t)m->state.slot_count; i++) {
		uint32_t value = i < CODE_REG_SP ? m->state.reg[i] : m->state.slots[i - CODE_REG_SP].content;

		if (full != VALUE_NONE && is_either(m, value, full, n) && match__place_of(m, value, out))
			return true;
	}
	return false;
}

/* Whether the end of the chunk is computed in the blocks behind `begin`. */
static bool is_limited_later(const struct match *m, uint32_t begin, uint32_t first, uint32_t factor,
			     uint32_t n)
{
	struct match later = *m;
	struct found_at end;
	uint32_t looked_at = 0;

	if (begin == BLOCK_NONE)
		return false;
	for (uint32_t i = m->code->blocks[begin].order; i < m->code->order_count && looked_at < LATER_MAX;
	     i++) {
		uint32_t b = m->code->order[i];

		if (!loop_code__dominates(m->code, begin, b))
			continue;
		looked_at++;
		later.state = m->flow->out[b];
		later.state.size = m->state.size;
		if (m->flow->reached[b] && place_of_end(&later, first, factor, n, &end))
			return true;
	}
	return false;
}

/*
 * Puts into *out where n is, if a cookie has room for that. The end of each chunk of `chunk` iterations
 * follows from n.
 */
static void limit_of(const struct match *m, int64_t chunk, uint32_t n, struct found_at *out)
{
	struct found_at at;
	int64_t constant;

	/* A chunk's end of 8 or 16 bits may not be what follows from n. */
	if (chunk <= 0 || chunk > (int64_t)LOOP_CHUNK_MAX || m->state.size < LIMIT_SIZE)
		return;
	if (values__is_constant(m->values, n, &constant)) {
		if (constant >= 0 && constant <= LOOP_PLACE_MAX)
			*out = (struct found_at){.in = FOUND_LIMIT, .distance = (int32_t)constant};
	} else if (match__place_of(m, n, &at)) {
		*out = at;
		out->limit = true;
	}
}

/*
 * Whether the jump tests first < n. `first` is what it compares on the left, or on the right if `turned`.
 * *taken: the jump is taken if first < n. A constant n may be tested as first <= n - 1.
 */
static bool is_below(const struct match *m, bool turned, uint32_t *n, bool *taken)
{
	int below = turned ? match__greater_when_taken(m) : match__less_when_taken(m),
	    beyond = turned ? match__less_when_taken(m) : match__greater_when_taken(m);
	int64_t constant;

	*n = turned ? m->state.left : m->state.right;
	if (below >= 0) {
		*taken = below == 1;
		return true;
	}
	if (beyond < 0 || !values__is_constant(m->values, *n, &constant) || constant == INT64_MAX)
		return false;
	*n = values__constant(m->values, constant + 1);
	*taken = beyond == 0;
	return true;
}

/*
 * Whether the value is `start` + `stride` at first, and `stride` more each time, given what its atom is
 * each time.
 */
static bool advances_by(const struct match *m, uint32_t value, uint32_t atom, uint32_t start, uint32_t stride)
{
	struct atom variable = *values__atom_of(m->values, atom);
	const struct loop_block *head = &m->code->blocks[variable.a];
	uint32_t before = match__before_loop(m, variable.value);
	bool steps = false;

	if (before == VALUE_NONE || match__substitute(m, value, &(struct match_change){atom, before}, 1) !=
					    values__add(m->values, start, stride, 1))
		return false;
	for (uint32_t k = head->before; k < head->before_end; k++) {
		uint32_t from = m->code->before[k], next;

		if (m->code->blocks[from].order == BLOCK_NONE ||
		    !loop_code__dominates(m->code, variable.a, from))
			continue;
		next = loop_flow__at_end(m->flow, from, variable.b);
		if (next == VALUE_NONE ||
		    values__add(m->values, match__substitute(m, value, &(struct match_change){atom, next}, 1),
				value, -1) != stride)
			return false;
		steps = true;
	}
	return steps;
}

/*
 * Whether the value is `start` + `stride` when it is computed for the first time, and `stride` more each
 * time. It is computed from a variable of a loop, which is a MEETING at the loop's head. *head_block: that
 * head.
 */
static bool advances(const struct match *m, uint32_t value, uint32_t start, uint32_t stride,
		     uint32_t *head_block)
{
	struct value v;

	if (value == VALUE_NONE || start == VALUE_NONE || stride == VALUE_NONE)
		return false;
	v = *values__get(m->values, value);
	for (uint32_t i = 0; i < v.count; i++)
		for (int k = 0; k < VALUE_DEGREE && v.terms[i].atoms[k]; k++) {
			const struct atom *atom = values__atom_of(m->values, v.terms[i].atoms[k]);
			uint32_t head = atom->a;

			if (atom->kind == ATOM_MEETING &&
			    advances_by(m, value, v.terms[i].atoms[k], start, stride)) {
				*head_block = head;
				return true;
			}
		}
	return false;
}

/*
 * Adds a jump that decides whether another chunk begins, if `value` on one of its sides is that chunk's
 * first iteration.
 */
static void add_again(const struct match *m, struct match *other, struct found_loop *loop,
		      const struct chunk_first *chunk, uint32_t n)
{
	uint32_t threads = values__atom(m->values, ATOM_THREADS, chunk->teams, 0, 0),
		 thread = values__atom(m->values, ATOM_THREAD, chunk->teams, 0, 0),
		 stride = values__multiply(m->values, chunk->factor, threads),
		 start = values__multiply(m->values, chunk->factor, thread);
	struct found_again *again = &loop->agains[loop->again_count];

	for (int turned = 0; turned < 2; turned++) {
		uint32_t first = turned ? other->state.right : other->state.left, bound;

		if (other->state.size != m->state.size || !is_below(other, turned, &bound, &again->taken) ||
		    bound != n || !advances(m, first, start, stride, &again->head) ||
		    !match__place_of(other, first, &again->first))
			continue;
		again->end = (struct found_at){.in = FOUND_NOWHERE};
		if (loop->end.in != FOUND_NOWHERE &&
		    !place_of_end(other, first, chunk->factor, n, &again->end))
			limit_of(other, loop->chunk, n, &again->end);
		if (loop->end.in != FOUND_NOWHERE && again->end.in == FOUND_NOWHERE)
			continue;
		again->jump = other->jump;
		loop->again_count++;
		return;
	}
}

/* Whether another chunk can begin in the loop with this head without passing one of the jumps. */
static bool is_passed(const struct match *m, const struct found_loop *loop, uint32_t head)
{
	uint32_t past[AGAINS_MAX];

	for (uint32_t i = 0; i < loop->again_count; i++) {
		past[i] = loop_code__block_of(m->code, loop->agains[i].jump);
		if (past[i] == head)
			return true; /* each further iteration passes the head */
	}
	for (uint32_t k = 0; k < m->code->blocks[head].next_count; k++)
		if (match__leads_round_all(m, m->code->blocks[head].next[k], past, loop->again_count, head))
			return false;
	return true;
}

/*
 * Finds the jumps at the end of the chunks' loop. There are several if the compiler has made several paths
 * through it, or if other loops have the same chunks. All must be known. False: another chunk can begin
 * without passing one.
 */
static bool find_again(const struct match *m, struct found_loop *loop, const struct chunk_first *chunk,
		       uint32_t n)
{
	struct match other = *m;

	for (uint32_t i = m->code->blocks[m->block].order + 1;
	     i < m->code->order_count && loop->again_count < AGAINS_MAX; i++) {
		uint32_t b = m->code->order[i];

		if (loop_code__dominates(m->code, m->block, b) && match__look_at(&other, b))
			add_again(m, &other, loop, chunk, n);
	}
	for (uint32_t i = 0; i < loop->again_count; i++)
		if (!is_passed(m, loop, loop->agains[i].head))
			return false;
	return loop->again_count > 0 && loop->again_count < AGAINS_MAX;
}

/* Whether `value` is 0 before the loop at whose head it is, and one more each time. */
static bool counts_from_zero(const struct match *m, uint32_t value)
{
	int64_t constant;

	return values__is_constant(m->values, match__before_loop(m, value), &constant) && constant == 0;
}

/* The first chunk is enough if the numbers of iterations and threads are known. */
static bool take_stride(const struct match *m, struct found_loop *loop, uint32_t n)
{
	if (m->state.size < LIMIT_SIZE)
		return false;
	loop->form = LOOP_STRIDE;
	if (!values__is_constant(m->values, n, &loop->count)) {
		loop->count = -1;
		if (!match__place_of(m, n, &loop->bound))
			return false;
	}
	return loop->first.in == FOUND_IN_REG && loop->end.in == FOUND_IN_REG &&
	       match__place_of(m, values__atom(m->values, ATOM_THREADS, loop->teams, 0, 0), &loop->threads);
}

/* The heads of the loops of `loop->agains`, in order. */
static uint32_t find_heads(const struct match *m, const struct found_loop *loop, uint32_t *heads)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < loop->again_count; i++) {
		uint32_t head = loop->agains[i].head, k = count;

		while (k > 0 && m->code->blocks[heads[k - 1]].order > m->code->blocks[head].order)
			k--;
		if (k > 0 && heads[k - 1] == head)
			continue;
		for (uint32_t t = count; t > k; t--)
			heads[t] = heads[t - 1];
		heads[k] = head;
		count++;
	}
	return count;
}

/*
 * Adds the loop, with all places at which it begins without the test of the first chunk. Also adds such
 * places of other loops with the same chunks. *understood: whether all places are understood. Returns false
 * if memory is out.
 */
static bool add_chunks(struct match *m, struct found_loop *loop, bool *understood)
{
	struct more_loops more = {.shared = m->jump,
				  .site = m->jump,
				  .begin = match__successor(m, m->block, loop->enters_taken),
				  .empty = match__successor(m, m->block, !loop->enters_taken),
				  .sp = m->state.reg[CODE_REG_SP],
				  .teams = loop->teams};
	uint32_t heads[AGAINS_MAX], count = find_heads(m, loop, heads), first = 0;
	size_t before = m->found->count;
	bool unseen = false;

	/* If a loop has several paths, each has a head. */
	while (first + 1 < count && match__leads_round(m, more.begin, heads[first], heads[first + 1]))
		first++;
	for (uint32_t i = 0; i < loop->again_count; i++) {
		uint32_t block = loop_code__block_of(m->code, loop->agains[i].jump), end;

		end = match__successor(m, block, !loop->agains[i].taken);
		for (uint32_t k = 0; k <= first; k++)
			unseen |= heads[k] != m->block && match__leads_round(m, end, m->block, heads[k]);
		unseen |= match__leads_round(m, end, m->block, more.begin);
	}
	loop->keeps = unseen || first + 1 < count;
	loop->keeps_only = unseen;
	if (!match__add_loop(m, loop))
		return false;
	*understood = true;
	for (uint32_t i = 0; *understood && unseen && i <= first; i++)
		*understood = match_more__again(m, &more, heads[i]);
	if (*understood && first + 1 < count)
		*understood = match_more__others(m, &more, heads + first + 1, count - first - 1);
	if (!*understood)
		m->found->count = before;
	return true;
}

/*
 * The same jump tests each chunk. It compares a variable of the loop at whose head it is: k * T before the
 * loop, k * N more each time.
 */
static bool match_head(struct match *m)
{
	struct found_loop loop = {.form = LOOP_HEAD,
				  .jump = m->jump,
				  .passed = m->jump,
				  .begin = BLOCK_NONE,
				  .leave = BLOCK_NONE};

	for (int turned = 0; turned < 2; turned++) {
		uint32_t first = turned ? m->state.right : m->state.left, n, stride, before;
		const struct atom *atom = match__is_atom(m, first, ATOM_MEETING);
		uint32_t number = atom ? values__get(m->values, first)->terms[0].atoms[0] : 0;
		struct chunk_first chunk;
		int64_t constant;

		before = atom ? match__before_loop(m, first) : VALUE_NONE;
		if (!is_chunk_first(m, before, &chunk) || chunk.trip != VALUE_NONE ||
		    !is_below(m, turned, &n, &loop.enters_taken))
			continue;
		stride = values__multiply(m->values, chunk.factor,
					  values__atom(m->values, ATOM_THREADS, chunk.teams, 0, 0));
		if (!advances_by(m, first, number, values__add(m->values, before, stride, -1), stride))
			continue;
		loop.teams = chunk.teams;
		loop.wide = m->state.size == 8;
		loop.chunk = values__is_constant(m->values, chunk.factor, &constant) ? constant : 0;
		if (!place_of_end(m, first, chunk.factor, n, &loop.end) &&
		    (loop.chunk != 1 || !match_single__is_of_compiler(m, n)))
			return true;
		loop.has_stride =
			match__place_of(m, stride, &loop.threads) && loop.threads.in == FOUND_IN_REG;
		if (!match__place_of(m, first, &loop.first) ||
		    (!loop.has_stride &&
		     (loop.chunk <= 0 ||
		      !match__place_of(m, values__atom(m->values, ATOM_THREADS, loop.teams, 0, 0),
				       &loop.threads)))) {
			m->found->unknown++;
			return true;
		}
		return match__add_loop(m, &loop);
	}
	return true;
}

bool match_chunks__first(struct match *m)
{
	struct found_loop loop = {.jump = m->jump,
				  .passed = m->jump,
				  .begin = BLOCK_NONE,
				  .leave = INSN_NONE};
	struct chunk_first chunk;
	bool again = false, understood;
	uint32_t first = VALUE_NONE, n = VALUE_NONE, quotient;
	int64_t constant;
	int turned;

	for (turned = 0; turned < 2; turned++) {
		first = turned ? m->state.right : m->state.left;
		if (is_chunk_first(m, first, &chunk) && is_below(m, turned, &n, &loop.enters_taken))
			break;
	}
	if (turned == 2)
		return match_head(m);
	if (match__is_rest(m, n, chunk.teams, &quotient))
		return true;
	loop.teams = chunk.teams;
	loop.wide = m->state.size == 8;
	loop.chunk = values__is_constant(m->values, chunk.factor, &constant) ? constant : 0;
	/* If a chunk has one iteration, no code limits it to n. People may write such a loop, too. */
	if (!place_of_end(m, first, chunk.factor, n, &loop.end) &&
	    (loop.chunk != 1 || !match_single__is_of_compiler(m, n))) {
		if (!is_limited_later(m, match__successor(m, m->block, loop.enters_taken), first,
				      chunk.factor, n))
			return true;
		limit_of(m, loop.chunk, n, &loop.end);
		if (loop.end.in == FOUND_NOWHERE) {
			m->found->unknown++;
			return true;
		}
	}
	if (!match__place_of(m, first, &loop.first)) {
		m->found->unknown++;
		return true;
	}
	loop.form = chunk.trip == VALUE_NONE ? LOOP_CHUNKS : LOOP_TRIPS;
	if (loop.form == LOOP_CHUNKS) {
		again = find_again(m, &loop, &chunk, n);
	} else if (!counts_from_zero(m, chunk.trip) || !match__place_of(m, chunk.trip, &loop.trip)) {
		m->found->unknown++;
		return true;
	}
	if (loop.form == LOOP_CHUNKS && !again && !take_stride(m, &loop, n)) {
		m->found->unknown++;
		return true;
	}
	if (loop.form != LOOP_TRIPS)
		loop.begin = match__successor(m, m->block, loop.enters_taken);
	/* For the other forms, the test of the chunk after the last one is the end. */
	loop.leave = loop.form == LOOP_STRIDE ? m->code->blocks[m->block].meets : BLOCK_NONE;
	understood = loop.form != LOOP_STRIDE ||
		     !match__leads_round(m, loop.leave, m->block,
					 match__successor(m, m->block, loop.enters_taken));
	if (loop.form == LOOP_CHUNKS) {
		limit_of(m, loop.chunk, n, &loop.end);
		if (!add_chunks(m, &loop, &understood))
			return false;
	} else if (understood && !match__add_loop(m, &loop)) {
		return false;
	}
	m->found->unknown += !understood;
	return true;
}
