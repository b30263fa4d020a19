// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/loop_lift.h"

#include "bpf/abi/cookie.h"

#define LOWER_HALF 4 /* a part of a register with at least this many bytes counts as the whole register */

static uint8_t reg_of(unsigned reg)
{
	static const struct {
		uint16_t first[4]; /* 64, 32, 16 and 8 bits */
		uint8_t reg;
	} general[] = {
		{{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL}, COOKIE_RAX},
		{{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL}, COOKIE_RBX},
		{{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL}, COOKIE_RCX},
		{{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL}, COOKIE_RDX},
		{{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL}, COOKIE_RSI},
		{{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL}, COOKIE_RDI},
		{{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL}, COOKIE_RBP},
		{{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL}, CODE_REG_SP},
		{{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B}, COOKIE_R8},
		{{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B}, COOKIE_R9},
		{{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B}, COOKIE_R10},
		{{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B}, COOKIE_R11},
		{{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B}, COOKIE_R12},
		{{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B}, COOKIE_R13},
		{{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B}, COOKIE_R14},
		{{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}, COOKIE_R15},
	};

	if (reg == X86_REG_RIP)
		return CODE_REG_PC;
	if (reg == X86_REG_AH)
		return COOKIE_RAX;
	if (reg == X86_REG_BH)
		return COOKIE_RBX;
	if (reg == X86_REG_CH)
		return COOKIE_RCX;
	if (reg == X86_REG_DH)
		return COOKIE_RDX;
	if (reg == X86_REG_INVALID)
		return CODE_REG_NONE;
	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		for (size_t k = 0; k < 4; k++)
			if (general[i].first[k] == reg)
				return general[i].reg;
	return CODE_REG_OTHER;
}

static bool is_second_byte(unsigned reg)
{
	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH || reg == X86_REG_DH;
}

static bool has_second_byte(const cs_insn *in)
{
	for (uint8_t i = 0; i < in->detail->x86.op_count; i++)
		if (in->detail->x86.operands[i].type == X86_OP_REG &&
		    is_second_byte(in->detail->x86.operands[i].reg))
			return true;
	return false;
}

static struct lift_operand operand(const cs_insn *in, int i)
{
	const cs_x86_op *op = &in->detail->x86.operands[i];
	struct lift_operand out = {.reg = CODE_REG_NONE,
				   .index = CODE_REG_NONE,
				   .scale = 1,
				   .size = op->size};

	if (op->type == X86_OP_REG) {
		out.type = OPERAND_REG;
		out.reg = reg_of(op->reg);
	} else if (op->type == X86_OP_IMM) {
		out.type = OPERAND_VALUE;
		out.value = op->imm;
	} else if (op->type == X86_OP_MEM) {
		out.type = OPERAND_MEMORY;
		out.reg = op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS
				  ? CODE_REG_OTHER
				  : reg_of(op->mem.base);
		out.index = reg_of(op->mem.index);
		out.scale = (uint8_t)op->mem.scale;
		out.value = op->mem.disp;
		if (out.reg == CODE_REG_PC)
			out.value += (int64_t)(in->address + in->size);
	}
	return out;
}

static uint32_t written(csh capstone, const cs_insn *in)
{
	cs_regs reads, writes;
	uint8_t read_count = 0, write_count = 0;
	uint32_t mask = 0;

	if (cs_regs_access(capstone, in, reads, &read_count, writes, &write_count) != CS_ERR_OK)
		return UINT32_MAX;
	for (uint8_t i = 0; i < write_count; i++) {
		uint8_t reg = reg_of(writes[i]);

		if (reg <= CODE_REG_SP)
			mask |= 1u << reg;
	}
	return mask;
}

static bool is_conditional_move(unsigned id)
{
	switch (id) {
	case X86_INS_CMOVA:
	case X86_INS_CMOVAE:
	case X86_INS_CMOVB:
	case X86_INS_CMOVBE:
	case X86_INS_CMOVE:
	case X86_INS_CMOVG:
	case X86_INS_CMOVGE:
	case X86_INS_CMOVL:
	case X86_INS_CMOVLE:
	case X86_INS_CMOVNE:
	case X86_INS_CMOVS:
	case X86_INS_CMOVNS:
		return true;
	default:
		return false;
	}
}

