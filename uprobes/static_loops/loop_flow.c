// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/loop_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/cookie.h"

#define ROUNDS_EXACT 24 /* after this many rounds, what seems to change in a loop counts as changing */
#define ROUNDS_MAX 64
#define OPERATIONS_ON_STACK 8
#define OPAQUE_BYTE 8		 /* bit in an OPAQUE: it is only known that the lowest byte is 0 or 1 */
#define LOWER_HALF 4		 /* a division of at least this many bytes is one of whole registers */
#define SECOND_BYTE 257		 /* operand of an operation: that byte is extended */
#define SLOT_LOCATIONS FLOW_REGS /* locations from here on are slots: plus the value of the address */

void loop_flow__free(struct loop_flow *flow)
{
	free(flow->in);
	free(flow->out);
	free(flow->reached);
	flow->in = flow->out = NULL;
	flow->reached = NULL;
	flow->block_room = 0;
}

/* ---- one instruction -------------------------------------------------- */

struct step {
	const struct loop_flow *flow;
	struct values *values;
	struct flow_state *state;
	uint32_t insn;
};

static uint32_t unknown(const struct step *s, uint32_t which)
{
	return values__atom(s->values, ATOM_OPAQUE, s->insn, which, 0);
}

/* Whether the value is an address in this function's frame. */
static bool is_in_frame(const struct step *s, uint32_t address)
{
	/* A stack pointer that was aligned is the result of an operation. */
	for (int i = 0; i < OPERATIONS_ON_STACK; i++) {
		int64_t distance;
		const struct atom *atom =
			values__is_atom(s->values, values__base(s->values, address, &distance));

		if (atom && atom->kind == ATOM_STACK)
			return true;
		if (!atom || atom->kind != ATOM_OPERATION)
			return false;
		address = atom->b;
	}
	return false;
}

static uint32_t address_of(const struct step *s, const struct lift_operand *o)
{
	uint32_t address = values__constant(s->values, o->value);

	if (o->reg == CODE_REG_OTHER)
		return VALUE_NONE;
	if (o->reg <= CODE_REG_SP)
		address = values__add(s->values, address, s->state->reg[o->reg], 1);
	if (o->index <= CODE_REG_SP)
		address = values__add(s->values, address, s->state->reg[o->index], o->scale);
	else if (o->index == CODE_REG_OTHER)
		return VALUE_NONE;
	return address;
}

static struct flow_slot *slot_at(struct flow_state *state, uint32_t address)
{
	for (uint16_t i = 0; i < state->slot_count; i++)
		if (state->slots[i].address == address)
			return &state->slots[i];
	return NULL;
}

static bool is_got_entry(const struct step *s, uint32_t address)
{
	int64_t at;

	return values__is_constant(s->values, address, &at) &&
	       elf_image__got_name(s->flow->image, (uint64_t)at) != NULL;
}

static uint32_t load(const struct step *s, const struct lift_operand *o, uint32_t which)
{
	uint32_t address = address_of(s, o), content;
	struct flow_slot *slot = address == VALUE_NONE ? NULL : slot_at(s->state, address);

	if (slot)
		return slot->content;
	if (o->size == 8 && is_got_entry(s, address))
		return values__atom(s->values, ATOM_ENTRY, address, 0, 0);
	content = unknown(s, which);
	if (address != VALUE_NONE && o->size >= 4 && is_in_frame(s, address) &&
	    s->state->slot_count < FLOW_SLOTS)
		s->state->slots[s->state->slot_count++] = (struct flow_slot){address, content, o->size};
	return content;
}

static void store_at(const struct step *s, uint32_t address, uint8_t size, uint32_t content)
{
	int64_t at, other;
	uint32_t base, other_base;

	if (address == VALUE_NONE || !is_in_frame(s, address))
		return;
	base = values__base(s->values, address, &at);
	for (uint16_t i = s->state->slot_count; i-- > 0;) {
		other_base = values__base(s->values, s->state->slots[i].address, &other);
		if (base == other_base && at < other + 4 && other < at + size)
			s->state->slots[i] = s->state->slots[--s->state->slot_count];
	}
	if (content != VALUE_NONE && size >= 4 && size <= 8 && s->state->slot_count < FLOW_SLOTS)
		s->state->slots[s->state->slot_count++] = (struct flow_slot){address, content, size};
}

