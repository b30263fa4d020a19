// SPDX-License-Identifier: BSD-2-Clause
/* Works by the bits of the instruction, as uprobes/code/code_aarch64_decode.c does. */
#include "uprobes/static_loops/loop_lift.h"

#define NUMBER_31 31   /* the stack pointer, or a register that is 0 */
#define EXCLUSIVE 16   /* bytes of the largest atomic access */
#define STRUCTURES 64  /* bytes of the largest access to several vectors */
#define SHIFT_LIMIT 32 /* a shift by more than this has nothing to do with a number of iterations */

/* Values of lift.id. Of these operations only the kind is known. */
enum operation {
	OPERATION_AND,
	OPERATION_ORR,
	OPERATION_EOR,
	OPERATION_ANDS,
	OPERATION_ADD,
	OPERATION_SUB,
	OPERATION_UBFM,
	OPERATION_SBFM,
	OPERATION_VARIABLE, /* a shift by a register */
	OPERATION_HIGH,	    /* the upper half of a product */
	OPERATION_LOAD,	    /* of 8 or 16 bits */
};

static uint32_t bits(uint32_t word, int from, int count)
{
	return word >> from & ((1u << count) - 1);
}

static int64_t extended(uint32_t word, int from, int count)
{
	int64_t value = (int64_t)bits(word, from, count);

	return value - (value >> (count - 1) << count);
}

static uint16_t operation(enum operation which, uint32_t how)
{
	return (uint16_t)(which | how << 4);
}

static struct lift_operand reg(uint32_t n, uint8_t size)
{
	return (struct lift_operand){.type = OPERAND_REG,
				     .reg = n == NUMBER_31 ? CODE_REG_ZERO : (uint8_t)n,
				     .index = CODE_REG_NONE,
				     .size = size};
}

static struct lift_operand reg_or_sp(uint32_t n, uint8_t size)
{
	struct lift_operand o = reg(n, size);

	if (n == NUMBER_31)
		o.reg = CODE_REG_SP;
	return o;
}

static struct lift_operand constant(int64_t value, uint8_t size)
{
	return (struct lift_operand){.type = OPERAND_VALUE,
				     .reg = CODE_REG_NONE,
				     .index = CODE_REG_NONE,
				     .size = size,
				     .value = size == 4 ? (int32_t)value : value};
}

static struct lift_operand memory(uint32_t base, int64_t distance, uint8_t size)
{
	struct lift_operand o = reg_or_sp(base, size);

	o.type = OPERAND_MEMORY;
	o.scale = 1;
	o.value = distance;
	return o;
}

static struct lift_operand at_address(int64_t address, uint8_t size)
{
	struct lift_operand o = memory(0, address, size);

	o.reg = CODE_REG_PC;
	return o;
}

static void forget(const struct code_insn *in, struct lift *out)
{
	*out = (struct lift){.op = LIFT_FORGET, .forgets = in->writes};
}

/* ---- with constants --------------------------------------------------- */

/* add, sub, cmp, cmn */
static void lift_sum(uint32_t w, uint8_t size, struct lift *out)
{
	int64_t value = (int64_t)bits(w, 10, 12) << (bits(w, 22, 1) ? 12 : 0);
	bool subtracts = bits(w, 30, 1), sets_flags = bits(w, 29, 1);

	out->op = subtracts ? LIFT_SUBTRACT : LIFT_ADD;
	out->to = sets_flags ? reg(bits(w, 0, 5), size) : reg_or_sp(bits(w, 0, 5), size);
	out->a = reg_or_sp(bits(w, 5, 5), size);
	out->b = constant(value, size);
	if (!sets_flags)
		return;
	/* An addition of a number sets the flags as a subtraction of its negative does, except for 0. */
	out->compares = subtracts || value;
	out->flags = !out->compares;
	if (!subtracts) {
		out->op = LIFT_SUBTRACT;
		out->b.value = -value;
	}
}

