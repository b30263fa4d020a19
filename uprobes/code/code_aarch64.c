// SPDX-License-Identifier: BSD-2-Clause
/* aarch64, and the AAPCS64 calling convention: properties that follow from several instructions together. */
#include "uprobes/code/code_aarch64.h"

#include <elf.h>
#include <string.h>

#define SEQUENCE_MAX 32 /* the most instructions between a load-exclusive and its store */
#define BTI_C 0xd503245fu

static void set_memory(struct code_operand *o, int64_t address)
{
	*o = (struct code_operand){.type = OPERAND_MEMORY,
				   .reg = CODE_REG_PC,
				   .index = CODE_REG_NONE,
				   .raw = CODE_REG_PC,
				   .value = address};
}

/* What a register holds, if the instructions just before have built it up. */
struct known {
	enum { UNKNOWN, ADDRESS, CONSTANT } is;
	uint64_t value;
};

/* Joins an address from adrp and the add or load behind it, and a constant from movz and movk. */
static void join_addresses(struct code_insn *insns, size_t count)
{
	struct known known[31] = {0};

	for (size_t i = 0; i < count; i++) {
		struct code_insn *in = &insns[i];
		struct code_operand *o = in->operand;
		struct known result = {UNKNOWN, 0};
		uint8_t to = in->operand_count && o[0].type == OPERAND_REG && o[0].reg < 31 ? o[0].reg
											    : CODE_REG_NONE;

		if (in->op == CODE_ADDRESS) {
			result = (struct known){ADDRESS, (uint64_t)o[1].value};
		} else if (in->op == CODE_ADD && o[1].type == OPERAND_VALUE && o[2].type == OPERAND_REG &&
			   o[2].reg < 31 && known[o[2].reg].is == ADDRESS) {
			in->op = CODE_ADDRESS;
			in->operand_count = 2;
			set_memory(&o[1], (int64_t)(known[o[2].reg].value + (uint64_t)o[1].value));
			result = (struct known){ADDRESS, (uint64_t)o[1].value};
		} else if (in->op == CODE_COPY && o[1].type == OPERAND_VALUE) {
			result = (struct known){CONSTANT, (uint64_t)o[1].value};
		}
		for (uint8_t k = 0; k < in->operand_count && in->flow == FLOW_NEXT; k++)
			if (o[k].type == OPERAND_MEMORY && o[k].reg < 31 && o[k].index == CODE_REG_NONE &&
			    known[o[k].reg].is == ADDRESS && (!insn__writes(in, o[k].reg) || to == o[k].reg))
				set_memory(&o[k], (int64_t)(known[o[k].reg].value + (uint64_t)o[k].value));
		for (uint8_t r = 0; r < 31; r++)
			if (insn__writes(in, r))
				known[r].is = UNKNOWN;
		if (to != CODE_REG_NONE && result.is != UNKNOWN)
			known[to] = result;
		if (in->flow == FLOW_JUMP || in->flow == FLOW_RETURN || in->flow == FLOW_STOP)
			memset(known, 0, sizeof(known));
	}
}

/*
 * Atomic operations for which the compiler calls functions of its own. These choose between two kinds of
 * processors: adrp x16; ldrb w16; cbz w16; <atomic>
 */
static bool is_atomic_function(const struct code_insn *insns, size_t count, uint64_t address)
{
	uint64_t at = (address - insns[0].address) / 4;

	if (address < insns[0].address || address % 4 || at + 5 >= count)
		return false;
	if (insns[at].op == CODE_OTHER && !insns[at].writes && insns[at].flow == FLOW_NEXT) /* bti */
		at++;
	return insns[at].op == CODE_ADDRESS && insns[at].operand[0].reg == 16 &&
	       insn__writes(&insns[at + 1], 16) && insns[at + 2].flow == FLOW_BRANCH && insns[at + 3].lock;
}

static void join(struct code_insn *insns, size_t count)
{
	size_t left = 0;

	join_addresses(insns, count);
	for (size_t i = 0; i < count; i++) {
		struct code_insn *in = &insns[i];

		/*
		 * A trap between the load and the store would lose the reservation each time, so the loop
		 * would never end.
		 */
		if (in->id == SEQUENCE_LOAD)
			left = SEQUENCE_MAX;
		in->refused |= left != 0;
		if (in->id == SEQUENCE_STORE || in->flow == FLOW_RETURN)
			left = 0;
		else if (left)
			left--;
		if (in->refused)
			in->emulated = false;
		if (in->flow == FLOW_CALL && in->target && is_atomic_function(insns, count, in->target))
			in->lock = true;
	}
}

/* [bti c;] adrp x16, page; ldr x17, [x16, x]; add x16, ...; br x17 */
static uint64_t stub(csh capstone, const uint8_t *bytes, uint64_t address)
{
	struct code_insn two[2] = {0};
	uint32_t words[3];
	size_t first;

	(void)capstone;
	memcpy(words, bytes, sizeof(words));
	first = words[0] == BTI_C;
	for (size_t i = 0; i < 2; i++) {
		two[i] = (struct code_insn){.address = address + 4 * (first + i),
					    .size = 4,
					    .flow = FLOW_NEXT};
		aarch64__decode(words[first + i], &two[i]);
	}
	join_addresses(two, 2);
	if (two[0].op != CODE_ADDRESS || two[0].operand[0].reg != 16 || two[1].op != CODE_COPY ||
	    !operand__is(&two[1].operand[0], 17) || !operand__is_at(&two[1].operand[1], CODE_REG_PC))
		return 0;
	return (uint64_t)two[1].operand[1].value;
}

static const char *const names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", NULL,
};

static const char *const words[][2] = {
	{"[rsp]", "x30"}, {"rbp", "x29"}, {"rdi", "x0"}, {"edi", "x0"}, {"rsi", "x1"}, {"esi", "x1"},
	{"rdx", "x2"},	  {"edx", "x2"},  {"rcx", "x3"}, {"ecx", "x3"}, {"r8d", "x4"}, {"r8", "x4"},
	{"r9d", "x5"},	  {"r9", "x5"},	  {"rax", "x0"}, {"eax", "w0"}, {"al", "w0"},  {NULL, NULL},
};

const struct code_arch code_aarch64 = {
	.machine = EM_AARCH64,
	.name = "aarch64",
	.capstone = CS_ARCH_ARM64,
	.mode = CS_MODE_LITTLE_ENDIAN,
	.step = 4,
	.argument = {0, 1, 2, 3, 4, 5, 6, 7},
	.argument_count = 8,
	.result = 0,
	.frame_pointer = 29,
	.link = AARCH64_LINK,
	.names = names,
	.words = words,
	.decode_word = aarch64__decode,
	.join = join,
	.stub = stub,
};
