// SPDX-License-Identifier: BSD-2-Clause
/*
 * Follows the code after the two calls in straight line. For each register and stack slot it keeps what the
 * value can be in terms of N and T.
 */
#include "uprobes/symbolize/static_loop.h"

#include <capstone/capstone.h>

#include <stdbool.h>
#include <string.h>

#define BETWEEN_MAX 8 /* the most instructions between the two calls */
#define FOLLOW_MAX 400
#define REGISTERS 16
#define SLOTS 48

enum value {
	FREE, /* depends on neither */
	IS_N,
	IS_T,
	OF_N,	  /* a * N + b */
	OF_T,	  /* a * T + b */
	OF_BOTH,  /* a * N + b * T + c */
	QUOTIENT, /* a free value divided by N */
	REMAINDER,
	OTHER,
};

struct slot {
	uint16_t base;
	int64_t offset;
	uint8_t value;
};

struct follow {
	csh capstone;
	cs_insn *in;
	const uint8_t *code; /* the rest of the code */
	size_t size;
	uint64_t address;
	const uint8_t *all;
	size_t all_size;
	uint64_t all_address;
	uint8_t regs[REGISTERS];
	struct slot slots[SLOTS];
	size_t slot_count;
	uint8_t high;		/* ah holds the remainder of a division of bytes */
	uint8_t left, right;	/* operands of the last comparison */
	bool compared, stepped; /* N was added to or multiplied with something */
	bool asked;		/* the loop's condition was seen */
	uint64_t second;
};

enum { RAX = 0, RCX = 1, RDX = 2, RSI = 6, RDI = 7, R8 = 8, R11 = 11 }; /* numbers of the processor */