/* The constant of and, orr, eor: an element of rotated ones that is repeated. False: there is none. */
static bool mask_of(uint32_t w, uint8_t size, int64_t *out)
{
	uint32_t code = bits(w, 22, 1) << 6 | (~bits(w, 10, 6) & 63), length = 0, turn, width;
	uint64_t ones, value = 0;

	while (code >> (length + 1))
		length++;
	if (!length)
		return false;
	width = 1u << length;
	turn = bits(w, 16, 6) & (width - 1);
	if ((bits(w, 10, 6) & (width - 1)) == width - 1)
		return false;
	ones = (1ull << ((bits(w, 10, 6) & (width - 1)) + 1)) - 1;
	if (turn)
		ones = ones >> turn | ones << (width - turn);
	if (width < 64)
		ones &= (1ull << width) - 1;
	for (uint32_t at = 0; at < 64; at += width)
		value |= ones << at;
	*out = size == 4 ? (int32_t)value : (int64_t)value;
	return true;
}

static void lift_mask(uint32_t w, const struct code_insn *in, uint8_t size, struct lift *out)
{
	uint32_t which = bits(w, 29, 2);
	bool sets_flags = which == OPERATION_ANDS;
	int64_t mask;

	if (!mask_of(w, size, &mask)) {
		forget(in, out);
		out->flags = sets_flags;
		return;
	}
	out->to = sets_flags ? reg(bits(w, 0, 5), size) : reg_or_sp(bits(w, 0, 5), size);
	out->a = reg(bits(w, 5, 5), size);
	out->b = constant(mask, size);
	out->flags = sets_flags;
	out->op = LIFT_OPERATION;
	out->id = operation((enum operation)which, 0);
	if (which == OPERATION_ORR && out->a.reg == CODE_REG_ZERO) {
		out->op = LIFT_MOVE;
		out->a = out->b;
	} else if (which == OPERATION_AND && size == 8 && mask == UINT32_MAX) {
		out->op = LIFT_MOVE;
	}
}

/* movz, movn, movk */
static void lift_wide(uint32_t w, const struct code_insn *in, uint8_t size, struct lift *out)
{
	uint32_t shift = 16 * bits(w, 21, 2), kind = bits(w, 29, 2);
	uint64_t value = (uint64_t)bits(w, 5, 16);

	if (kind == 1) {
		forget(in, out);
		return;
	}
	out->to = reg(bits(w, 0, 5), size);
	if (kind == 3) {
		out->op = LIFT_REPLACE;
		out->a = out->to;
		out->b = constant((int64_t)value, 8);
		out->shift = (uint8_t)shift;
		return;
	}
	value <<= shift;
	out->op = LIFT_MOVE;
	out->a = constant((int64_t)(kind == 0 ? ~value : value), size);
}

/* Shifts by a constant, sxtw and similar, and other parts of a register. */
static void lift_field(uint32_t w, const struct code_insn *in, uint8_t size, struct lift *out)
{
	uint32_t from = bits(w, 16, 6), last = bits(w, 10, 6), width = 8u * size, kind = bits(w, 29, 2);
	uint32_t left = width - from;

	if (kind != 0 && kind != 2) { /* bfm keeps the rest of the register */
		forget(in, out);
		return;
	}
	out->to = reg(bits(w, 0, 5), size);
	out->a = reg(bits(w, 5, 5), size);
	if (from == 0 && last >= SHIFT_LIMIT - 1) {
		out->op = LIFT_MOVE;
	} else if (last < from && left < SHIFT_LIMIT &&
		   (last + 1 >= SHIFT_LIMIT || last + 1 + left == width)) {
		out->op = LIFT_SHIFT;
		out->shift = (uint8_t)left;
	} else {
		out->op = LIFT_OPERATION;
		out->id = operation(kind ? OPERATION_UBFM : OPERATION_SBFM, size);
		out->b = constant((int64_t)(from << 6 | last), 8);
	}
}

