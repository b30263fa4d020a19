// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/match_shared.h"

#include "bpf/abi/cookie.h"

#include <stdlib.h>

#define WHOLE 4 /* bytes of the numbers of most loops, at least */

int match__less_when_taken(const struct match *m)
{
	uint32_t test = m->code->insns[m->jump].base.test;

	if (m->code->arch->step == 1) { /* x86-64 condition codes: b, ae, l, ge */
		return test == 0x2 || test == 0xc ? 1 : test == 0x3 || test == 0xd ? 0 : -1;
	}
	/* aarch64: lo, hs, lt, ge */
	return test == 0x3 || test == 0xb ? 1 : test == 0x2 || test == 0xa ? 0 : -1;
}

int match__greater_when_taken(const struct match *m)
{
	uint32_t test = m->code->insns[m->jump].base.test;

	if (m->code->arch->step == 1) /* a, be, g, le */
		return test == 0x7 || test == 0xf ? 1 : test == 0x6 || test == 0xe ? 0 : -1;
	return test == 0x8 || test == 0xc ? 1 : test == 0x9 || test == 0xd ? 0 : -1;
}

int match__equal_when_taken(const struct match *m)
{
	uint32_t test = m->code->insns[m->jump].base.test;

	if (m->code->arch->step == 1) /* e, ne */
		return test == 0x4 ? 1 : test == 0x5 ? 0 : -1;
	return test == 0x0 ? 1 : test == 0x1 ? 0 : -1;
}

bool match__look_at(struct match *m, uint32_t block)
{
	const struct loop_block *b = &m->code->blocks[block];

	m->block = block;
	m->jump = b->end - 1;
	return m->code->insns[m->jump].base.flow == FLOW_BRANCH &&
	       !(m->code->insns[m->jump].base.test & COOKIE_TEST_REGISTER) &&
	       !m->code->insns[m->jump].base.refused && loop_flow__before(m->flow, m->jump, &m->state) &&
	       m->state.left != VALUE_NONE && m->state.right != VALUE_NONE;
}

bool match__has_size_of(const struct match *m, uint32_t quotient)
{
	uint32_t narrow = values__narrow(m->values, quotient);

	return narrow ? m->state.size == narrow : m->state.size >= WHOLE;
}

static bool place_of_slot(const struct match *m, uint32_t address, struct found_at *out)
{
	static const uint8_t kinds[] = {FOUND_AT_STACK, FOUND_AT_FRAME};
	const uint8_t regs[] = {CODE_REG_SP, m->code->arch->frame_pointer};

	for (int i = 0; i < 2; i++) {
		int64_t distance;

		if (values__is_constant(m->values, values__add(m->values, address, m->state.reg[regs[i]], -1),
					&distance) &&
		    distance % 4 == 0 && distance >= -8192 && distance < 8192) {
			*out = (struct found_at){.in = kinds[i], .distance = (int32_t)distance};
			return true;
		}
	}
	return false;
}

bool match__place_of(const struct match *m, uint32_t value, struct found_at *out)
{
	const struct atom *atom = values__is_atom(m->values, value);
	/* The numbers of threads are read as 4 bytes, all others with the size that the jump compares. */
	uint8_t size = atom && (atom->kind == ATOM_THREAD || atom->kind == ATOM_THREADS) ? 4 : m->state.size;

	uint8_t narrow = size < WHOLE ? size : 0;

	*out = (struct found_at){.in = FOUND_NOWHERE};
	if (value == VALUE_NONE)
		return false;
	for (uint8_t r = 0; r < CODE_REG_SP; r++)
		if (m->state.reg[r] == value) {
			*out = (struct found_at){.in = FOUND_IN_REG, .reg = r, .narrow = narrow};
			return true;
		}
	if (narrow)
		return false;
	for (uint16_t i = 0; i < m->state.slot_count; i++)
		if (m->state.slots[i].content == value && m->state.slots[i].size >= size &&
		    place_of_slot(m, m->state.slots[i].address, out))
			return true;
	return false;
}

const struct atom *match__is_atom(const struct match *m, uint32_t value, enum atom_kind kind)
{
	const struct atom *atom = values__is_atom(m->values, value);

	return atom && atom->kind == kind ? atom : NULL;
}

bool match__is_rest(const struct match *m, uint32_t value, bool teams, uint32_t *quotient)
{
	const struct value *v;

	if (value == VALUE_NONE)
		return false;
	v = values__get(m->values, value);
	for (uint32_t i = 0; i < v->count; i++) {
		const struct value_term *term = &v->terms[i];

		if (term->factor != -1 || !term->atoms[1] || term->atoms[2])
			continue;
		for (int k = 0; k < 2; k++) {
			struct atom q = *values__atom_of(m->values, term->atoms[k]),
				    n = *values__atom_of(m->values, term->atoms[1 - k]);

			if (q.kind != ATOM_QUOTIENT || n.kind != ATOM_THREADS || n.a != teams ||
			    q.b != n.value)
				continue;
			if (values__add(m->values, value, values__multiply(m->values, q.value, n.value), 1) ==
			    q.a) {
				*quotient = q.value;
				return true;
			}
			v = values__get(m->values, value);
		}
	}
	return false;
}