static uint32_t get(const struct step *s, const struct lift_operand *o, uint32_t which)
{
	switch (o->type) {
	case OPERAND_REG:
		if (o->reg <= CODE_REG_SP)
			return s->state->reg[o->reg];
		return o->reg == CODE_REG_ZERO ? values__constant(s->values, 0) : unknown(s, which);
	case OPERAND_VALUE:
		return values__constant(s->values, o->value);
	case OPERAND_MEMORY:
		return load(s, o, which);
	default:
		return VALUE_NONE;
	}
}

static void put(const struct step *s, const struct lift_operand *o, uint32_t value)
{
	if (value == VALUE_NONE)
		value = unknown(s, 7);
	if (o->type == OPERAND_REG && o->reg <= CODE_REG_SP)
		s->state->reg[o->reg] = value;
	else if (o->type == OPERAND_MEMORY)
		store_at(s, address_of(s, o), o->size, value);
}

static void forget(const struct step *s, uint32_t mask)
{
	for (uint32_t r = 0; r < FLOW_REGS; r++)
		if (mask >> r & 1)
			s->state->reg[r] = unknown(s, 16 + r);
}

static void call(const struct step *s)
{
	uint8_t callee = s->flow->callee[s->insn], result = s->flow->code->arch->result;
	int64_t at, sp;
	uint32_t base = values__base(s->values, s->state->reg[CODE_REG_SP], &sp), other;

	forget(s, s->flow->changes[s->insn] & ~(1u << CODE_REG_SP));
	/* The memory below the stack pointer belongs to the callee. */
	for (uint16_t i = s->state->slot_count; i-- > 0;) {
		other = values__base(s->values, s->state->slots[i].address, &at);
		if (other == base && at < sp)
			s->state->slots[i] = s->state->slots[--s->state->slot_count];
	}
	if (callee == CALLEE_THREADS || callee == CALLEE_TEAMS)
		s->state->reg[result] = values__atom(s->values, ATOM_THREADS, callee == CALLEE_TEAMS, 0, 0);
	else if (callee == CALLEE_THREAD || callee == CALLEE_TEAM)
		s->state->reg[result] = values__atom(s->values, ATOM_THREAD, callee == CALLEE_TEAM, 0, 0);
}

static void divide(const struct step *s, const struct lift *lift)
{
	uint32_t by = get(s, &lift->a, 0), dividend = s->state->reg[COOKIE_RAX], quotient, rest = VALUE_NONE,
		 narrow = lift->a.size < LOWER_HALF ? lift->a.size : 0;

	quotient = values__atom(s->values, ATOM_QUOTIENT, dividend, by, narrow);
	if (quotient != VALUE_NONE)
		rest = values__add(s->values, dividend, values__multiply(s->values, quotient, by), -1);
	s->state->reg[COOKIE_RAX] = quotient != VALUE_NONE ? quotient : unknown(s, 1);
	if (narrow != 1)
		s->state->reg[COOKIE_RDX] = rest != VALUE_NONE ? rest : unknown(s, 2);
}

static uint32_t shifted(const struct step *s, uint32_t value, uint8_t shift)
{
	return shift ? values__multiply(s->values, value, values__constant(s->values, 1ll << shift)) : value;
}

static uint32_t operation(const struct step *s, const struct lift *lift, uint32_t a, uint32_t b)
{
	if (a == VALUE_NONE || b == VALUE_NONE)
		return VALUE_NONE;
	return values__atom(s->values, ATOM_OPERATION, lift->id, a, b);
}

static uint32_t either(const struct step *s, uint32_t a, uint32_t b)
{
	if (a == b || a == VALUE_NONE || b == VALUE_NONE)
		return a == b ? a : VALUE_NONE;
	return values__atom(s->values, ATOM_EITHER, s->insn, a, b);
}

/* The number 0 or 1 that this instruction makes, if the rest of the register is 0. */
static uint32_t zero_or_one(const struct step *s, uint32_t insn)
{
	return values__atom(s->values, ATOM_EITHER, insn, values__constant(s->values, 0),
			    values__constant(s->values, 1));
}