static void lift_immediate(uint32_t w, const struct code_insn *in, struct lift *out)
{
	uint8_t size = w >> 31 ? 8 : 4;

	switch (bits(w, 23, 3)) {
	case 0:
	case 1: /* adr, adrp */
		out->op = LIFT_MOVE;
		out->to = reg(bits(w, 0, 5), 8);
		out->a = constant(in->operand[1].value, 8);
		break;
	case 2:
		lift_sum(w, size, out);
		break;
	case 4:
		lift_mask(w, in, size, out);
		break;
	case 5:
		lift_wide(w, in, size, out);
		break;
	case 6:
		lift_field(w, in, size, out);
		break;
	default:
		forget(in, out);
		break;
	}
}

/* ---- with registers --------------------------------------------------- */

/* and, orr, eor and similar, with a shifted register */
static void lift_logical(uint32_t w, uint8_t size, struct lift *out)
{
	uint32_t which = bits(w, 29, 2), shift = bits(w, 10, 6);
	/* The kind of shift, and whether the operand is the complement. */
	uint32_t how = bits(w, 21, 3);

	out->to = reg(bits(w, 0, 5), size);
	out->a = reg(bits(w, 5, 5), size);
	out->b = reg(bits(w, 16, 5), size);
	if (which == OPERATION_ORR && !how && out->a.reg == CODE_REG_ZERO && shift < SHIFT_LIMIT) {
		out->op = LIFT_SHIFT;
		out->a = out->b;
		out->shift = (uint8_t)shift;
	} else if (which == OPERATION_ANDS && !how && !shift && out->a.reg == out->b.reg) {
		out->op = LIFT_MOVE;
		out->b = constant(0, size);
		out->compares = true;
	} else {
		out->op = LIFT_OPERATION;
		out->id = operation((enum operation)which, shift << 3 | how);
		out->flags = which == OPERATION_ANDS;
	}
}

/* add, sub, cmp, cmn with a register that is shifted or extended */
static void lift_sum_of_registers(uint32_t w, uint8_t size, struct lift *out)
{
	bool subtracts = bits(w, 30, 1), sets_flags = bits(w, 29, 1), extends = bits(w, 21, 1), simple;
	uint32_t shift = extends ? bits(w, 10, 3) : bits(w, 10, 6),
		 how = bits(w, extends ? 13 : 22, extends ? 3 : 2);

	out->a = extends ? reg_or_sp(bits(w, 5, 5), size) : reg(bits(w, 5, 5), size);
	out->b = reg(bits(w, 16, 5), size);
	out->to = extends && !sets_flags ? reg_or_sp(bits(w, 0, 5), size) : reg(bits(w, 0, 5), size);
	simple = extends ? how & 2 : how == 0 && shift < SHIFT_LIMIT;
	if (simple) {
		out->op = subtracts ? LIFT_SUBTRACT : LIFT_ADD;
		out->shift = (uint8_t)shift;
	} else {
		out->op = LIFT_OPERATION;
		out->id = operation(subtracts ? OPERATION_SUB : OPERATION_ADD,
				    shift << 5 | how << 1 | (uint32_t)extends);
	}
	out->compares = sets_flags && subtracts && simple;
	out->flags = sets_flags && !out->compares;
}

/* csel, csinc; the results of csinv and csneg are not followed */
static void lift_select(uint32_t w, const struct code_insn *in, uint8_t size, struct lift *out)
{
	if (bits(w, 29, 2) || bits(w, 11, 1)) {
		forget(in, out);
		return;
	}
	out->op = LIFT_EITHER;
	out->to = reg(bits(w, 0, 5), size);
	out->a = reg(bits(w, 5, 5), size);
	out->b = reg(bits(w, 16, 5), size);
	out->c = constant(bits(w, 10, 1), size);
}

/* Divisions, and shifts by a register. */
static void lift_two(uint32_t w, const struct code_insn *in, uint8_t size, struct lift *out)
{
	uint32_t which = bits(w, 10, 6);

	if (bits(w, 29, 2) || (which >> 1 != 1 && which >> 2 != 2)) {
		forget(in, out);
		out->flags = bits(w, 29, 1);
		return;
	}
	out->to = reg(bits(w, 0, 5), size);
	out->a = reg(bits(w, 5, 5), size);
	out->b = reg(bits(w, 16, 5), size);
	out->op = which >> 1 == 1 ? LIFT_QUOTIENT : LIFT_OPERATION;
	out->id = operation(OPERATION_VARIABLE, which);
}

