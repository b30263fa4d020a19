// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/disassembly.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT_BYTES (64u << 20)

struct code {
	const struct elf_image *image;
	struct code_insn *insns;
	size_t count;
	csh capstone;
};

void code__free(struct code *code)
{
	if (!code)
		return;
	if (code->capstone)
		cs_close(&code->capstone);
	free(code->insns);
	free(code);
}

/*
 * What the kernel executes in the trap handler instead of single-stepping a
 * copy (arch/x86/kernel/uprobes.c: branch_setup_xol_ops, push_setup_xol_ops):
 * jcc, jmp and call with a relative target, push of a register, one-byte nop.
 */
static bool insn_is_emulated(const uint8_t *bytes, size_t size)
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

uint16_t reg__wide(uint16_t reg)
{
	static const uint16_t narrow[][2] = {
		{X86_REG_EAX, X86_REG_RAX},  {X86_REG_EBX, X86_REG_RBX},  {X86_REG_ECX, X86_REG_RCX},
		{X86_REG_EDX, X86_REG_RDX},  {X86_REG_ESI, X86_REG_RSI},  {X86_REG_EDI, X86_REG_RDI},
		{X86_REG_EBP, X86_REG_RBP},  {X86_REG_ESP, X86_REG_RSP},  {X86_REG_R8D, X86_REG_R8},
		{X86_REG_R9D, X86_REG_R9},   {X86_REG_R10D, X86_REG_R10}, {X86_REG_R11D, X86_REG_R11},
		{X86_REG_R12D, X86_REG_R12}, {X86_REG_R13D, X86_REG_R13}, {X86_REG_R14D, X86_REG_R14},
		{X86_REG_R15D, X86_REG_R15}, {X86_REG_AL, X86_REG_RAX},	  {X86_REG_BL, X86_REG_RBX},
		{X86_REG_CL, X86_REG_RCX},   {X86_REG_DL, X86_REG_RDX},	  {X86_REG_R8B, X86_REG_R8},
		{X86_REG_R9B, X86_REG_R9},   {X86_REG_R10B, X86_REG_R10}, {X86_REG_R11B, X86_REG_R11},
		{X86_REG_R12B, X86_REG_R12}, {X86_REG_R13B, X86_REG_R13}, {X86_REG_R14B, X86_REG_R14},
		{X86_REG_R15B, X86_REG_R15}, {X86_REG_SIL, X86_REG_RSI},  {X86_REG_DIL, X86_REG_RDI},
		{X86_REG_AX, X86_REG_RAX},   {X86_REG_BX, X86_REG_RBX},	  {X86_REG_CX, X86_REG_RCX},
		{X86_REG_DX, X86_REG_RDX},   {X86_REG_SI, X86_REG_RSI},	  {X86_REG_DI, X86_REG_RDI},
	};

	for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++)
		if (narrow[i][0] == reg || narrow[i][1] == reg)
			return narrow[i][1];
	return reg == X86_REG_RBP || reg == X86_REG_RSP ? reg : X86_REG_INVALID;
}

bool insn__writes(const struct code_insn *insn, uint16_t reg)
{
	if (insn->flow == FLOW_CALL) /* caller-saved registers of the System V ABI */
		return reg == X86_REG_RAX || reg == X86_REG_RCX || reg == X86_REG_RDX || reg == X86_REG_RSI ||
		       reg == X86_REG_RDI || (reg >= X86_REG_R8 && reg <= X86_REG_R11);
	if (insn->flow != FLOW_NEXT || !insn->operand_count || insn->operand[0].type != X86_OP_REG)
		return false;
	if (insn->id == X86_INS_CMP || insn->id == X86_INS_TEST || insn->id == X86_INS_PUSH)
		return insn->id == X86_INS_PUSH && reg == X86_REG_RSP;
	return reg__wide(insn->operand[0].reg) == reg;
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

static void decode(const cs_insn *in, struct code_insn *out)
{
	const cs_x86 *x = &in->detail->x86;
	size_t last = in->size > 4 && in->bytes[0] == 0x0f ? 1 : 0;

	*out = (struct code_insn){.address = in->address, .id = (uint16_t)in->id, .size = (uint8_t)in->size};
	out->flow = (uint8_t)flow_of(in);
	out->emulated = insn_is_emulated(in->bytes, in->size);
	out->lock = x->prefix[0] == X86_PREFIX_LOCK;
	if (out->flow == FLOW_BRANCH)
		out->condition = in->bytes[last] & 15;
	for (uint8_t i = 0; i < x->op_count && i < 2; i++) {
		const cs_x86_op *op = &x->operands[i];
		struct code_operand *o = &out->operand[out->operand_count++];

		o->type = (uint8_t)op->type;
		if (op->type == X86_OP_REG) {
			o->reg = (uint16_t)op->reg;
		} else if (op->type == X86_OP_IMM) {
			o->value = op->imm;
		} else if (op->type == X86_OP_MEM) {
			o->reg = (uint16_t)op->mem.base;
			o->index = (uint16_t)op->mem.index;
			o->segment = (uint16_t)op->mem.segment;
			o->value = op->mem.disp;
		}
	}
	if ((out->flow == FLOW_CALL || out->flow == FLOW_JUMP || out->flow == FLOW_BRANCH) &&
	    out->operand_count == 1 && out->operand[0].type == X86_OP_IMM)
		out->target = (uint64_t)out->operand[0].value;
}

static int sweep(struct code *code, const uint8_t *text, size_t size, uint64_t address)
{
	cs_insn *in = cs_malloc(code->capstone);
	size_t capacity = size / 3 + 16;

	if (!in)
		return -ENOMEM;
	code->insns = malloc(capacity * sizeof(*code->insns));
	while (code->insns && size) {
		if (code->count == capacity) {
			struct code_insn *grown = realloc(code->insns, 2 * capacity * sizeof(*code->insns));

			if (!grown)
				break;
			code->insns = grown;
			capacity *= 2;
		}
		if (cs_disasm_iter(code->capstone, &text, &size, &address, in)) {
			decode(in, &code->insns[code->count++]);
		} else {
			code->insns[code->count++] =
				(struct code_insn){.address = address, .size = 1, .flow = FLOW_STOP};
			text++;
			size--;
			address++;
		}
	}
	cs_free(in, 1);
	return size ? -ENOMEM : 0;
}

static int load(const struct elf_image *image, const uint8_t *text, size_t size, uint64_t address,
		struct code **out, struct uprobes_error *err)
{
	struct code *code = calloc(1, sizeof(*code));
	int r = -ENOTSUP;

	if (!code)
		return -ENOMEM;
	code->image = image;
	if (!text || size > MAX_TEXT_BYTES) {
		snprintf(err->text, sizeof(err->text), "no usable .text section");
		goto out;
	}
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &code->capstone) != CS_ERR_OK) {
		code->capstone = 0;
		snprintf(err->text, sizeof(err->text), "the disassembler library does not support x86-64");
		goto out;
	}
	cs_option(code->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	r = sweep(code, text, size, address);
	if (r)
		goto out;
	*out = code;
	return 0;
out:
	code__free(code);
	return r;
}

