/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an instruction computes, as far as loop bounds are computed with it. It is the same for all
 * processors.
 */
#ifndef GRAIND_LOOP_LIFT_H
#define GRAIND_LOOP_LIFT_H

#include "uprobes/code/code_insn.h"

#include <capstone/capstone.h>

enum lift_op {
	LIFT_NONE,		/* no effect on general registers and on the memory that is followed */
	LIFT_MOVE,		/* to = a */
	LIFT_ADDRESS,		/* to = the address of a, or a + (b << shift) */
	LIFT_ADD,		/* to = a + (b << shift) */
	LIFT_SUBTRACT,		/* to = a - (b << shift) */
	LIFT_MULTIPLY,		/* to = a * b */
	LIFT_MULTIPLY_ADD,	/* to = c + a * b */
	LIFT_MULTIPLY_SUBTRACT, /* to = c - a * b */
	LIFT_SHIFT,		/* to = a << shift */
	LIFT_REPLACE,		/* to = the constant a, except the 16 bits from `shift` on, which are b */
	LIFT_OPERATION,		/* to = operation `id` of a and b; nothing else is known of the operation */
	LIFT_QUOTIENT,		/* to = a / b */
	LIFT_DIVIDE,	    /* x86-64: rax = rax / a, rdx = rax % a; of 8 bits, the rest is the second byte */
	LIFT_WIDE_MULTIPLY, /* x86-64: rdx:rax = rax * a */
	LIFT_EITHER,	    /* to = a or b + c; a condition decides */
	LIFT_ADD_CARRY,	    /* to = a + b or a + b + 1; a condition decides */
	LIFT_SUBTRACT_CARRY, /* to = a - b or a - b - 1; a condition decides */
	LIFT_CONDITION,	     /* the lowest byte of register `to` = 0 or 1; a condition decides */
	LIFT_LOWEST_BYTE,    /* to = the lowest byte of a; `id` as of LIFT_OPERATION */
	LIFT_SECOND_BYTE,    /* to = the byte above that */
	LIFT_EXTEND,  /* to = the lowest bytes of a, extended; b: their number; `id` as of LIFT_OPERATION */
	LIFT_COMPARE, /* compares a with b */
	LIFT_EXCHANGE,
	LIFT_PUSH,  /* pushes a */
	LIFT_POP,   /* pops to */
	LIFT_LEAVE, /* x86-64: leave */
	LIFT_CALL,
	LIFT_FORGET, /* the registers in `forgets` hold unknown values, and so do the flags */
};

struct lift_operand {
	uint8_t type;  /* enum code_operand_type */
	uint8_t reg;   /* number as in code_insn.h; base of a memory operand */
	uint8_t index; /* index register of a memory operand, or CODE_REG_NONE */
	uint8_t scale; /* scale of the index: 1, 2, 4, 8 */
	uint8_t size;  /* bytes */
	int64_t value; /* constant, displacement, or the address if the base is CODE_REG_PC */
};

struct lift {
	uint8_t op; /* enum lift_op */
	uint8_t shift;
	bool compares; /* also sets the flags, as a comparison of a with b does */
	bool flags;    /* sets the flags in another way */
	uint16_t id;
	int16_t step; /* aarch64: the base register of the memory operand changes by this, before or after */
	bool step_first;
	uint32_t forgets; /* mask of registers; bit 31: the stack pointer */
	struct lift_operand to, a, b, c;
	struct lift_operand pair; /* aarch64: a second register that is moved to or from the next word */
};

/*
 * If nothing better is known, the result is a LIFT_FORGET of everything that is written. `in` must have
 * details.
 */
void lift__x86_64(csh capstone, const cs_insn *in, struct lift *out);
/* `in`: the result of decoding the word. */
void lift__aarch64(uint32_t word, const struct code_insn *in, struct lift *out);

#endif