static bool is_set_byte(unsigned id)
{
	switch (id) {
	case X86_INS_SETA:
	case X86_INS_SETAE:
	case X86_INS_SETB:
	case X86_INS_SETBE:
	case X86_INS_SETE:
	case X86_INS_SETG:
	case X86_INS_SETGE:
	case X86_INS_SETL:
	case X86_INS_SETLE:
	case X86_INS_SETNE:
	case X86_INS_SETS:
	case X86_INS_SETNS:
		return true;
	default:
		return false;
	}
}

/* Operations with two operands. The first operand gets the result. */
static uint8_t two_operand_op(unsigned id)
{
	switch (id) {
	case X86_INS_ADD:
		return LIFT_ADD;
	case X86_INS_SUB:
		return LIFT_SUBTRACT;
	case X86_INS_ADC:
		return LIFT_ADD_CARRY;
	case X86_INS_SBB:
		return LIFT_SUBTRACT_CARRY;
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_SAR:
	case X86_INS_SHR:
		return LIFT_OPERATION;
	default:
		return LIFT_NONE;
	}
}

static bool same_reg(const struct lift_operand *a, const struct lift_operand *b)
{
	return a->type == OPERAND_REG && b->type == OPERAND_REG && a->reg == b->reg;
}

static const struct lift_operand zero = {.type = OPERAND_VALUE,
					 .reg = CODE_REG_NONE,
					 .index = CODE_REG_NONE,
					 .size = 8};

static void arithmetic(const cs_insn *in, struct lift *out)
{
	int count = in->detail->x86.op_count;

	out->to = out->a = operand(in, 0);
	out->flags = true;
	switch (in->id) {
	case X86_INS_INC:
	case X86_INS_DEC:
		out->op = in->id == X86_INS_INC ? LIFT_ADD : LIFT_SUBTRACT;
		out->b = zero;
		out->b.value = 1;
		break;
	case X86_INS_NEG:
		out->op = LIFT_SUBTRACT;
		out->b = out->a;
		out->a = zero;
		break;
	case X86_INS_SHL:
	case X86_INS_SAL:
		out->b = count > 1 ? operand(in, 1) : zero;
		out->op = LIFT_OPERATION;
		out->id = X86_INS_SHL;
		if (count == 1 || (out->b.type == OPERAND_VALUE && out->b.value >= 0 && out->b.value < 32)) {
			out->op = LIFT_SHIFT;
			out->shift = count == 1 ? 1 : (uint8_t)out->b.value;
		}
		break;
	case X86_INS_IMUL:
		out->op = LIFT_MULTIPLY;
		out->a = operand(in, count == 3 ? 1 : 0);
		out->b = operand(in, count == 3 ? 2 : 1);
		break;
	default:
		out->op = two_operand_op(in->id);
		out->id = (uint16_t)in->id;
		out->b = count > 1 ? operand(in, 1) : zero;
		if (count == 1)
			out->b.value = 1;
		out->compares = in->id == X86_INS_SUB;
		out->flags = !out->compares;
		if (in->id == X86_INS_XOR && same_reg(&out->a, &out->b)) {
			out->op = LIFT_MOVE;
			out->a = zero;
		}
		break;
	}
}

/* The dividend of a division by 8 bits has 16 bits. What the register holds above these is not known. */
static void extend_dividend(struct lift *out)
{
	out->op = LIFT_EXTEND;
	out->id = X86_INS_CBW;
	out->to.size = LOWER_HALF;
}

static void move(const cs_insn *in, struct lift *out)
{
	out->op = LIFT_MOVE;
	out->to = operand(in, 0);
	out->a = operand(in, 1);
	if (out->a.size < LOWER_HALF && out->a.type != OPERAND_VALUE) {
		bool second = out->a.type == OPERAND_REG && is_second_byte(in->detail->x86.operands[1].reg),
		     lowest = in->id == X86_INS_MOVZX && out->a.size == 1 && out->a.type == OPERAND_REG &&
			      !second;

		out->op = lowest ? LIFT_LOWEST_BYTE : second ? LIFT_SECOND_BYTE : LIFT_EXTEND;
		out->id = X86_INS_MOVZX;
		out->b = zero;
		out->b.value = out->a.size;
		if (in->id == X86_INS_MOVSX && !second && out->to.size < LOWER_HALF)
			extend_dividend(out);
	}
}

