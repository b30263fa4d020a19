/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of an image as a compact array of decoded instructions (capstone). */
#ifndef GRAIND_DISASSEMBLY_H
#define GRAIND_DISASSEMBLY_H

#include "uprobes/elf_image.h"

#include <capstone/capstone.h>

#define CODE_NONE SIZE_MAX

enum code_flow {
	FLOW_NEXT, /* goes on to the next instruction */
	FLOW_CALL,
	FLOW_JUMP,
	FLOW_BRANCH, /* conditional jump */
	FLOW_RETURN,
	FLOW_STOP, /* hlt, ud2, int3: never goes on */
};

struct code_operand {
	uint8_t type; /* x86_op_type */
	uint16_t reg; /* register, or the base register of a memory operand */
	uint16_t index, segment;
	int64_t value; /* immediate, or displacement */
};

struct code_insn {
	uint64_t address;
	uint64_t target; /* of a direct call or jump, else 0 */
	uint16_t id;	 /* x86_insn */
	uint8_t size;
	uint8_t flow;			/* enum code_flow */
	uint8_t condition;		/* of FLOW_BRANCH: low nibble of the opcode */
	bool emulated;			/* by the kernel's uprobes, see insn_is_emulated */
	bool lock;			/* has a lock prefix */
	uint8_t operand_count;		/* of the ones kept below */
	struct code_operand operand[2]; /* Intel order: destination first */
};

struct code;

/* -ENOTSUP when the exported functions are not on instruction boundaries. */
int code__load(const struct elf_image *image, struct code **out, struct uprobes_error *err);
/* Of `size` bytes from `address` on, or as many as there are. */
int code__load_at(const struct elf_image *image, uint64_t address, size_t size, struct code **out,
		  struct uprobes_error *err);
void code__free(struct code *code);

size_t code__count(const struct code *code);
const struct code_insn *code__at(const struct code *code, size_t index);
/* Index of the instruction that starts at `address`, CODE_NONE if none does. */
size_t code__find(const struct code *code, uint64_t address);
/* Name of the imported function that an indirect call or jump through the GOT leads to, or NULL. */
const char *code__got_name(const struct code *code, const struct code_insn *insn);
/* "je 0x18900" */
void code__text(const struct code *code, size_t index, char *buffer, size_t size);

/*
 * Name of the function that a direct call leads to outside of the runtime's code: imported through
 * the PLT, or another part of the same executable. NULL if it has none.
 */
const char *code__plt_name(const struct code *code, uint64_t target);

bool insn__writes(const struct code_insn *insn, uint16_t reg);
/* The 64-bit register that contains `reg` (eax -> rax), X86_REG_INVALID for others. */
uint16_t reg__wide(uint16_t reg);

#endif
