/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the planner must know about a processor: its calling convention, and how its instructions are
 * expressed in the terms of code_insn.h. Each processor has one file: code_x86_64.c, code_aarch64.c. The
 * rest of the planner is the same for all.
 */
#ifndef GRAIND_CODE_ARCH_H
#define GRAIND_CODE_ARCH_H

#include "uprobes/code/code_insn.h"

#include <capstone/capstone.h>

#define CODE_ARGUMENTS_MAX 8

struct code_arch {
	uint16_t machine; /* e_machine */
	const char *name;
	cs_arch capstone;
	cs_mode mode;
	uint8_t step; /* size of every instruction; 1: sizes differ */
	/* Registers, as code_insn.h numbers them. */
	uint8_t argument[CODE_ARGUMENTS_MAX], argument_count;
	uint8_t result;
	uint8_t frame_pointer;
	uint8_t link; /* register in which a call leaves the return address; CODE_REG_NONE: it is on the stack
		       */
	const char *const *names; /* names of the 31 general registers */
	/*
	 * For texts: pairs of an x86-64 register's name and the name of its counterpart here; ends with NULL.
	 */
	const char *const (*words)[2];

	/*
	 * These decode everything about one instruction that does not depend on other instructions.
	 * Address, size and FLOW_NEXT are already set. `decode` is for processors whose instructions differ
	 * in size, `decode_word` for the others; it needs no disassembler.
	 */
	void (*decode)(const cs_insn *in, struct code_insn *out);
	void (*decode_word)(uint32_t word, struct code_insn *out);
	/*
	 * Called once all instructions are decoded, for properties that involve several of them. May be
	 * NULL.
	 */
	void (*join)(struct code_insn *insns, size_t count);
	/*
	 * The address of the GOT entry through which the PLT stub at `address` jumps, or 0. `bytes`:
	 * CODE_STUB_BYTES bytes of the stub.
	 */
	uint64_t (*stub)(csh capstone, const uint8_t *bytes, uint64_t address);
};

#define CODE_STUB_BYTES 32

extern const struct code_arch code_x86_64, code_aarch64;

/* The processor with this e_machine; NULL if the planner does not know it. */
const struct code_arch *code_arch__of(uint16_t machine);
/* The processor that this program was built for. */
const struct code_arch *code_arch__native(void);

#endif
