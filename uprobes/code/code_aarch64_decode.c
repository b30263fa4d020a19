// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decodes aarch64 instructions by their bits; the encodings are regular. Registers have the processor's
 * numbers, as in cookies.
 */
#include "uprobes/code/code_aarch64.h"

#include "bpf/abi/cookie.h"

#define CALL_CHANGES 0x4007ffffu /* x0 to x18, x30 */

static uint32_t bits(uint32_t word, int from, int count)
{
	return word >> from & ((1u << count) - 1);
}

static int64_t extended(uint32_t word, int from, int count)
{
	int64_t value = (int64_t)bits(word, from, count);

	return value - (value >> (count - 1) << count);
}

static uint8_t reg_or_zero(uint32_t n)
{
	return n == 31 ? CODE_REG_ZERO : (uint8_t)n;
}

static void set_reg(struct code_operand *o, uint8_t reg, bool wide)
{
	*o = (struct code_operand){.type = OPERAND_REG, .reg = reg, .index = CODE_REG_NONE, .wide = wide};
	o->raw = (uint16_t)(reg * 2 + wide);
}

static void set_value(struct code_operand *o, int64_t value)
{
	*o = (struct code_operand){.type = OPERAND_VALUE,
				   .reg = CODE_REG_NONE,
				   .index = CODE_REG_NONE,
				   .value = value};
}

static void set_memory(struct code_operand *o, uint8_t base, uint8_t index, int64_t value)
{
	*o = (struct code_operand){
		.type = OPERAND_MEMORY, .reg = base, .index = index, .raw = base, .value = value};
}

static void add_write(struct code_insn *out, uint32_t reg)
{
	if (reg < 31)
		out->writes |= 1u << reg;
}

/* The stack pointer goes down by `by`, or gets a new value that is not known. */
static void move_stack(struct code_insn *out, int64_t by)
{
	out->writes |= 1u << CODE_REG_SP;
	out->stack = by > -65536 && by < 65536 ? (int32_t)by : CODE_STACK_UNKNOWN;
}

static void jump_to(struct code_insn *out, enum code_flow flow, int64_t words)
{
	out->flow = (uint8_t)flow;
	out->target = out->address + (uint64_t)(words * 4);
	out->emulated = true;
	set_value(&out->operand[0], (int64_t)out->target);
	out->operand_count = 1;
}

/* br, blr, ret. The kernel does not probe the variants that authenticate. */
static void decode_through_register(uint32_t w, struct code_insn *out)
{
	switch (bits(w, 21, 4) & 3) {
	case 0:
		out->flow = FLOW_JUMP;
		break;
	case 1:
		out->flow = FLOW_CALL;
		break;
	case 2:
		out->flow = FLOW_RETURN;
		break;
	default:
		out->flow = FLOW_STOP;
		break;
	}
	if (bits(w, 21, 4) >= 4 && bits(w, 21, 4) < 8) /* eret, drps */
		out->flow = FLOW_STOP;
	out->emulated = (w & 0xff9ffc1f) == 0xd61f0000 && out->flow != FLOW_STOP;
	out->refused = !out->emulated;
	if (out->flow != FLOW_RETURN) {
		set_reg(&out->operand[0], reg_or_zero(bits(w, 5, 5)), true);
		out->operand_count = 1;
	}
}

/*
 * The hints that the kernel can single-step (arch/arm64/kernel/probes/decode-insn.c). It refuses the
 * others.
 */
static bool is_stepped_hint(uint32_t number)
{
	switch (number) {
	case 0:	 /* nop */
	case 7:	 /* xpaclri */
	case 8:	 /* pacia1716 */
	case 10: /* pacib1716 */
	case 24: /* paciaz */
	case 25: /* paciasp */
	case 26: /* pacibz */
	case 27: /* pacibsp */
	case 32: /* bti, in its four forms */
	case 34:
	case 36:
	case 38:
		return true;
	default:
		return false;
	}
}