int code__load_at(const struct elf_image *image, uint64_t address, size_t size, struct code **out,
		  struct uprobes_error *err)
{
	const uint8_t *bytes = NULL;

	while (size && !(bytes = elf_image__bytes(image, address, size)))
		size /= 2;
	return load(image, bytes, size, address, out, err);
}

int code__load(const struct elf_image *image, struct code **out, struct uprobes_error *err)
{
	struct code *code = NULL;
	const uint8_t *text;
	uint64_t address;
	size_t size;
	int r;

	text = elf_image__text(image, &address, &size);
	r = load(image, text, size, address, &code, err);
	if (r)
		return r;
	for (size_t i = 0; i < elf_image__function_count(image); i++) {
		const struct elf_function *f = elf_image__function(image, i);

		if (f->address < address || f->address - address >= size)
			continue;
		if (code__find(code, f->address) == CODE_NONE) {
			snprintf(err->text, sizeof(err->text),
				 "%s does not start on an instruction boundary; refusing to probe this file",
				 f->name);
			r = -ENOTSUP;
			goto out;
		}
	}
	*out = code;
	return 0;
out:
	code__free(code);
	return r;
}

size_t code__count(const struct code *code)
{
	return code->count;
}

const struct code_insn *code__at(const struct code *code, size_t index)
{
	return &code->insns[index];
}

size_t code__find(const struct code *code, uint64_t address)
{
	size_t low = 0, high = code->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (code->insns[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < code->count && code->insns[low].address == address ? low : CODE_NONE;
}

const char *code__got_name(const struct code *code, const struct code_insn *insn)
{
	const struct code_operand *to = &insn->operand[0];

	if ((insn->flow != FLOW_CALL && insn->flow != FLOW_JUMP) || insn->target || to->type != X86_OP_MEM ||
	    to->reg != X86_REG_RIP)
		return NULL;
	return elf_image__got_name(code->image, insn->address + insn->size + (uint64_t)to->value);
}

void code__text(const struct code *code, size_t index, char *buffer, size_t size)
{
	const struct code_insn *insn = &code->insns[index];
	const uint8_t *bytes = elf_image__bytes(code->image, insn->address, insn->size);
	cs_insn *in = NULL;

	if (!bytes || cs_disasm(code->capstone, bytes, insn->size, insn->address, 1, &in) != 1) {
		snprintf(buffer, size, "?");
		return;
	}
	snprintf(buffer, size, "%s %s", in->mnemonic, in->op_str);
	cs_free(in, 1);
}

const char *code__plt_name(const struct code *code, uint64_t target)
{
	const char *defined = elf_image__outside_name(code->image, target);
	uint64_t address = target;

	if (defined)
		return defined;
	for (int i = 0; i < 3; i++) {
		const char *name = NULL;
		cs_insn *in = NULL;
		size_t size = 0;
		const uint8_t *bytes = elf_image__bytes(code->image, address, 16);

		if (!bytes || cs_disasm(code->capstone, bytes, 16, address, 1, &in) != 1)
			return NULL;
		if (in->id == X86_INS_JMP && in->detail->x86.operands[0].type == X86_OP_MEM &&
		    in->detail->x86.operands[0].mem.base == X86_REG_RIP)
			name = elf_image__got_name(code->image,
						   in->address + in->size +
							   (uint64_t)in->detail->x86.operands[0].mem.disp);
		else if (in->id == X86_INS_ENDBR64)
			size = in->size;
		cs_free(in, 1);
		if (name || !size)
			return name;
		address += size;
	}
	return NULL;
}
