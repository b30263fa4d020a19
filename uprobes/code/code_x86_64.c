// SPDX-License-Identifier: BSD-2-Clause
/* x86-64, and the System V calling convention. */
#include "uprobes/code/code_arch.h"

#include "bpf/abi/cookie.h"

#include <elf.h>

#define CALL_CHANGES                                                                                         \
	(1u << COOKIE_RAX | 1u << COOKIE_RCX | 1u << COOKIE_RDX | 1u << COOKIE_RSI | 1u << COOKIE_RDI |      \
	 1u << COOKIE_R8 | 1u << COOKIE_R9 | 1u << COOKIE_R10 | 1u << COOKIE_R11)

/*
 * Whether the kernel executes the instruction in the trap handler instead of single-stepping a copy
 * (arch/x86/kernel/uprobes.c: branch_setup_xol_ops, push_setup_xol_ops). It does for jcc, jmp and call with
 * a relative target, push of a register, and the one-byte nop.
 */
static bool is_emulated(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	if (bytes[0] >= 0x40 && bytes[0] <= 0x4f)
		at = 1;
	if (at >= size)
		return false;
	if (bytes[at] >= 0x50 && bytes[at] <= 0x57)
		return true;
	if (at == 1)
		return false;
	if (bytes[0] == 0x0f)
		return size > 1 && bytes[1] >= 0x80 && bytes[1] <= 0x8f;
	return bytes[0] == 0xeb || bytes[0] == 0xe9 || bytes[0] == 0xe8 || bytes[0] == 0x90 ||
	       (bytes[0] >= 0x70 && bytes[0] <= 0x7f);
}

/*
 * The kernel does not probe instructions with a prefix for one of these segments, or with lock
 * (is_prefix_bad).
 */
static bool is_refused(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		switch (bytes[i]) {
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			return true;
		case 0x64:
		case 0x65:
		case 0x66:
		case 0x67:
		case 0xf2:
		case 0xf3:
			break;
		default:
			return false;
		}
	return false;
}

static uint8_t reg_of(unsigned reg)
{
	static const struct {
		uint16_t names[4];
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
		{{X86_REG_RIP, X86_REG_RIP, X86_REG_RIP, X86_REG_RIP}, CODE_REG_PC},
	};

	if (reg == X86_REG_INVALID)
		return CODE_REG_NONE;
	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		for (size_t k = 0; k < 4; k++)
			if (general[i].names[k] == reg)
				return general[i].reg;
	return CODE_REG_OTHER;
}

static bool is_wide(unsigned reg)
{
	switch (reg) {
	case X86_REG_RAX:
	case X86_REG_RBX:
	case X86_REG_RCX:
	case X86_REG_RDX:
	case X86_REG_RSI:
	case X86_REG_RDI:
	case X86_REG_RBP:
	case X86_REG_RSP:
		return true;
	default:
		return reg >= X86_REG_R8 && reg <= X86_REG_R15;
	}
}

static enum code_flow flow_of(const cs_insn *in)
{
	if (in->id >= X86_INS_JAE && in->id <= X86_INS_JS)
		return in->id == X86_INS_JMP ? FLOW_JUMP : FLOW_BRANCH;
	switch (in->id) {
	case X86_INS_CALL:
		return FLOW_CALL;
	case X86_INS_JMP:
	case X86_INS_LJMP:
		return FLOW_JUMP;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_IRETQ:
		return FLOW_RETURN;
	case X86_INS_HLT:
	case X86_INS_INT3:
	case X86_INS_UD2:
		return FLOW_STOP;
	default:
		return FLOW_NEXT;
	}
}

static enum code_op op_of(unsigned id, bool *plain)
{
	*plain = true;
	switch (id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		return CODE_COPY;
	case X86_INS_LEA:
		return CODE_ADDRESS;
	case X86_INS_ADD:
		return CODE_ADD;
	case X86_INS_SUB:
		return CODE_SUB;
	case X86_INS_XOR:
		return CODE_XOR;
	case X86_INS_CMP:
		return CODE_COMPARE;
	case X86_INS_TEST:
		return CODE_TEST;
	case X86_INS_PUSH:
		return CODE_PUSH;
	case X86_INS_ENDBR64:
	case X86_INS_NOP:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_AND:
	case X86_INS_OR:
		return CODE_OTHER;
	default:
		break;
	}
	*plain = false;
	return id == X86_INS_POP    ? CODE_POP
	       : id == X86_INS_INC  ? CODE_ADD
	       : id == X86_INS_SETE ? CODE_IF_EQUAL
				    : CODE_OTHER;
}

static void set_operand(struct code_operand *o, const cs_x86_op *op, const struct code_insn *insn)
{
	o->reg = o->index = CODE_REG_NONE;
	if (op->type == X86_OP_REG) {
		o->type = OPERAND_REG;
		o->raw = (uint16_t)op->reg;
		o->reg = reg_of(op->reg);
		o->wide = is_wide(op->reg);
	} else if (op->type == X86_OP_IMM) {
		o->type = OPERAND_VALUE;
		o->value = op->imm;
	} else if (op->type == X86_OP_MEM) {
		o->type = OPERAND_MEMORY;
		o->raw = (uint16_t)op->mem.base;
		o->reg = reg_of(op->mem.base);
		o->index = reg_of(op->mem.index);
		o->thread = op->mem.segment == X86_REG_FS;
		o->value = op->mem.disp;
		if (o->reg == CODE_REG_PC)
			o->value = (int64_t)(insn->address + insn->size + (uint64_t)op->mem.disp);
	}
}