/* A register whose lowest byte becomes 0 or 1. */
static uint32_t condition(const struct step *s, uint32_t before)
{
	int64_t constant;

	if (values__is_constant(s->values, before, &constant) && constant >= 0 && constant <= UINT8_MAX)
		return zero_or_one(s, s->insn);
	return values__atom(s->values, ATOM_OPAQUE, s->insn, OPAQUE_BYTE, 0);
}

/* Of what holds numbers of 8 or 16 bits, more is not known than these, which an extension keeps. */
static uint32_t extend(const struct step *s, const struct lift *lift, uint32_t a, uint32_t size)
{
	uint32_t narrow = values__narrow(s->values, a);
	int64_t bytes;

	if (narrow && values__is_constant(s->values, size, &bytes) && narrow <= bytes)
		return a;
	return operation(s, lift, a, size);
}

static uint32_t lowest_byte(const struct step *s, const struct lift *lift, uint32_t a, uint32_t size)
{
	const struct atom *atom = values__is_atom(s->values, a);
	uint32_t made = atom ? atom->a : 0;
	int64_t zero, one;

	if (atom && atom->kind == ATOM_OPAQUE && atom->b == OPAQUE_BYTE)
		return zero_or_one(s, made);
	if (atom && atom->kind == ATOM_EITHER && values__is_constant(s->values, atom->b, &zero) &&
	    values__is_constant(s->values, atom->c, &one) && zero == 0 && one == 1)
		return a;
	return extend(s, lift, a, size);
}

/* The second byte of a register. A division of bytes leaves its rest there. */
static uint32_t second_byte(const struct step *s, const struct lift *lift, uint32_t a)
{
	const struct atom *atom = values__is_atom(s->values, a);
	struct atom q;

	if (!atom || atom->kind != ATOM_QUOTIENT || atom->c != 1)
		return operation(s, lift, a, values__constant(s->values, SECOND_BYTE));
	q = *atom;
	return values__add(s->values, q.a, values__multiply(s->values, q.value, q.b), -1);
}

static uint32_t compute(const struct step *s, const struct lift *lift, uint32_t a, uint32_t b)
{
	int64_t whole, part;
	uint32_t c;
	int step;

	switch ((enum lift_op)lift->op) {
	case LIFT_MOVE:
		return a;
	case LIFT_ADDRESS:
		return address_of(s, &lift->a);
	case LIFT_ADD:
		return values__add(s->values, a, shifted(s, b, lift->shift), 1);
	case LIFT_SUBTRACT:
		return values__add(s->values, a, shifted(s, b, lift->shift), -1);
	case LIFT_MULTIPLY:
		return values__multiply(s->values, a, b);
	case LIFT_MULTIPLY_ADD:
	case LIFT_MULTIPLY_SUBTRACT:
		c = get(s, &lift->c, 3);
		return values__add(s->values, c, values__multiply(s->values, a, b),
				   lift->op == LIFT_MULTIPLY_ADD ? 1 : -1);
	case LIFT_SHIFT:
		return shifted(s, a, lift->shift);
	case LIFT_QUOTIENT:
		return a == VALUE_NONE || b == VALUE_NONE ? VALUE_NONE
							  : values__atom(s->values, ATOM_QUOTIENT, a, b, 0);
	case LIFT_REPLACE:
		if (!values__is_constant(s->values, a, &whole) || !values__is_constant(s->values, b, &part))
			return VALUE_NONE;
		whole = (int64_t)(((uint64_t)whole & ~(0xffffull << lift->shift)) | (uint64_t)part
											    << lift->shift);
		return values__constant(s->values, lift->to.size == 4 ? (int32_t)whole : whole);
	case LIFT_EITHER:
		if (lift->c.type != OPERAND_NONE)
			b = values__add(s->values, b, get(s, &lift->c, 3), 1);
		return either(s, a, b);
	case LIFT_ADD_CARRY:
	case LIFT_SUBTRACT_CARRY:
		step = lift->op == LIFT_ADD_CARRY ? 1 : -1;
		a = values__add(s->values, a, b, step);
		return either(s, a, values__add(s->values, a, values__constant(s->values, 1), step));
	case LIFT_CONDITION:
		return condition(s, a);
	case LIFT_LOWEST_BYTE:
		return lowest_byte(s, lift, a, b);
	case LIFT_SECOND_BYTE:
		return second_byte(s, lift, a);
	case LIFT_EXTEND:
		return extend(s, lift, a, b);
	case LIFT_OPERATION:
		return operation(s, lift, a, b);
	default:
		return VALUE_NONE;
	}
}