static void lift_one(csh capstone, const cs_insn *in, struct lift *out)
{
	int count = in->detail->x86.op_count;

	switch (in->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVSXD:
	case X86_INS_MOVSX:
	case X86_INS_MOVZX:
		move(in, out);
		return;
	case X86_INS_LEA:
		out->op = LIFT_ADDRESS;
		out->to = operand(in, 0);
		out->a = operand(in, 1);
		return;
	case X86_INS_CDQE:
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
		return;
	case X86_INS_CBW:
		out->to = out->a = (struct lift_operand){.type = OPERAND_REG,
							 .reg = COOKIE_RAX,
							 .index = CODE_REG_NONE,
							 .size = 1};
		out->b = zero;
		out->b.value = 1;
		extend_dividend(out);
		return;
	case X86_INS_CDQ:
	case X86_INS_CQO:
		out->op = LIFT_FORGET;
		out->forgets = 1u << COOKIE_RDX;
		return;
	case X86_INS_DIV:
	case X86_INS_IDIV:
	case X86_INS_MUL:
		out->a = operand(in, 0);
		out->id = (uint16_t)in->id;
		out->flags = true;
		if (in->id != X86_INS_MUL && !has_second_byte(in)) {
			out->op = LIFT_DIVIDE;
			return;
		}
		if (in->id == X86_INS_MUL && out->a.size >= LOWER_HALF) {
			out->op = LIFT_WIDE_MULTIPLY;
			return;
		}
		break;
	case X86_INS_IMUL:
		if (count == 1) {
			out->op = LIFT_WIDE_MULTIPLY;
			out->id = (uint16_t)in->id;
			out->a = operand(in, 0);
			out->flags = true;
			return;
		}
		arithmetic(in, out);
		return;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_ADC:
	case X86_INS_SBB:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_NEG:
	case X86_INS_SHL:
	case X86_INS_SAL:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
		arithmetic(in, out);
		return;
	case X86_INS_CMP:
		out->op = LIFT_COMPARE;
		out->a = operand(in, 0);
		out->b = operand(in, 1);
		out->compares = true;
		return;
	case X86_INS_TEST:
		out->op = LIFT_COMPARE;
		out->a = operand(in, 0);
		out->b = operand(in, 1);
		out->compares = same_reg(&out->a, &out->b);
		out->flags = !out->compares;
		out->b = zero;
		return;
	case X86_INS_PUSH:
		out->op = LIFT_PUSH;
		out->a = operand(in, 0);
		return;
	case X86_INS_POP:
		out->op = LIFT_POP;
		out->to = operand(in, 0);
		return;
	case X86_INS_LEAVE:
		out->op = LIFT_LEAVE;
		return;
	case X86_INS_XCHG:
		out->op = LIFT_EXCHANGE;
		out->to = operand(in, 0);
		out->a = operand(in, 1);
		if (same_reg(&out->to, &out->a))
			out->op = LIFT_NONE;
		return;
	case X86_INS_CALL:
		out->op = LIFT_CALL;
		return;
	default:
		break;
	}
	if (is_conditional_move(in->id)) {
		out->op = LIFT_EITHER;
		out->to = out->a = operand(in, 0);
		out->b = operand(in, 1);
		return;
	}
	if (is_set_byte(in->id) && in->detail->x86.operands[0].type == X86_OP_REG &&
	    !is_second_byte(in->detail->x86.operands[0].reg)) {
		out->op = LIFT_CONDITION;
		out->to = out->a = operand(in, 0);
		out->to.size = 8; /* the whole register, of which one byte changes */
		return;
	}
	out->op = LIFT_FORGET;
	out->forgets = written(capstone, in);
	out->flags = in->detail->x86.eflags != 0;
	/* If it writes to memory of its own frame, that memory is forgotten, too. */
	if (count && in->detail->x86.operands[0].type == X86_OP_MEM &&
	    in->detail->x86.operands[0].access & CS_AC_WRITE)
		out->to = operand(in, 0);
}

void lift__x86_64(csh capstone, const cs_insn *in, struct lift *out)
{
	*out = (struct lift){.op = LIFT_NONE};
	lift_one(capstone, in, out);
	/* Parts of registers and of memory: the known value of the whole is lost. */
	if (out->op != LIFT_FORGET && out->to.type != OPERAND_NONE && out->to.size < LOWER_HALF) {
		uint8_t reg = out->to.type == OPERAND_REG ? out->to.reg : CODE_REG_NONE;

		out->op = LIFT_FORGET;
		out->forgets = reg <= CODE_REG_SP ? 1u << reg : 0;
	}
	/* The second byte of a register is not the register's value. */
	if (out->compares && (out->op != LIFT_COMPARE || has_second_byte(in)) && out->a.size < LOWER_HALF) {
		out->compares = false;
		out->flags = true;
		if (out->op == LIFT_COMPARE)
			out->op = LIFT_NONE;
	}
}
