/* SPDX-License-Identifier: BSD-2-Clause */
/* A decoded instruction, in terms that do not depend on the processor. */
#ifndef GRAIND_CODE_INSN_H
#define GRAIND_CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_flow {
	FLOW_NEXT, /* goes on to the next instruction */
	FLOW_CALL,
	FLOW_JUMP,
	FLOW_BRANCH, /* conditional jump */
	FLOW_RETURN,
	FLOW_STOP, /* a trap: control never goes on from here */
};

/* What an instruction does to its operands, as far as patterns need it. */
enum code_op {
	CODE_OTHER,
	CODE_COPY,     /* operand 0 becomes operand 1, a register, memory or constant */
	CODE_ADDRESS,  /* operand 0 becomes the address of operand 1 */
	CODE_THREAD,   /* operand 0 becomes the thread pointer */
	CODE_ADD,      /* operand 0 becomes operand 2, or 0 if there is none, plus operand 1 */
	CODE_SUB,      /* operand 0 becomes operand 2, or 0 if there is none, minus operand 1 */
	CODE_XOR,      /* operand 0 becomes operand 2, or 0 if there is none, exclusive or operand 1 */
	CODE_COMPARE,  /* compares operand 0 with operand 1 */
	CODE_TEST,     /* tests bits of operand 0 that operand 1 has */
	CODE_IF_EQUAL, /* operand 0 becomes true if the compared operands were equal, or if no tested bit was
			  set */
	CODE_PUSH,
	CODE_POP,
};

/*
 * Registers. Those below CODE_REG_SP are the processor's general registers, with the same numbers as in
 * cookies (bpf/abi/cookie.h).
 */
enum code_reg {
	CODE_REG_SP = 31,
	CODE_REG_PC, /* base of a memory operand whose address is the operand's constant value */
	CODE_REG_ZERO,
	CODE_REG_OTHER,
	CODE_REG_NONE = 255
};

enum code_operand_type { OPERAND_NONE, OPERAND_REG, OPERAND_VALUE, OPERAND_MEMORY };

struct code_operand {
	uint8_t type;
	uint8_t reg;   /* register, or the base register of a memory operand */
	uint8_t index; /* index register of a memory operand */
	bool wide;     /* all 64 bits of a register */
	bool thread;   /* a memory operand relative to the thread pointer */
	uint16_t raw;  /* the disassembler's number of the register, which also says its width */
	int64_t value; /* constant, or displacement */
};

#define CODE_STACK_UNKNOWN INT32_MIN

struct code_insn {
	uint64_t address;
	uint64_t target;  /* address that a direct call or jump leads to; 0: there is none */
	uint32_t writes;  /* bit mask of the general registers that the instruction changes; bit 31: the stack
			     pointer */
	int32_t stack;	  /* bytes by which the stack pointer goes down, or CODE_STACK_UNKNOWN */
	uint16_t test;	  /* FLOW_BRANCH: the condition for the jump, enum cookie_test */
	uint16_t id;	  /* the disassembler's id */
	uint8_t op;	  /* enum code_op */
	uint8_t size;	  /* in bytes */
	uint8_t flow;	  /* enum code_flow */
	bool emulated;	  /* the kernel's uprobes emulate the instruction, so it is cheap to probe */
	bool refused;	  /* must not be probed: uprobes refuse it, or a probe is dangerous */
	bool lock;	  /* an atomic operation on memory, or a call of a function that does only that */
	bool plain;	  /* changes only the registers in `writes` */
	bool pair;	  /* CODE_COPY: also copies between pair_reg and the next word */
	uint8_t pair_reg; /* the second register of a pair */
	uint8_t operand_count;
	struct code_operand operand[3]; /* destination first */
};

bool insn__writes(const struct code_insn *insn, uint8_t reg);
/* Whether the operand is all 64 bits of that register. */
bool operand__is(const struct code_operand *operand, uint8_t reg);
/* Whether the operand is memory at a constant distance from the register. */
bool operand__is_at(const struct code_operand *operand, uint8_t reg);

/* Move number `k` of a CODE_COPY instruction: 0, and also 1 for a pair. False: there is no such move. */
bool insn__move(const struct code_insn *insn, int k, struct code_operand *to, struct code_operand *from);

#endif