static void push(const struct step *s, uint32_t value)
{
	uint32_t *sp = &s->state->reg[CODE_REG_SP];

	*sp = values__add(s->values, *sp, values__constant(s->values, -8), 1);
	store_at(s, *sp, 8, value);
}

static uint32_t pop(const struct step *s)
{
	uint32_t *sp = &s->state->reg[CODE_REG_SP];
	struct flow_slot *slot = slot_at(s->state, *sp);
	uint32_t value = slot ? slot->content : unknown(s, 1);

	*sp = values__add(s->values, *sp, values__constant(s->values, 8), 1);
	return value;
}

/* aarch64: the base register of a memory operand, before or after the access. */
static void step_base(const struct step *s, const struct lift *lift)
{
	const struct lift_operand *memory = lift->to.type == OPERAND_MEMORY ? &lift->to : &lift->a;

	if (lift->step && memory->reg <= CODE_REG_SP)
		s->state->reg[memory->reg] = values__add(s->values, s->state->reg[memory->reg],
							 values__constant(s->values, lift->step), 1);
}

/* The second register of a pair that is loaded or stored. */
static void move_pair(const struct step *s, const struct lift *lift)
{
	struct lift_operand next;

	if (lift->pair.type == OPERAND_NONE)
		return;
	if (lift->to.type == OPERAND_MEMORY) {
		next = lift->to;
		next.value += next.size;
		put(s, &next, get(s, &lift->pair, 4));
	} else {
		next = lift->a;
		next.value += next.size;
		put(s, &lift->pair, get(s, &next, 4));
	}
}

static void set_flags(const struct step *s, const struct lift *lift, uint32_t a, uint32_t b)
{
	if (lift->compares) {
		s->state->left = a;
		s->state->right = shifted(s, b, lift->shift);
		s->state->size = lift->a.size;
	} else if (lift->flags) {
		s->state->left = s->state->right = VALUE_NONE;
	}
}

static void execute(const struct step *s)
{
	const struct loop_insn *in = &s->flow->code->insns[s->insn];
	const struct lift *lift = &in->lift;
	uint32_t a = VALUE_NONE, b = VALUE_NONE, value;

	if (in->base.flow != FLOW_NEXT && in->base.flow != FLOW_CALL)
		return;
	if (lift->step && lift->step_first)
		step_base(s, lift);
	switch ((enum lift_op)lift->op) {
	case LIFT_NONE:
		break;
	case LIFT_CALL:
		call(s);
		s->state->left = s->state->right = VALUE_NONE;
		break;
	case LIFT_FORGET:
		if (lift->to.type == OPERAND_MEMORY)
			put(s, &lift->to, VALUE_NONE);
		forget(s, lift->forgets);
		break;
	case LIFT_DIVIDE:
		divide(s, lift);
		break;
	case LIFT_WIDE_MULTIPLY:
		a = s->state->reg[COOKIE_RAX];
		b = get(s, &lift->a, 0);
		value = a == VALUE_NONE || b == VALUE_NONE
				? VALUE_NONE
				: values__atom(s->values, ATOM_OPERATION, lift->id, a, b);
		s->state->reg[COOKIE_RDX] = value != VALUE_NONE ? value : unknown(s, 2);
		value = values__multiply(s->values, a, b);
		s->state->reg[COOKIE_RAX] = value != VALUE_NONE ? value : unknown(s, 1);
		break;
	case LIFT_PUSH:
		push(s, get(s, &lift->a, 0));
		break;
	case LIFT_POP:
		put(s, &lift->to, pop(s));
		break;
	case LIFT_LEAVE:
		s->state->reg[CODE_REG_SP] = s->state->reg[COOKIE_RBP];
		s->state->reg[COOKIE_RBP] = pop(s);
		break;
	case LIFT_EXCHANGE:
		a = get(s, &lift->a, 0);
		b = get(s, &lift->to, 1);
		put(s, &lift->a, b);
		put(s, &lift->to, a);
		break;
	case LIFT_COMPARE:
		a = get(s, &lift->a, 0);
		b = get(s, &lift->b, 1);
		break;
	default:
		if (lift->op != LIFT_ADDRESS) {
			a = get(s, &lift->a, 0);
			if (lift->b.type != OPERAND_NONE)
				b = get(s, &lift->b, 1);
			else if (lift->op == LIFT_OPERATION)
				b = values__constant(s->values, 0);
		}
		value = compute(s, lift, a, b);
		move_pair(s, lift);
		put(s, &lift->to, value);
		break;
	}
	set_flags(s, lift, a, b);
	if (lift->step && !lift->step_first)
		step_base(s, lift);
}