static void decode_system(uint32_t w, struct code_insn *out)
{
	if ((w & 0xff000000) == 0xd4000000) { /* exceptions */
		out->refused = true;
		out->flow = bits(w, 21, 3) == 1 || bits(w, 21, 3) == 2 ? FLOW_STOP : FLOW_NEXT;
		return;
	}
	if ((w & 0xfffff01f) == 0xd503201f) {
		out->refused = !is_stepped_hint(bits(w, 5, 7));
		if (bits(w, 5, 7) == 7 ||
		    (bits(w, 5, 7) >= 24 && bits(w, 5, 7) <= 31)) /* paciasp and similar */
			add_write(out, AARCH64_LINK);
		return;
	}
	if ((w & 0xfff00000) == 0xd5300000) {		       /* mrs */
		out->refused = (w & 0xffffffe0) == 0xd53b4220; /* of the interrupt mask */
		add_write(out, bits(w, 0, 5));
		if ((w & 0xffffffe0) == 0xd53bd040) {
			out->op = CODE_THREAD;
			set_reg(&out->operand[0], reg_or_zero(bits(w, 0, 5)), true);
			out->operand_count = 1;
		}
		return;
	}
	if ((w & 0xfff00000) == 0xd5100000 || (w & 0xfff8f01f) == 0xd500401f) /* msr */
		out->refused = true;
	else if ((w & 0xfff80000) == 0xd5280000) /* sysl */
		add_write(out, bits(w, 0, 5));
}

static void decode_branch(uint32_t w, struct code_insn *out)
{
	if ((w & 0x7c000000) == 0x14000000) {
		jump_to(out, w >> 31 ? FLOW_CALL : FLOW_JUMP, extended(w, 0, 26));
	} else if ((w & 0xff000000) == 0x54000000) {
		jump_to(out, bits(w, 1, 3) == 7 ? FLOW_JUMP : FLOW_BRANCH, extended(w, 5, 19));
		out->test = (uint16_t)bits(w, 0, 4);
		out->emulated = !bits(w, 4, 1);
	} else if ((w & 0x7e000000) == 0x34000000) {
		jump_to(out, FLOW_BRANCH, extended(w, 5, 19));
		out->test = (uint16_t)cookie__register_test(bits(w, 0, 5),
							    w >> 31 ? COOKIE_TEST_64 : COOKIE_TEST_32,
							    bits(w, 24, 1));
	} else if ((w & 0x7e000000) == 0x36000000) {
		jump_to(out, FLOW_BRANCH, extended(w, 5, 14));
		out->test = (uint16_t)cookie__register_test(bits(w, 0, 5), w >> 31 << 5 | bits(w, 19, 5),
							    bits(w, 24, 1));
	} else if ((w & 0xfe000000) == 0xd6000000) {
		decode_through_register(w, out);
	} else {
		decode_system(w, out);
	}
	if (out->flow == FLOW_CALL)
		out->writes = CALL_CHANGES;
}

/* adr, adrp */
static void decode_address(uint32_t w, struct code_insn *out)
{
	uint32_t rd = bits(w, 0, 5);
	bool pages = w >> 31;
	int64_t distance = extended(w, 5, 19) * 4 + bits(w, 29, 2);
	uint64_t from = pages ? out->address & ~0xfffull : out->address;
	struct code_operand *o = out->operand;

	add_write(out, rd);
	out->op = CODE_ADDRESS;
	out->emulated = true;
	set_reg(&o[0], reg_or_zero(rd), true);
	set_memory(&o[1], CODE_REG_PC, CODE_REG_NONE,
		   (int64_t)(from + (uint64_t)(pages ? distance * 4096 : distance)));
	out->operand_count = 2;
}

