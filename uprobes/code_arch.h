/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the planner has to know about a processor: how its instructions are put
 * into the terms of disassembly.h, and its calling convention. One file each:
 * code_x86_64.c, code_aarch64.c. All else of the planner is the same for both.
 */
#ifndef GRAIND_CODE_ARCH_H
#define GRAIND_CODE_ARCH_H

#include "uprobes/disassembly.h"

#include <capstone/capstone.h>

#define CODE_ARGUMENTS_MAX 8

struct code_arch {
	uint16_t machine; /* e_machine */
	const char *name;
	cs_arch capstone;
	cs_mode mode;
	uint8_t step; /* the size of every instruction; 1: they differ */
	/* Registers, as disassembly.h numbers them. */
	uint8_t argument[CODE_ARGUMENTS_MAX], argument_count;
	uint8_t result;
	uint8_t frame_pointer;
	uint8_t link; /* that a call leaves the return address in; CODE_REG_NONE: it is on the stack */
	const char *const *names; /* of the general registers, all 31 */
	/* In texts for people: what x86-64's names of registers are called here; NULL past the last. */
	const char *const (*words)[2];
	/* Of the relocations that bind a GOT entry to a function, and of those that add where the file lies.
	 */
	uint32_t jump_slot, glob_dat, relative;

	/*
	 * Everything but what depends on other instructions; address, size and FLOW_NEXT are set. The first
	 * where sizes differ, else the second, which needs no disassembler.
	 */
	void (*decode)(const cs_insn *in, struct code_insn *out);
	void (*decode_word)(uint32_t word, struct code_insn *out);
	/* After all are decoded: what takes several instructions to say; may be NULL. */
	void (*join)(struct code_insn *insns, size_t count);
	/*
	 * What a stub of the PLT at `address` jumps through: the address of the GOT entry, or 0.
	 * `bytes`: CODE_STUB_BYTES.
	 */
	uint64_t (*stub)(csh capstone, const uint8_t *bytes, uint64_t address);
};

#define CODE_STUB_BYTES 32

extern const struct code_arch code_x86_64, code_aarch64;

/* The one with this e_machine; NULL if the planner does not know it. */
const struct code_arch *code_arch__of(uint16_t machine);
/* Of the machine that this program was built for. */
const struct code_arch *code_arch__native(void);

#endif
