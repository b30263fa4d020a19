/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What registers and stack slots hold, as polynomials over "atoms". An atom is a value that is not analysed
 * further: the number of threads, the thread's number, a quotient, the result of a load, values that meet
 * where paths meet.
 *
 * Equal polynomials have the same number (hash consing), so values are compared by number. Widths are not
 * distinguished: a register and its lower half hold the same value. Arithmetic does not wrap here; neither
 * does the code that computes a loop's bounds.
 */
#ifndef GRAIND_LOOP_VALUES_H
#define GRAIND_LOOP_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_NONE UINT32_MAX /* not known, different from all other values; also: out of memory or room */
#define VALUE_TERMS 6
#define VALUE_DEGREE 3

enum atom_kind {
	ATOM_THREADS,	/* the number of threads (teams) */
	ATOM_THREAD,	/* the thread's (team's) number */
	ATOM_STACK,	/* the stack pointer at the function's entry */
	ATOM_OPAQUE,	/* result `b` of instruction `a` */
	ATOM_OPERATION, /* operation `a` of the values b and c; nothing else is known of it */
	ATOM_ENTRY,	/* the function that the GOT entry at the constant address `a` leads to */
	ATOM_QUOTIENT,	/* value a divided by value b. c: 0, or the bytes of the division if these are 1 or 2;
			   then  only these bytes of what holds it are known */
	ATOM_EITHER,	/* value b or c; instruction `a` decides */
	ATOM_MEETING,	/* what location b holds where paths meet at block `a` */
};

struct value_term {
	int64_t factor;
	uint32_t atoms[VALUE_DEGREE]; /* sorted, largest first; each is the number of an atom, or 0: none */
};

struct value {
	int64_t constant;
	uint32_t count;
	struct value_term terms[VALUE_TERMS]; /* sorted by their atoms */
};

struct atom {
	uint32_t kind, a, b, c;
	uint32_t value; /* the polynomial that is just this atom */
};

struct values;

struct values *values__new(void);	  /* NULL: out of memory */
void values__free(struct values *values); /* accepts NULL */
/* Forgets all values, but keeps the memory. */
void values__clear(struct values *values);

/* If an operand is VALUE_NONE, or there is no room for the result, the result is VALUE_NONE. */
uint32_t values__constant(struct values *values, int64_t constant);
uint32_t values__atom(struct values *values, enum atom_kind kind, uint32_t a, uint32_t b, uint32_t c);
/* Returns x + factor * y. */
uint32_t values__add(struct values *values, uint32_t x, uint32_t y, int64_t factor);
uint32_t values__multiply(struct values *values, uint32_t x, uint32_t y);

/* Valid until the next value is made. */
const struct value *values__get(const struct values *values, uint32_t value);
bool values__is_constant(const struct values *values, uint32_t value, int64_t *constant);
/* The atom that the value consists of. NULL: the value is another polynomial. */
const struct atom *values__is_atom(const struct values *values, uint32_t value);
/* The atom with this number, from a term. */
const struct atom *values__atom_of(const struct values *values, uint32_t atom);
/*
 * 1 or 2: the value is computed from a division of numbers of that many bytes, the smallest of them. What
 * holds it is only known to be equal in these bytes. 0: it is not.
 */
uint32_t values__narrow(const struct values *values, uint32_t value);
/* Splits the value into a base of its own and a constant, which becomes *constant. Returns the base. */
uint32_t values__base(struct values *values, uint32_t value, int64_t *constant);

#endif