/* add, sub */
static void decode_sum(uint32_t w, struct code_insn *out)
{
	uint32_t rd = bits(w, 0, 5), rn = bits(w, 5, 5);
	int64_t value = (int64_t)bits(w, 10, 12) << (bits(w, 22, 1) ? 12 : 0);
	bool wide = w >> 31, subtracts = bits(w, 30, 1), sets_flags = bits(w, 29, 1);
	struct code_operand *o = out->operand;

	if (sets_flags && rd == 31) {
		out->op = subtracts ? CODE_COMPARE : CODE_OTHER;
		set_reg(&o[0], rn == 31 ? CODE_REG_SP : (uint8_t)rn, wide);
		set_value(&o[1], value);
		out->operand_count = 2;
		return;
	}
	add_write(out, rd);
	set_reg(&o[0], rd == 31 ? CODE_REG_SP : (uint8_t)rd, wide);
	if (rd == 31)
		move_stack(out, rn == 31 ? (subtracts ? value : -value) : INT64_MAX);
	if (!value && !sets_flags) {
		out->op = CODE_COPY;
		set_reg(&o[1], rn == 31 ? CODE_REG_SP : (uint8_t)rn, wide);
		out->operand_count = 2;
		return;
	}
	out->op = subtracts ? CODE_SUB : CODE_ADD;
	set_value(&o[1], value);
	set_reg(&o[2], rn == 31 ? CODE_REG_SP : (uint8_t)rn, wide);
	out->operand_count = 3;
}

static void decode_immediate(uint32_t w, struct code_insn *out)
{
	uint32_t rd = bits(w, 0, 5), rn = bits(w, 5, 5), kind = bits(w, 23, 3);
	bool wide = w >> 31, sets_flags = kind == 4 && bits(w, 29, 2) == 3;
	struct code_operand *o = out->operand;

	if (kind <= 1) {
		decode_address(w, out);
		return;
	}
	if (kind == 2) {
		decode_sum(w, out);
		return;
	}
	if (rd == 31 && kind == 4 && !sets_flags)
		move_stack(out, INT64_MAX);
	add_write(out, rd);
	if (sets_flags && rd == 31) {
		out->op = CODE_TEST;
		set_reg(&o[0], reg_or_zero(rn), wide);
		out->operand_count = 1;
	} else if (kind == 5 && bits(w, 29, 2) != 3) { /* movz, movn */
		uint64_t value = (uint64_t)bits(w, 5, 16) << 16 * bits(w, 21, 2);

		value = bits(w, 29, 2) == 0 ? ~value : value;
		out->op = CODE_COPY;
		set_reg(&o[0], reg_or_zero(rd), wide);
		set_value(&o[1], (int64_t)(wide ? value : (uint32_t)value));
		out->operand_count = 2;
	}
}

static void decode_registers(uint32_t w, struct code_insn *out)
{
	uint32_t rd = bits(w, 0, 5), rn = bits(w, 5, 5), rm = bits(w, 16, 5);
	bool wide = w >> 31, unshifted = !bits(w, 10, 6) && !bits(w, 22, 2);
	struct code_operand *o = out->operand;

	if ((w & 0x1fe00000) == 0x1a400000) /* ccmp */
		return;
	add_write(out, rd);
	if ((w & 0x7fff0fe0) == 0x1a9f07e0) { /* cset */
		out->op = bits(w, 12, 4) == 1 ? CODE_IF_EQUAL : CODE_OTHER;
		set_reg(&o[0], reg_or_zero(rd), wide);
		out->operand_count = 1;
		return;
	}
	if ((w & 0x1f000000) == 0x0a000000) { /* and, orr, eor, ands */
		uint32_t kind = bits(w, 29, 2);

		if (bits(w, 21, 1)) /* with the complement */
			return;
		if (kind == 1 && rn == 31 && unshifted) {
			out->op = CODE_COPY;
			set_reg(&o[0], reg_or_zero(rd), wide);
			set_reg(&o[1], reg_or_zero(rm), wide);
			out->operand_count = 2;
		} else if ((kind == 3 && rd == 31) || kind == 2) {
			out->op = kind == 2 ? CODE_XOR : CODE_TEST;
			set_reg(&o[0], reg_or_zero(kind == 2 ? rd : rn), wide);
			set_reg(&o[1], reg_or_zero(rm), wide);
			set_reg(&o[2], reg_or_zero(rn), wide);
			out->operand_count = kind == 2 ? 3 : 2;
		}
		return;
	}
	if ((w & 0x1f000000) == 0x0b000000) { /* add, sub: shifted, or extended with a stack pointer */
		bool subtracts = bits(w, 30, 1), sets_flags = bits(w, 29, 1), with_sp = bits(w, 21, 1);

		if (sets_flags && rd == 31) {
			out->op = subtracts ? CODE_COMPARE : CODE_OTHER;
			set_reg(&o[0], rn == 31 && with_sp ? CODE_REG_SP : reg_or_zero(rn), wide);
			set_reg(&o[1], reg_or_zero(rm), wide);
			out->operand_count = 2;
		} else if (with_sp && rd == 31) {
			move_stack(out, INT64_MAX);
		} else if (unshifted && !with_sp) {
			out->op = subtracts ? CODE_SUB : CODE_ADD;
			set_reg(&o[0], reg_or_zero(rd), wide);
			set_reg(&o[1], reg_or_zero(rm), wide);
			set_reg(&o[2], reg_or_zero(rn), wide);
			out->operand_count = 3;
		}
	}
}