/* ---- blocks ----------------------------------------------------------- */

static void run_block(const struct loop_flow *flow, uint32_t block, struct flow_state *state, uint32_t end)
{
	struct step s = {.flow = flow, .values = flow->values, .state = state};

	for (s.insn = flow->code->blocks[block].first; s.insn < end; s.insn++)
		execute(&s);
}

static uint32_t meeting(const struct loop_flow *flow, uint32_t block, uint32_t location)
{
	return values__atom(flow->values, ATOM_MEETING, block, location, 0);
}

/* ---- meetings --------------------------------------------------------- */

/*
 * At the head of a loop, it is first assumed that a location holds the same value each time. If it does
 * not, it becomes a MEETING, and everything is followed again. So a location that a loop does not change
 * keeps its value in the loop.
 */
struct changing {
	uint32_t block, location;
};

struct changes {
	struct changing *list;
	size_t count, room, round; /* the locations from `round` on are new */
};

static int add_change(struct changes *changes, uint32_t block, uint32_t location)
{
	if (changes->count == changes->room) {
		size_t room = changes->room ? 2 * changes->room : 64;
		struct changing *list = reallocarray(changes->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		changes->list = list;
		changes->room = room;
	}
	changes->list[changes->count++] = (struct changing){block, location};
	return 0;
}

/*
 * Whether the location changes in a loop around the block's loop. Then its behaviour in this loop is not
 * known yet.
 */
static bool changes_around(const struct loop_flow *flow, const struct changes *changes, uint32_t block,
			   uint32_t location)
{
	for (size_t i = changes->round; i < changes->count; i++)
		if (changes->list[i].location == location && changes->list[i].block != block &&
		    loop_code__dominates(flow->code, changes->list[i].block, block))
			return true;
	return false;
}

/* A path that was already followed meets another one. */
static void merge(const struct loop_flow *flow, uint32_t block, struct flow_state *in,
		  const struct flow_state *from)
{
	for (uint32_t r = 0; r < FLOW_REGS; r++)
		if (in->reg[r] != from->reg[r])
			in->reg[r] = meeting(flow, block, r);
	if (in->left != from->left || in->right != from->right)
		in->left = in->right = VALUE_NONE;
	for (uint16_t i = in->slot_count; i-- > 0;) {
		struct flow_slot *slot = &in->slots[i],
				 *other = slot_at((struct flow_state *)from, slot->address);

		if (!other)
			*slot = in->slots[--in->slot_count];
		else if (slot->content != other->content)
			slot->content = meeting(flow, block, SLOT_LOCATIONS + slot->address);
		if (other && other->size < slot->size)
			slot->size = other->size;
	}
}

static void enter(const struct loop_flow *flow, struct flow_state *state)
{
	*state = (struct flow_state){.left = VALUE_NONE, .right = VALUE_NONE};
	for (uint32_t r = 0; r < FLOW_REGS; r++)
		state->reg[r] = values__atom(flow->values, ATOM_OPAQUE, UINT32_MAX, r, 0);
	state->reg[CODE_REG_SP] = flow->stack;
}

static bool comes_back(const struct loop_flow *flow, uint32_t block, uint32_t from)
{
	return flow->code->blocks[from].order != BLOCK_NONE &&
	       flow->code->blocks[from].order >= flow->code->blocks[block].order;
}

/* The state at the block's begin, from the paths that lead to it but do not come back to it. */
static bool collect(const struct loop_flow *flow, const struct changes *changes, uint32_t b,
		    struct flow_state *in)
{
	const struct loop_block *block = &flow->code->blocks[b];
	bool any = b == 0, head = false;

	if (any)
		enter(flow, in);
	for (uint32_t k = block->before; k < block->before_end; k++) {
		uint32_t from = flow->code->before[k];

		if (comes_back(flow, b, from)) {
			head = true;
			continue;
		}
		if (!flow->reached[from])
			continue;
		if (any)
			merge(flow, b, in, &flow->out[from]);
		else
			*in = flow->out[from];
		any = true;
	}
	if (!any || !head)
		return any;
	in->left = in->right = VALUE_NONE;
	for (size_t i = 0; i < changes->count; i++) {
		uint32_t location = changes->list[i].location;
		struct flow_slot *slot;

		if (changes->list[i].block != b)
			continue;
		if (location < SLOT_LOCATIONS)
			in->reg[location] = meeting(flow, b, location);
		else if ((slot = slot_at(in, location - SLOT_LOCATIONS)))
			slot->content = meeting(flow, b, location);
	}
	return true;
}

static int note_change(const struct loop_flow *flow, struct changes *changes, uint32_t block,
		       uint32_t location, bool all)
{
	if (!all && changes_around(flow, changes, block, location))
		return 0;
	return add_change(changes, block, location);
}

/* Compares the values that come back to the head of a loop with the values that were assumed there. */
static int check_head(const struct loop_flow *flow, struct changes *changes, uint32_t b, uint32_t from,
		      bool all)
{
	const struct flow_state *in = &flow->in[b];
	struct flow_state *back = &flow->out[from];
	int r = 0;

	for (uint32_t reg = 0; !r && reg < FLOW_REGS; reg++)
		if (in->reg[reg] != back->reg[reg] && in->reg[reg] != meeting(flow, b, reg))
			r = note_change(flow, changes, b, reg, all);
	for (uint16_t i = 0; !r && i < in->slot_count; i++) {
		uint32_t location = SLOT_LOCATIONS + in->slots[i].address;
		const struct flow_slot *other = slot_at(back, in->slots[i].address);

		if ((!other || other->content != in->slots[i].content) &&
		    in->slots[i].content != meeting(flow, b, location))
			r = note_change(flow, changes, b, location, all);
	}
	return r;
}

static int make_room(struct loop_flow *flow)
{
	uint32_t count = flow->code->block_count;

	if (count > FLOW_MAX_BLOCKS)
		return -EINVAL;
	if (count > flow->block_room) {
		loop_flow__free(flow);
		flow->in = malloc(count * sizeof(*flow->in));
		flow->out = malloc(count * sizeof(*flow->out));
		flow->reached = malloc(count * sizeof(*flow->reached));
		if (!flow->in || !flow->out || !flow->reached)
			return -ENOMEM;
		flow->block_room = count;
	}
	return 0;
}

static void sweep(struct loop_flow *flow, const struct changes *changes)
{
	memset(flow->reached, 0, flow->code->block_count * sizeof(*flow->reached));
	for (uint32_t i = 0; i < flow->code->order_count; i++) {
		uint32_t b = flow->code->order[i];

		if (!collect(flow, changes, b, &flow->in[b]))
			continue;
		flow->reached[b] = true;
		flow->out[b] = flow->in[b];
		run_block(flow, b, &flow->out[b], flow->code->blocks[b].end);
	}
}

static int find_changes(struct loop_flow *flow, struct changes *changes, bool all)
{
	int r = 0;

	changes->round = changes->count;
	for (uint32_t i = 0; !r && i < flow->code->order_count; i++) {
		uint32_t b = flow->code->order[i];
		const struct loop_block *block = &flow->code->blocks[b];

		for (uint32_t k = block->before; !r && k < block->before_end; k++)
			if (comes_back(flow, b, flow->code->before[k]) &&
			    flow->reached[flow->code->before[k]])
				r = check_head(flow, changes, b, flow->code->before[k], all);
	}
	return r;
}

int loop_flow__run(struct loop_flow *flow)
{
	struct changes changes = {0};
	int r = make_room(flow);

	if (!r)
		flow->stack = values__atom(flow->values, ATOM_STACK, 0, 0, 0);
	for (int round = 0; !r; round++) {
		sweep(flow, &changes);
		r = find_changes(flow, &changes, round >= ROUNDS_EXACT);
		if (r || changes.count == changes.round)
			break;
		if (round == ROUNDS_MAX)
			r = -EINVAL;
	}
	free(changes.list);
	return r;
}

bool loop_flow__before(const struct loop_flow *flow, uint32_t insn, struct flow_state *out)
{
	uint32_t b = loop_code__block_of(flow->code, insn);

	if (!flow->reached[b])
		return false;
	*out = flow->in[b];
	run_block(flow, b, out, insn);
	return true;
}

bool loop_flow__walk(const struct loop_flow *flow, uint32_t block,
		     bool (*visit)(void *data, uint32_t insn, const struct flow_state *state), void *data)
{
	struct flow_state state;
	struct step s = {.flow = flow, .values = flow->values, .state = &state};

	if (!flow->reached[block])
		return false;
	state = flow->in[block];
	for (s.insn = flow->code->blocks[block].first; s.insn < flow->code->blocks[block].end; s.insn++) {
		if (visit(data, s.insn, &state))
			return true;
		execute(&s);
	}
	return false;
}

uint32_t loop_flow__at_end(const struct loop_flow *flow, uint32_t block, uint32_t location)
{
	const struct flow_slot *slot;

	if (!flow->reached[block])
		return VALUE_NONE;
	if (location < SLOT_LOCATIONS)
		return flow->out[block].reg[location];
	slot = slot_at(&flow->out[block], location - SLOT_LOCATIONS);
	return slot ? slot->content : VALUE_NONE;
}

struct gather {
	const struct loop_flow *flow;
	uint32_t *list, count, most;
	uint32_t seen[16], seen_count;
};

/*
 * Splits a value of which an EITHER is a part into two values without it. False: it has no EITHER, or the
 * EITHER is a factor.
 */
static bool split(const struct gather *g, uint32_t value, uint32_t out[2])
{
	struct values *values = g->flow->values;
	const struct value *v = values__get(values, value);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct atom atom = *values__atom_of(values, v->terms[i].atoms[0]);
		int64_t factor = v->terms[i].factor;
		uint32_t rest;

		if (atom.kind != ATOM_EITHER || v->terms[i].atoms[1])
			continue;
		rest = values__add(values, value, atom.value, -factor);
		out[0] = values__add(values, rest, atom.b, factor);
		out[1] = values__add(values, rest, atom.c, factor);
		return true;
	}
	return false;
}

