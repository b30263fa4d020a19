/* SPDX-License-Identifier: BSD-2-Clause */
/* What each register and stack slot holds at each point of a function, as values (loop_values.h). */
#ifndef GRAIND_LOOP_FLOW_H
#define GRAIND_LOOP_FLOW_H

#include "uprobes/static_loops/loop_code.h"
#include "uprobes/static_loops/loop_values.h"

#define FLOW_SLOTS 96
#define FLOW_REGS 32
#define FLOW_MAX_BLOCKS 4096 /* a function with more blocks is not examined */

/* The value that a call asks the runtime for. */
enum flow_callee {
	CALLEE_OTHER,
	CALLEE_THREADS, /* omp_get_num_threads */
	CALLEE_THREAD,	/* omp_get_thread_num */
	CALLEE_TEAMS,	/* omp_get_num_teams */
	CALLEE_TEAM,	/* omp_get_team_num */
	CALLEE_BARRIER, /* ends a construct, and is an event of its own */
};

struct flow_slot {
	uint32_t address, content; /* values */
	uint8_t size;		   /* number of bytes that hold it */
};

struct flow_state {
	uint32_t reg[FLOW_REGS];
	/* The values that the flags compare. VALUE_NONE: something else. `size`: bytes of the operands. */
	uint32_t left, right;
	uint8_t size;
	uint16_t slot_count;
	struct flow_slot slots[FLOW_SLOTS];
};

struct loop_flow {
	const struct elf_image *image;
	const struct loop_code *code;
	struct values *values;
	const uint8_t *callee;	     /* enum flow_callee, by instruction */
	const uint32_t *changes;     /* registers that a call changes, by instruction */
	struct flow_state *in, *out; /* by block */
	bool *reached;
	uint32_t block_room;
	uint32_t stack; /* the value of the stack pointer at the entry */
};

/*
 * Follows the values through the whole function. Returns 0 or -ENOMEM; -EINVAL: the function is not
 * understood.
 */
int loop_flow__run(struct loop_flow *flow);
void loop_flow__free(struct loop_flow *flow);
/* The state before instruction `insn` is executed. False: no path reaches it. */
bool loop_flow__before(const struct loop_flow *flow, uint32_t insn, struct flow_state *out);

/*
 * Calls `visit` with the state before each instruction of the block, until `visit` returns true. Returns
 * whether it did.
 */
bool loop_flow__walk(const struct loop_flow *flow, uint32_t block,
		     bool (*visit)(void *data, uint32_t insn, const struct flow_state *state), void *data);

/*
 * The values that an EITHER, or a MEETING of paths, can have, without such values in between: at most
 * `most` different ones. Returns their number. 0: there are more, or they are not known.
 */
uint32_t loop_flow__alternatives(const struct loop_flow *flow, uint32_t value, uint32_t *list, uint32_t most);
/* What the location of a MEETING holds at the end of a block that leads to the MEETING. */
uint32_t loop_flow__at_end(const struct loop_flow *flow, uint32_t block, uint32_t location);

#endif
