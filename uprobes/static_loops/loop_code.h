/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of one function as a graph of blocks. It is found by following the code from its first
 * instruction: bytes that no jump leads to are never decoded. The target of a computed jump is not known.
 */
#ifndef GRAIND_LOOP_CODE_H
#define GRAIND_LOOP_CODE_H

#include "uprobes/code/code_arch.h"
#include "uprobes/elf/elf_image.h"
#include "uprobes/static_loops/loop_lift.h"

#define BLOCK_NONE UINT32_MAX
#define LOOP_CODE_MAX_BYTES (1u << 20) /* a larger function is not examined */
#define LOOP_CODE_MAX_INSNS (1u << 16)

struct loop_insn {
	struct code_insn base;
	struct lift lift;
};

struct loop_block {
	uint32_t first, end; /* instructions */
	uint32_t next[2];    /* blocks: [0] of a conditional jump is where it jumps to, [1] the next */
	uint32_t next_count;
	uint32_t before, before_end; /* its predecessors, as indices into loop_code.before */
	uint32_t dominator;	     /* the nearest other block through which every path leads to this one */
	uint32_t meets; /* the nearest other block through which every path from here to an end of the
			   function leads */
	uint32_t order; /* position in loop_code.order */
	bool leaves;	/* ends the function */
};

struct loop_code {
	csh capstone;
	const struct code_arch *arch;
	struct loop_insn *insns; /* by address */
	uint32_t count, room;
	struct loop_block *blocks; /* by address; 0 is the entry */
	uint32_t block_count;
	uint32_t *before;
	uint32_t *order; /* reverse postorder of the blocks that are reached */
	uint32_t order_count;
	uint32_t *marks; /* by offset: instruction number + 1, or MIDDLE */
	size_t marks_room;
	bool computed; /* it contains a computed jump */
};

/* Returns 0 or -ENOMEM. loop_code__free() frees the contents, not the struct. */
int loop_code__init(struct loop_code *code, const struct code_arch *arch);
void loop_code__free(struct loop_code *code);
/*
 * Reads the function, in place of an earlier one. -EINVAL: the function is not understood: it is too large,
 * or there is a jump into the middle of an instruction.
 */
int loop_code__read(struct loop_code *code, const struct elf_image *image, uint64_t address, uint64_t size);
bool loop_code__dominates(const struct loop_code *code, uint32_t block, uint32_t other);
uint32_t loop_code__block_of(const struct loop_code *code, uint32_t insn);

#endif