uint32_t match__before_loop(const struct match *m, uint32_t value)
{
	const struct atom *atom = match__is_atom(m, value, ATOM_MEETING);
	uint32_t head = atom ? atom->a : 0, location = atom ? atom->b : 0, found = VALUE_NONE;
	const struct loop_block *block = &m->code->blocks[head];

	if (!atom)
		return value;
	for (uint32_t k = block->before; k < block->before_end; k++) {
		uint32_t from = m->code->before[k], other;

		if (m->code->blocks[from].order == BLOCK_NONE || loop_code__dominates(m->code, head, from))
			continue;
		other = loop_flow__at_end(m->flow, from, location);
		if (other == VALUE_NONE || (found != VALUE_NONE && other != found))
			return VALUE_NONE;
		found = other;
	}
	return found;
}

uint32_t match__substitute(const struct match *m, uint32_t value, const struct match_change *changes,
			   uint32_t count)
{
	struct value v = *values__get(m->values, value);
	uint32_t sum = values__constant(m->values, v.constant);

	for (uint32_t i = 0; i < v.count; i++) {
		uint32_t product = values__constant(m->values, v.terms[i].factor);

		for (int k = 0; k < VALUE_DEGREE && v.terms[i].atoms[k]; k++) {
			uint32_t by = values__atom_of(m->values, v.terms[i].atoms[k])->value;

			for (uint32_t c = 0; c < count; c++)
				if (changes[c].atom == v.terms[i].atoms[k])
					by = changes[c].by;
			product = values__multiply(m->values, product, by);
		}
		sum = values__add(m->values, sum, product, 1);
	}
	return sum;
}

#define ZERO_DEPTH 3 /* the most loops inside each other */

uint32_t match__variables(const struct match *m, uint32_t value, struct match_change *out)
{
	const struct value *v = values__get(m->values, value);
	uint32_t count = 0, k;

	for (uint32_t i = 0; i < v->count * VALUE_DEGREE; i++) {
		uint32_t atom = v->terms[i / VALUE_DEGREE].atoms[i % VALUE_DEGREE];

		if (!atom || values__atom_of(m->values, atom)->kind != ATOM_MEETING)
			continue;
		for (k = 0; k < count && out[k].atom != atom; k++)
			;
		if (k < count)
			continue;
		if (count == MATCH_VARIABLES || (count && values__atom_of(m->values, out[0].atom)->a !=
								  values__atom_of(m->values, atom)->a))
			return 0;
		out[count++].atom = atom;
	}
	return count;
}

static bool is_zero(const struct match *m, uint32_t value, int depth)
{
	struct match_change changes[MATCH_VARIABLES];
	uint32_t count, head;
	int64_t constant;

	if (value == VALUE_NONE || depth == ZERO_DEPTH)
		return false;
	if (values__is_constant(m->values, value, &constant))
		return constant == 0;
	count = match__variables(m, value, changes);
	if (!count)
		return false;
	head = values__atom_of(m->values, changes[0].atom)->a;
	for (uint32_t k = m->code->blocks[head].before; k < m->code->blocks[head].before_end; k++) {
		uint32_t from = m->code->before[k], then;

		if (m->code->blocks[from].order == BLOCK_NONE)
			continue;
		for (uint32_t i = 0; i < count; i++)
			changes[i].by = loop_flow__at_end(m->flow, from,
							  values__atom_of(m->values, changes[i].atom)->b);
		then = match__substitute(m, value, changes, count);
		if (then == VALUE_NONE ||
		    (loop_code__dominates(m->code, head, from) ? then != value
							       : !is_zero(m, then, depth + 1)))
			return false;
	}
	return true;
}

bool match__is_zero(const struct match *m, uint32_t value)
{
	return is_zero(m, value, 0);
}

bool match__leads_round_all(const struct match *m, uint32_t from, const uint32_t *past, size_t past_count,
			    uint32_t to)
{
	uint32_t *list = malloc(m->code->block_count * sizeof(*list)), count = 0;
	uint8_t *seen = calloc(m->code->block_count, 1);
	bool found = !list || !seen;

	for (size_t i = 0; !found && i < past_count; i++)
		seen[past[i]] = 1;
	if (!found && from != BLOCK_NONE && !seen[from]) {
		seen[from] = 1;
		list[count++] = from;
	}
	while (!found && count) {
		const struct loop_block *block = &m->code->blocks[list[--count]];

		found = list[count] == to;
		for (uint32_t k = 0; k < block->next_count; k++) {
			if (seen[block->next[k]])
				continue;
			seen[block->next[k]] = 1;
			list[count++] = block->next[k];
		}
	}
	free(list);
	free(seen);
	return found;
}

bool match__leads_round(const struct match *m, uint32_t from, uint32_t past, uint32_t to)
{
	return match__leads_round_all(m, from, &past, 1, to);
}

uint32_t match__successor(const struct match *m, uint32_t block, bool taken)
{
	const struct loop_block *b = &m->code->blocks[block];
	const struct code_insn *jump = &m->code->insns[b->end - 1].base;

	for (uint32_t k = 0; k < b->next_count; k++) {
		uint64_t address = m->code->insns[m->code->blocks[b->next[k]].first].base.address;

		if ((address == jump->target) == taken)
			return b->next[k];
	}
	return BLOCK_NONE;
}

bool match__add_loop(struct match *m, const struct found_loop *loop)
{
	struct found_loops *found = m->found;

	if (found->count == found->room) {
		size_t room = found->room ? 2 * found->room : 16;
		struct found_loop *list = reallocarray(found->list, room, sizeof(*list));

		if (!list)
			return false;
		found->list = list;
		found->room = room;
	}
	found->list[found->count++] = *loop;
	return true;
}