/* Products. */
static void lift_three(uint32_t w, const struct code_insn *in, uint8_t size, struct lift *out)
{
	uint32_t which = bits(w, 21, 3);

	out->to = reg(bits(w, 0, 5), size);
	out->a = reg(bits(w, 5, 5), size);
	out->b = reg(bits(w, 16, 5), size);
	out->c = reg(bits(w, 10, 5), size);
	if (which == 0 || which == 1 || which == 5) {
		out->op = bits(w, 15, 1) ? LIFT_MULTIPLY_SUBTRACT : LIFT_MULTIPLY_ADD;
	} else if (which == 2 || which == 6) {
		out->op = LIFT_OPERATION;
		out->id = operation(OPERATION_HIGH, which);
	} else {
		forget(in, out);
	}
}

static void lift_registers(uint32_t w, const struct code_insn *in, struct lift *out)
{
	uint8_t size = w >> 31 ? 8 : 4;

	if (!bits(w, 28, 1)) {
		if (bits(w, 24, 1))
			lift_sum_of_registers(w, size, out);
		else
			lift_logical(w, size, out);
		return;
	}
	if (bits(w, 24, 1)) {
		lift_three(w, in, size, out);
	} else if (bits(w, 21, 3) == 4) {
		lift_select(w, in, size, out);
	} else if (bits(w, 21, 3) == 6 && !bits(w, 30, 1)) {
		lift_two(w, in, size, out);
	} else {
		forget(in, out);
		out->flags = bits(w, 21, 3) != 6; /* with the carry flag; comparisons by a condition */
	}
}

/* ---- memory ----------------------------------------------------------- */

static void set_step(struct lift *out, uint32_t mode, int64_t by)
{
	if (mode & 1) {
		out->step = (int16_t)by;
		out->step_first = mode == 3;
	}
}

static void lift_pair(uint32_t w, const struct code_insn *in, struct lift *out)
{
	uint32_t mode = bits(w, 23, 2), kind = w >> 30, base = bits(w, 5, 5);
	bool vector = bits(w, 26, 1), loads = bits(w, 22, 1);
	uint8_t size = (uint8_t)(vector ? 4u << kind : kind & 2 ? 8 : 4);
	int64_t by = extended(w, 15, 7) * size;
	struct lift_operand at = memory(base, mode & 1 ? 0 : by, size), first = reg(bits(w, 0, 5), size),
			    second = reg(bits(w, 10, 5), size);

	if (kind == 1 && !vector && !loads) { /* stgp: for memory with tags, which GCC's frames never have */
		forget(in, out);
		return;
	}
	set_step(out, mode, by);
	if (vector) {
		at.size = (uint8_t)(2 * size);
		out->op = loads ? LIFT_NONE : LIFT_FORGET;
		*(loads ? &out->a : &out->to) = at;
	} else {
		out->op = LIFT_MOVE;
		out->to = loads ? first : at;
		out->a = loads ? at : first;
		out->pair = second;
	}
}

/* Atomic operations, and loads that check a signature of the address. */
static void lift_other_access(uint32_t w, const struct code_insn *in, struct lift *out)
{
	forget(in, out);
	out->to = memory(bits(w, 5, 5), 0, EXCLUSIVE);
}