/* ldxr, stxr, ldar, stlr, cas and their relatives */
static void decode_exclusive(uint32_t w, struct code_insn *out)
{
	bool loads = bits(w, 22, 1), ordered = bits(w, 23, 1), odd = bits(w, 21, 1);

	out->refused = !ordered;		   /* the kernel treats the pairs of cas as exclusive, too */
	if (odd && (ordered || !bits(w, 31, 1))) { /* cas, casp */
		add_write(out, bits(w, 16, 5));
		if (!ordered)
			add_write(out, bits(w, 16, 5) | 1);
		out->lock = true;
		return;
	}
	if (loads) {
		add_write(out, bits(w, 0, 5));
		if (odd)
			add_write(out, bits(w, 10, 5));
	} else if (!ordered) {
		add_write(out, bits(w, 16, 5));
	}
	out->lock = !ordered;
	out->id = ordered ? SEQUENCE_NONE : loads ? SEQUENCE_LOAD : SEQUENCE_STORE;
}

static void base_written(struct code_insn *out, uint32_t rn, int64_t by)
{
	if (rn == 31)
		move_stack(out, -by);
	else
		add_write(out, rn);
}

/* Operands of a load or store of one register, or the first of two. */
static void set_move(struct code_insn *out, bool loads, uint32_t rt, bool wide,
		     const struct code_operand *memory)
{
	struct code_operand *o = out->operand;

	out->op = CODE_COPY;
	out->operand_count = 2;
	set_reg(&o[!loads], reg_or_zero(rt), wide);
	o[loads] = *memory;
}

static void decode_pair(uint32_t w, struct code_insn *out)
{
	uint32_t rt = bits(w, 0, 5), rn = bits(w, 5, 5), rt2 = bits(w, 10, 5), mode = bits(w, 23, 2),
		 opc = w >> 30;
	bool vector = bits(w, 26, 1), loads = bits(w, 22, 1);
	int64_t scale = vector ? 4 << opc : opc & 2 ? 8 : 4, by = extended(w, 15, 7) * scale;
	struct code_operand memory;

	if (mode == 1 || mode == 3)
		base_written(out, rn, by);
	if (vector)
		return;
	if (loads) {
		add_write(out, rt);
		add_write(out, rt2);
	}
	if (opc == 1) /* ldpsw, stgp */
		return;
	set_memory(&memory, rn == 31 ? CODE_REG_SP : (uint8_t)rn, CODE_REG_NONE,
		   mode == 2 || mode == 0 ? by : 0);
	set_move(out, loads, rt, opc == 2, &memory);
	out->pair = true;
	out->pair_reg = reg_or_zero(rt2);
}