static int number(unsigned reg)
{
	static const uint16_t names[8][4] = {
		{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
		{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
		{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
		{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
		{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
		{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
		{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
		{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
	};
	static const uint16_t first[4] = {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B};

	for (int i = 0; i < 4; i++)
		if (reg >= first[i] && reg < first[i] + 8u)
			return R8 + (int)(reg - first[i]);
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 4; k++)
			if (names[i][k] == reg)
				return i;
	return -1;
}

static bool is_slot(const cs_x86_op *op)
{
	return op->type == X86_OP_MEM && op->mem.index == X86_REG_INVALID &&
	       (op->mem.base == X86_REG_RSP || op->mem.base == X86_REG_RBP);
}

static struct slot *slot_of(struct follow *f, const cs_x86_op *op)
{
	for (size_t i = 0; i < f->slot_count; i++)
		if (f->slots[i].base == op->mem.base && f->slots[i].offset == op->mem.disp)
			return &f->slots[i];
	return NULL;
}

static uint8_t value_of(struct follow *f, const cs_x86_op *op)
{
	struct slot *slot;
	int r;

	if (op->type == X86_OP_REG && op->reg == X86_REG_AH)
		return f->high;
	if (op->type == X86_OP_REG)
		return (r = number(op->reg)) >= 0 ? f->regs[r] : FREE;
	if (is_slot(op) && (slot = slot_of(f, op)))
		return slot->value;
	return FREE;
}

static void set(struct follow *f, const cs_x86_op *op, uint8_t value)
{
	struct slot *slot;
	int r;

	if (op->type == X86_OP_REG) {
		if ((r = number(op->reg)) >= 0)
			f->regs[r] = value;
	} else if (is_slot(op)) {
		slot = slot_of(f, op);
		if (!slot && value != FREE && f->slot_count < SLOTS) {
			slot = &f->slots[f->slot_count++];
			slot->base = (uint16_t)op->mem.base;
			slot->offset = op->mem.disp;
		}
		if (slot)
			slot->value = value;
	}
}

static bool of_n(uint8_t v)
{
	return v == IS_N || v == OF_N || v == OF_BOTH;
}

static bool of_t(uint8_t v)
{
	return v == IS_T || v == OF_T || v == OF_BOTH;
}

static uint8_t linear(bool n, bool t)
{
	return n && t ? OF_BOTH : n ? OF_N : t ? OF_T : FREE;
}

static uint8_t sum(struct follow *f, uint8_t a, uint8_t b)
{
	if (a >= QUOTIENT || b >= QUOTIENT)
		return OTHER;
	f->stepped |= (of_n(a) || of_n(b)) && (of_t(a) || of_t(b) || a == b);
	return linear(of_n(a) || of_n(b), of_t(a) || of_t(b));
}

static uint8_t product(struct follow *f, uint8_t a, uint8_t b)
{
	if (a >= QUOTIENT || b >= QUOTIENT || (a != FREE && b != FREE))
		return a == FREE && b == FREE ? FREE : OTHER;
	f->stepped |= of_n(a) || of_n(b);
	return linear(of_n(a) || of_n(b), of_t(a) || of_t(b));
}

static uint8_t address_value(struct follow *f, const cs_x86_op *op)
{
	int base = number(op->mem.base), index = number(op->mem.index);
	uint8_t b = base >= 0 ? f->regs[base] : FREE, i = index >= 0 ? f->regs[index] : FREE;

	if (op->mem.scale > 1)
		i = product(f, i, FREE);
	if (b == FREE && i == FREE)
		return FREE;
	if (index < 0 && op->mem.disp == 0)
		return b;
	return sum(f, b, i);
}

static bool is_relation(unsigned id)
{
	switch (id) {
	case X86_INS_JE:
	case X86_INS_JNE:
	case X86_INS_CMOVE:
	case X86_INS_CMOVNE:
	case X86_INS_SETE:
	case X86_INS_SETNE:
		return false;
	default:
		return true;
	}
}

static bool begins(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

/* An instruction uses the flags of a comparison. Tells whether that is one of the two conditions. */
static enum static_loop condition(struct follow *f, bool jump)
{
	uint8_t a = f->left, b = f->right;

	if (!f->compared || !is_relation(f->in->id))
		return STATIC_LOOP_NONE;
	if ((a == IS_T && b == REMAINDER) || (a == REMAINDER && b == IS_T))
		return STATIC_LOOP_BLOCK;
	if (jump && ((of_t(a) && b == FREE) || (of_t(b) && a == FREE)))
		f->asked = true;
	return STATIC_LOOP_NONE;
}

/* False: a division shows that the code is something else. */
static bool divide(struct follow *f, const cs_x86_op *by)
{
	uint8_t divisor = value_of(f, by);
	bool free = f->regs[RAX] == FREE;

	if (divisor == IS_N && !free)
		return false;
	f->regs[RAX] = divisor == IS_N ? QUOTIENT : divisor == FREE && free ? FREE : OTHER;
	*(by->size == 1 ? &f->high : &f->regs[RDX]) = divisor == IS_N ? REMAINDER : f->regs[RAX];
	return true;
}

static void compute(struct follow *f, const cs_x86 *x)
{
	const cs_x86_op *to = &x->operands[0], *from = &x->operands[1];
	uint8_t a = x->op_count > 0 ? value_of(f, to) : FREE, b = x->op_count > 1 ? value_of(f, from) : FREE;

	switch (f->in->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVSXD:
	case X86_INS_MOVSX:
	case X86_INS_MOVZX:
		set(f, to, b);
		break;
	case X86_INS_LEA:
		set(f, to, address_value(f, from));
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
		set(f, to, a == FREE && b == FREE ? FREE : sum(f, a, b));
		break;
	case X86_INS_INC:
	case X86_INS_DEC:
		set(f, to, sum(f, a, FREE));
		break;
	case X86_INS_XOR:
		set(f, to, FREE);
		break;
	case X86_INS_IMUL:
		if (x->op_count == 3)
			set(f, to, product(f, b, value_of(f, &x->operands[2])));
		else if (x->op_count == 2)
			set(f, to, product(f, a, b));
		else
			f->regs[RAX] = f->regs[RDX] = f->regs[RAX] == FREE && a == FREE ? FREE : OTHER;
		break;
	case X86_INS_MUL:
		f->regs[RAX] = f->regs[RDX] = f->regs[RAX] == FREE && a == FREE ? FREE : OTHER;
		break;
	case X86_INS_SHL:
		set(f, to, product(f, a, FREE));
		break;
	case X86_INS_CDQ:
	case X86_INS_CQO:
		f->regs[RDX] = f->regs[RAX] == FREE ? FREE : OTHER;
		break;
	case X86_INS_CDQE: /* eax and rax are the same here */
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
	case X86_INS_PUSH:
		break;
	case X86_INS_XCHG:
		set(f, to, b);
		set(f, from, a);
		break;
	default:
		if (begins(f->in->mnemonic, "cmov"))
			set(f, to, a == b ? a : OTHER);
		else if (x->op_count > 0)
			set(f, to, a == FREE && b == FREE ? FREE : OTHER);
		break;
	}
}

static bool next(struct follow *f)
{
	return cs_disasm_iter(f->capstone, &f->code, &f->size, &f->address, f->in);
}

static bool go_to(struct follow *f, uint64_t address)
{
	if (address < f->all_address || address - f->all_address >= f->all_size)
		return false;
	f->code = f->all + (address - f->all_address);
	f->size = f->all_size - (address - f->all_address);
	f->address = address;
	return true;
}

static bool is_call(const cs_insn *in)
{
	return in->id == X86_INS_CALL;
}

/* Operations that may compute the loop's bounds between the two calls. */
static bool is_arithmetic(unsigned id)
{
	switch (id) {
	case X86_INS_MOV:
	case X86_INS_MOVSXD:
	case X86_INS_CDQE:
	case X86_INS_LEA:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_IMUL:
	case X86_INS_SHL:
	case X86_INS_XOR:
	case X86_INS_NOP:
		return true;
	default:
		return false;
	}
}

/* Finds the call of omp_get_thread_num: the next call, with no decision and no effect before it. */
static bool find_second(struct follow *f)
{
	for (int i = 0; i < BETWEEN_MAX && next(f); i++) {
		const cs_x86 *x = &f->in->detail->x86;

		if (is_call(f->in)) {
			f->second = f->address;
			return x->operands[0].type != X86_OP_REG;
		}
		if (!is_arithmetic(f->in->id))
			return false;
		if (x->op_count && x->operands[0].type == X86_OP_MEM && !is_slot(&x->operands[0]))
			return false;
		compute(f, x);
	}
	return false;
}

static void forget_after_call(struct follow *f)
{
	f->regs[RAX] = f->regs[RCX] = f->regs[RDX] = f->regs[RSI] = f->regs[RDI] = FREE;
	for (int r = R8; r <= R11; r++)
		f->regs[r] = FREE;
	f->compared = false;
}

static enum static_loop follow(struct follow *f)
{
	for (int i = 0; i < FOLLOW_MAX && next(f); i++) {
		const cs_x86 *x = &f->in->detail->x86;
		const char *name = f->in->mnemonic;
		enum static_loop found;

		if (is_call(f->in)) {
			if (!f->asked) /* neither loop has a call before its condition */
				return STATIC_LOOP_NONE;
			forget_after_call(f);
		} else if (f->in->id == X86_INS_JMP) {
			/* Before the condition, follows the jump; after it, follows the order of the code. */
			if (!f->asked &&
			    (x->operands[0].type != X86_OP_IMM || !go_to(f, (uint64_t)x->operands[0].imm)))
				return STATIC_LOOP_NONE;
		} else if (name[0] == 'j' || begins(name, "set") || begins(name, "cmov")) {
			found = condition(f, name[0] == 'j');
			if (found != STATIC_LOOP_NONE)
				return found;
			if (name[0] != 'j')
				compute(f, x);
		} else if (f->in->id == X86_INS_CMP) {
			f->left = value_of(f, &x->operands[0]);
			f->right = value_of(f, &x->operands[1]);
			f->compared = true;
		} else if (f->in->id == X86_INS_TEST) {
			f->compared = false;
		} else if (f->in->id == X86_INS_DIV || f->in->id == X86_INS_IDIV) {
			if (!divide(f, &x->operands[0]) || (f->asked && f->regs[RAX] == QUOTIENT))
				return STATIC_LOOP_NONE;
		} else if (f->in->id == X86_INS_RET) {
			if (!f->asked)
				return STATIC_LOOP_NONE;
		} else {
			compute(f, x);
			if (f->in->id != X86_INS_MOV && f->in->id != X86_INS_LEA &&
			    f->in->id != X86_INS_MOVSXD && f->in->id != X86_INS_MOVZX)
				f->compared = false;
		}
		if (f->asked && f->stepped)
			return STATIC_LOOP_CHUNKED;
	}
	return STATIC_LOOP_NONE;
}

static enum static_loop decide(const uint8_t *code, size_t size, uint64_t address, uint64_t after_call,
			       uint64_t *second)
{
	struct follow f = {.all = code, .all_size = size, .all_address = address};
	enum static_loop found = STATIC_LOOP_NONE;

	if (!go_to(&f, after_call) || cs_open(CS_ARCH_X86, CS_MODE_64, &f.capstone) != CS_ERR_OK)
		return STATIC_LOOP_NONE;
	cs_option(f.capstone, CS_OPT_DETAIL, CS_OPT_ON);
	f.in = cs_malloc(f.capstone);
	f.regs[RAX] = IS_N;
	if (f.in && find_second(&f)) {
		forget_after_call(&f);
		f.regs[RAX] = IS_T;
		found = follow(&f);
	}
	*second = f.second;
	if (f.in)
		cs_free(f.in, 1);
	cs_close(&f.capstone);
	return found;
}

enum static_loop static_loop__at(const uint8_t *code, size_t size, uint64_t address, uint64_t after_call)
{
	uint64_t second;

	return decide(code, size, address, after_call, &second);
}

uint64_t static_loop__second_call(const uint8_t *code, size_t size, uint64_t address, uint64_t after_call)
{
	uint64_t second = 0;

	return decide(code, size, address, after_call, &second) != STATIC_LOOP_NONE ? second : 0;
}