static void lift_single(uint32_t w, const struct code_insn *in, struct lift *out)
{
	uint32_t size = w >> 30, opc = bits(w, 22, 2), mode = bits(w, 10, 2);
	bool vector = bits(w, 26, 1), scaled = bits(w, 24, 1), indexed = !scaled && bits(w, 21, 1), loads;
	struct lift_operand at, value = reg(bits(w, 0, 5), size == 3 || opc == 2 ? 8 : 4);

	if (indexed && mode != 2) {
		lift_other_access(w, in, out);
		return;
	}
	if (vector)
		size |= opc >> 1 << 2;
	else if (size == 3 && opc == 2) /* prfm */
		return;
	loads = vector ? opc & 1 : opc != 0;
	at = memory(bits(w, 5, 5), 0, (uint8_t)(1u << size));
	if (scaled) {
		at.value = (int64_t)bits(w, 10, 12) << size;
	} else if (indexed) {
		at.index = reg(bits(w, 16, 5), 8).reg;
		at.scale = bits(w, 12, 1) ? at.size : 1;
	} else {
		at.value = mode & 1 ? 0 : extended(w, 12, 9);
		set_step(out, mode, extended(w, 12, 9));
	}
	if (vector) {
		out->op = loads ? LIFT_NONE : LIFT_FORGET;
		*(loads ? &out->a : &out->to) = at;
		return;
	}
	out->op = LIFT_MOVE;
	out->to = loads ? value : at;
	out->a = loads ? at : value;
	if (loads && size < 2) {
		out->op = LIFT_OPERATION;
		out->id = operation(OPERATION_LOAD, opc << 2 | size);
	}
}

static void lift_memory(uint32_t w, const struct code_insn *in, struct lift *out)
{
	uint32_t kind = bits(w, 27, 3);

	if ((w & 0x3f000000) == 0x08000000) { /* exclusive, ordered, cas */
		lift_other_access(w, in, out);
	} else if (kind == 3 && !bits(w, 24, 2)) { /* literals */
		if (bits(w, 26, 1) || w >> 30 == 3)
			return;
		out->op = LIFT_MOVE;
		out->to = reg(bits(w, 0, 5), w >> 30 ? 8 : 4);
		out->a = at_address(in->operand[1].value, w >> 30 == 1 ? 8 : 4);
	} else if (kind == 5) {
		lift_pair(w, in, out);
	} else if (kind == 7) {
		lift_single(w, in, out);
	} else if (bits(w, 26, 1)) { /* several vectors */
		forget(in, out);
		if (!bits(w, 22, 1))
			out->to = memory(bits(w, 5, 5), 0, STRUCTURES);
	} else { /* instructions that copy memory set flags */
		forget(in, out);
		out->flags = true;
	}
}

/* ---- others ----------------------------------------------------------- */

static void lift_system(uint32_t w, const struct code_insn *in, struct lift *out)
{
	bool hint = (w & 0xfffff01f) == 0xd503201f, barrier = (w & 0xfffff01f) == 0xd503301f;

	forget(in, out);
	out->flags = !hint && !barrier && in->op != CODE_THREAD;
	if ((w & 0xff000000) == 0xd4000000) /* svc: the system call's result */
		out->forgets |= 1;
}

/* Scalable vectors. The stack pointer changes by their length. */
static void lift_scalable(uint32_t w, const struct code_insn *in, struct lift *out)
{
	forget(in, out);
	out->flags = true;
	if ((w & 0xffa0f81f) == 0x0420501f)
		out->forgets |= 1u << CODE_REG_SP;
}

/* fcmp, fccmp */
static bool compares_floats(uint32_t w)
{
	return (w & 0x5f200000) == 0x1e200000 && (bits(w, 10, 2) == 1 || bits(w, 10, 6) == 8);
}

void lift__aarch64(uint32_t word, const struct code_insn *in, struct lift *out)
{
	*out = (struct lift){.op = LIFT_NONE};
	if (in->flow == FLOW_CALL) {
		out->op = LIFT_CALL;
	} else if (bits(word, 26, 3) == 4) {
		lift_immediate(word, in, out);
	} else if (bits(word, 26, 3) == 5) {
		lift_system(word, in, out);
	} else if (bits(word, 25, 1) == 0 && bits(word, 27, 1)) {
		lift_memory(word, in, out);
	} else if (bits(word, 25, 3) == 5) {
		lift_registers(word, in, out);
	} else if (bits(word, 25, 3) == 7) {
		forget(in, out);
		out->flags = compares_floats(word);
	} else if (bits(word, 25, 4) == 2) {
		lift_scalable(word, in, out);
	} else {
		*out = (struct lift){.op = LIFT_FORGET, .forgets = UINT32_MAX, .flags = true};
	}
}