static void decode_single(uint32_t w, struct code_insn *out)
{
	uint32_t rt = bits(w, 0, 5), rn = bits(w, 5, 5), size = w >> 30, opc = bits(w, 22, 2),
		 mode = bits(w, 10, 2);
	bool vector = bits(w, 26, 1), scaled = bits(w, 24, 1);
	uint8_t base = rn == 31 ? CODE_REG_SP : (uint8_t)rn;
	struct code_operand memory;

	if (!scaled && bits(w, 21, 1) && mode == 0) { /* ldadd, swp, ... */
		add_write(out, rt);
		out->lock = true;
		return;
	}
	if (scaled)
		set_memory(&memory, base, CODE_REG_NONE, (int64_t)bits(w, 10, 12) << size);
	else if (bits(w, 21, 1))
		set_memory(&memory, base, reg_or_zero(bits(w, 16, 5)), 0);
	else
		set_memory(&memory, base, CODE_REG_NONE, mode & 1 ? 0 : extended(w, 12, 9));
	if (!scaled && !bits(w, 21, 1) && mode & 1)
		base_written(out, rn, extended(w, 12, 9));
	else if (!scaled && bits(w, 21, 1) && mode != 2) /* with authentication */
		base_written(out, rn, INT64_MAX);
	if (vector || (size == 3 && opc == 2)) /* prfm */
		return;
	if (opc)
		add_write(out, rt);
	set_move(out, opc != 0, rt, size == 3, &memory);
	if (size < 2 || opc > 1)
		out->op = CODE_OTHER;
}

static void decode_memory(uint32_t w, struct code_insn *out)
{
	uint32_t kind = bits(w, 27, 3);

	if ((w & 0x3f000000) == 0x08000000) {
		decode_exclusive(w, out);
	} else if (kind == 3 && !bits(w, 24, 2)) { /* literals */
		bool general = !bits(w, 26, 1) && w >> 30 != 3;
		struct code_operand memory;

		out->emulated = general;
		out->refused = !general;
		set_memory(&memory, CODE_REG_PC, CODE_REG_NONE,
			   (int64_t)(out->address + (uint64_t)(extended(w, 5, 19) * 4)));
		if (general) {
			add_write(out, bits(w, 0, 5));
			set_move(out, true, bits(w, 0, 5), w >> 30 == 1, &memory);
		}
	} else if (kind == 5) {
		decode_pair(w, out);
	} else if (kind == 7) {
		decode_single(w, out);
	} else if (bits(w, 26, 1)) { /* several vectors */
		if (bits(w, 23, 1))
			base_written(out, bits(w, 5, 5), INT64_MAX);
	} else { /* ordered, tagged, copying: all registers that they could change */
		add_write(out, bits(w, 0, 5));
		add_write(out, bits(w, 16, 5));
		base_written(out, bits(w, 5, 5), INT64_MAX);
	}
}

/* General registers that vector and floating-point instructions change. */
static void decode_vector(uint32_t w, struct code_insn *out)
{
	bool converts = (w & 0x5f20fc00) == 0x1e200000 && (bits(w, 16, 3) & 2) == 0;
	bool moves = (w & 0x5f20fc00) == 0x1e200000 && bits(w, 16, 3) == 6;
	bool fixed = (w & 0x5f200000) == 0x1e000000 && bits(w, 16, 3) < 2;
	bool element = (w & 0xbfe0ec00) == 0x0e002c00;

	if (converts || moves || fixed || element)
		add_write(out, bits(w, 0, 5));
}

void aarch64__decode(uint32_t w, struct code_insn *out)
{
	out->plain = true;
	if (bits(w, 25, 4) == 0) { /* udf; matrices */
		out->flow = w >> 16 ? FLOW_NEXT : FLOW_STOP;
		out->plain = false;
	} else if (bits(w, 26, 3) == 4) {
		decode_immediate(w, out);
	} else if (bits(w, 26, 3) == 5) {
		decode_branch(w, out);
	} else if (bits(w, 25, 1) == 0 && bits(w, 27, 1)) {
		decode_memory(w, out);
	} else if (bits(w, 25, 3) == 5) {
		decode_registers(w, out);
	} else if (bits(w, 25, 3) == 7) {
		decode_vector(w, out);
	} else { /* scalable vectors: some of them count into a general register */
		add_write(out, bits(w, 0, 5));
	}
}