static bool gather(struct gather *g, uint32_t value)
{
	const struct atom *atom = values__is_atom(g->flow->values, value),
			  copy = atom ? *atom : (struct atom){0};
	const struct loop_block *block;
	uint32_t parts[2];

	if (value == VALUE_NONE)
		return false;
	if (atom && (copy.kind == ATOM_EITHER || copy.kind == ATOM_MEETING)) {
		for (uint32_t i = 0; i < g->seen_count; i++)
			if (g->seen[i] == value)
				return true;
		if (g->seen_count == sizeof(g->seen) / sizeof(g->seen[0]))
			return false;
		g->seen[g->seen_count++] = value;
		if (copy.kind == ATOM_EITHER)
			return gather(g, copy.b) && gather(g, copy.c);
		block = &g->flow->code->blocks[copy.a];
		for (uint32_t k = block->before; k < block->before_end; k++)
			if (!gather(g, loop_flow__at_end(g->flow, g->flow->code->before[k], copy.b)))
				return false;
		return true;
	}
	if (!atom && split(g, value, parts))
		return gather(g, parts[0]) && gather(g, parts[1]);
	for (uint32_t i = 0; i < g->count; i++)
		if (g->list[i] == value)
			return true;
	if (g->count == g->most)
		return false;
	g->list[g->count++] = value;
	return true;
}

uint32_t loop_flow__alternatives(const struct loop_flow *flow, uint32_t value, uint32_t *list, uint32_t most)
{
	struct gather g = {.flow = flow, .list = list, .most = most};

	return gather(&g, value) ? g.count : 0;
}
