/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of an image as a compact array of decoded instructions (capstone),
 * in terms that do not depend on the processor (code_arch.h).
 */
#ifndef GRAIND_DISASSEMBLY_H
#define GRAIND_DISASSEMBLY_H

#include "uprobes/elf_image.h"

#define CODE_NONE SIZE_MAX

enum code_flow {
	FLOW_NEXT, /* goes on to the next instruction */
	FLOW_CALL,
	FLOW_JUMP,
	FLOW_BRANCH, /* conditional jump */
	FLOW_RETURN,
	FLOW_STOP, /* a trap: never goes on */
};

/* What an instruction does to its operands, as far as patterns ask. */
enum code_op {
	CODE_OTHER,
	CODE_COPY,     /* operand 0 becomes operand 1, a register, memory or constant */
	CODE_ADDRESS,  /* operand 0 becomes the address of operand 1 */
	CODE_THREAD,   /* operand 0 becomes the thread pointer */
	CODE_ADD,      /* operand 0 becomes operand 2, or 0 if there is none, plus operand 1 */
	CODE_SUB,      /* likewise, minus */
	CODE_XOR,      /* likewise */
	CODE_COMPARE,  /* operand 0 with operand 1 */
	CODE_TEST,     /* bits of operand 1 in operand 0 */
	CODE_IF_EQUAL, /* operand 0 says whether what was compared was equal, or tested none of the bits */
	CODE_PUSH,
	CODE_POP,
};

/*
 * Registers: those below CODE_REG_SP are the processor's general ones, with
 * the numbers that cookies have (bpf/cookie.h).
 */
enum code_reg {
	CODE_REG_SP = 31,
	CODE_REG_PC, /* of memory: the address is constant, and the operand's value */
	CODE_REG_ZERO,
	CODE_REG_OTHER,
	CODE_REG_NONE = 255
};

enum code_operand_type { OPERAND_NONE, OPERAND_REG, OPERAND_VALUE, OPERAND_MEMORY };

struct code_operand {
	uint8_t type;
	uint8_t reg;   /* register, or the base register of a memory operand */
	uint8_t index; /* of a memory operand */
	bool wide;     /* a register, all 64 bits of it */
	bool thread;   /* of memory: relative to the thread pointer */
	uint16_t raw;  /* the disassembler's number of the register, which has the width, too */
	int64_t value; /* constant, or displacement */
};

#define CODE_STACK_UNKNOWN INT32_MIN

struct code_insn {
	uint64_t address;
	uint64_t target;  /* of a direct call or jump, else 0 */
	uint32_t writes;  /* the general registers that are changed, a bit each; 31: the stack pointer */
	int32_t stack;	  /* bytes by which the stack pointer goes down, or CODE_STACK_UNKNOWN */
	uint16_t test;	  /* of FLOW_BRANCH: when it jumps, enum cookie_test */
	uint16_t id;	  /* the disassembler's */
	uint8_t op;	  /* enum code_op */
	uint8_t size;	  /* in bytes */
	uint8_t flow;	  /* enum code_flow */
	bool emulated;	  /* by the kernel's uprobes: cheap to probe */
	bool refused;	  /* by them, or dangerous: must not be probed */
	bool lock;	  /* an atomic operation on memory, or a call of nothing else */
	bool plain;	  /* changes no other registers than `writes` says */
	bool pair;	  /* CODE_COPY: does the same with a second register and the word behind; */
	uint8_t pair_reg; /* that register */
	uint8_t operand_count;
	struct code_operand operand[3]; /* destination first */
};

struct code;
struct code_arch;

/* -ENOTSUP when the exported functions are not on instruction boundaries. */
int code__load(const struct elf_image *image, struct code **out, struct uprobes_error *err);
/* Of `size` bytes from `address` on, or as many as there are. */
int code__load_at(const struct elf_image *image, uint64_t address, size_t size, struct code **out,
		  struct uprobes_error *err);
void code__free(struct code *code);

const struct code_arch *code__arch(const struct code *code);
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

bool insn__writes(const struct code_insn *insn, uint8_t reg);
/* Whether it is that register, all 64 bits of it. */
bool operand__is(const struct code_operand *operand, uint8_t reg);
/* Whether it is memory at a constant distance from the register. */
bool operand__is_at(const struct code_operand *operand, uint8_t reg);

/*
 * The moves that an instruction of CODE_COPY consists of: `k` 0, and 1 for a
 * pair. False when there is no such one.
 */
bool insn__move(const struct code_insn *insn, int k, struct code_operand *to, struct code_operand *from);

#endif