static void set_effects(struct code_insn *out, unsigned id)
{
	const struct code_operand *to = &out->operand[0];
	bool of_sp = to->type == OPERAND_REG && to->reg == CODE_REG_SP;

	if (out->flow == FLOW_CALL)
		out->writes = CALL_CHANGES;
	else if (out->flow == FLOW_NEXT && out->operand_count && to->type == OPERAND_REG &&
		 to->reg <= CODE_REG_SP && out->op != CODE_COMPARE && out->op != CODE_TEST &&
		 out->op != CODE_PUSH)
		out->writes = 1u << to->reg;
	if (out->op == CODE_PUSH || out->op == CODE_POP)
		out->writes |= 1u << CODE_REG_SP;
	if (out->op == CODE_PUSH)
		out->stack = 8;
	else if (out->op == CODE_POP)
		out->stack = of_sp ? CODE_STACK_UNKNOWN : -8;
	else if (id == X86_INS_LEAVE)
		out->stack = CODE_STACK_UNKNOWN;
	else if (insn__writes(out, CODE_REG_SP) && out->flow == FLOW_NEXT) {
		int64_t by = out->operand_count == 2 && out->operand[1].type == OPERAND_VALUE
				     ? out->operand[1].value
				     : INT64_MAX;

		out->stack = CODE_STACK_UNKNOWN;
		if ((out->op == CODE_SUB || out->op == CODE_ADD) && by > -65536 && by < 65536)
			out->stack = (int32_t)(out->op == CODE_SUB ? by : -by);
	}
}

static void decode(const cs_insn *in, struct code_insn *out)
{
	const cs_x86 *x = &in->detail->x86;
	size_t last = in->size > 4 && in->bytes[0] == 0x0f ? 1 : 0;

	out->flow = (uint8_t)flow_of(in);
	out->op = (uint8_t)op_of(in->id, &out->plain);
	out->emulated = is_emulated(in->bytes, in->size);
	out->refused = is_refused(in->bytes, in->size);
	out->lock = x->prefix[0] == X86_PREFIX_LOCK;
	if (out->flow == FLOW_BRANCH)
		out->test = in->bytes[last] & 15;
	for (uint8_t i = 0; i < x->op_count && i < 2; i++)
		set_operand(&out->operand[out->operand_count++], &x->operands[i], out);
	if (in->id == X86_INS_INC)
		out->operand[out->operand_count++] = (struct code_operand){.type = OPERAND_VALUE,
									   .reg = CODE_REG_NONE,
									   .index = CODE_REG_NONE,
									   .value = 1};
	set_effects(out, in->id);
	if ((out->flow == FLOW_CALL || out->flow == FLOW_JUMP || out->flow == FLOW_BRANCH) &&
	    out->operand_count == 1 && out->operand[0].type == OPERAND_VALUE)
		out->target = (uint64_t)out->operand[0].value;
}

/* [endbr64;] jmp [rip + x] */
static uint64_t stub(csh capstone, const uint8_t *bytes, uint64_t address)
{
	uint64_t got = 0;

	for (int i = 0; i < 3; i++) {
		cs_insn *in = NULL;
		bool skip;

		if (cs_disasm(capstone, bytes, 16, address, 1, &in) != 1)
			return 0;
		if (in->id == X86_INS_JMP && in->detail->x86.operands[0].type == X86_OP_MEM &&
		    in->detail->x86.operands[0].mem.base == X86_REG_RIP)
			got = in->address + in->size + (uint64_t)in->detail->x86.operands[0].mem.disp;
		skip = in->id == X86_INS_ENDBR64;
		bytes += in->size;
		address += in->size;
		cs_free(in, 1);
		if (got || !skip)
			return got;
	}
	return 0;
}

static const char *const names[] = {
	[COOKIE_R15] = "r15", [COOKIE_R14] = "r14", [COOKIE_R13] = "r13", [COOKIE_R12] = "r12",
	[COOKIE_RBP] = "rbp", [COOKIE_RBX] = "rbx", [COOKIE_R11] = "r11", [COOKIE_R10] = "r10",
	[COOKIE_R9] = "r9",   [COOKIE_R8] = "r8",   [COOKIE_RAX] = "rax", [COOKIE_RCX] = "rcx",
	[COOKIE_RDX] = "rdx", [COOKIE_RSI] = "rsi", [COOKIE_RDI] = "rdi", [COOKIE_REG_NONE] = NULL,
};

const struct code_arch code_x86_64 = {
	.machine = EM_X86_64,
	.name = "x86-64",
	.capstone = CS_ARCH_X86,
	.mode = CS_MODE_64,
	.step = 1,
	.argument = {COOKIE_RDI, COOKIE_RSI, COOKIE_RDX, COOKIE_RCX, COOKIE_R8, COOKIE_R9},
	.argument_count = 6,
	.result = COOKIE_RAX,
	.frame_pointer = COOKIE_RBP,
	.link = CODE_REG_NONE,
	.names = names,
	.decode = decode,
	.stub = stub,
};
