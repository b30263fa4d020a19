/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the forms of static loops share. Private to loop_match.c, match_blocks.c, match_chunks.c,
 * match_single.c, match_share.c, match_more.c and match_same.c.
 */
#ifndef GRAIND_MATCH_SHARED_H
#define GRAIND_MATCH_SHARED_H

#include "uprobes/static_loops/loop_match.h"

#define LESS_MAX 256 /* the most loops of one function */

struct match {
	struct loop_flow *flow;
	struct values *values;
	const struct loop_code *code;
	struct found_loops *found;
	struct flow_state state; /* the state before the jump that is examined */
	uint32_t block, jump;
	/*
	 * The blocks that test T < r, and the value of n / N there. `unseen`: the loop is not seen at that
	 * block, but perhaps at another one.
	 */
	struct {
		uint32_t block, quotient;
		bool unseen;
	} less[LESS_MAX];
	size_t less_count;
};

/*
 * Goes to the conditional jump at the end of the block. False: there is no jump that compares two known
 * values.
 */
bool match__look_at(struct match *m, uint32_t block);
/* 1: the jump is taken if left < right. 0: it is taken if not. -1: it tests another condition. */
int match__less_when_taken(const struct match *m);
/* The same for left > right. */
int match__greater_when_taken(const struct match *m);
/* The same for left == right. */
int match__equal_when_taken(const struct match *m);

/* Whether the jump compares all bytes of numbers that are divided by `quotient`, and no others. */
bool match__has_size_of(const struct match *m, uint32_t quotient);
/* Where the value is just before the jump. A register is preferred. */
bool match__place_of(const struct match *m, uint32_t value, struct found_at *out);
/*
 * The atom that the value consists of, if it is of this kind; else NULL. Valid until the next value is
 * made.
 */
const struct atom *match__is_atom(const struct match *m, uint32_t value, enum atom_kind kind);
/*
 * Whether the value is the remainder of a division by the number of threads. *quotient: the quotient of
 * that division.
 */
bool match__is_rest(const struct match *m, uint32_t value, bool teams, uint32_t *quotient);
/*
 * If the value is a MEETING at the head of a loop: what it was before that loop. Otherwise the value
 * itself. VALUE_NONE: it is not always the same.
 */
uint32_t match__before_loop(const struct match *m, uint32_t value);

struct match_change {
	uint32_t atom, by; /* the value `by` in place of an atom */
};

#define MATCH_VARIABLES 4
/*
 * The atoms of the value that are variables of one loop. Returns their number, at most MATCH_VARIABLES. 0:
 * there are none, or they belong to several loops.
 */
uint32_t match__variables(const struct match *m, uint32_t value, struct match_change *out);
/* The value with other values in place of some of its atoms. */
uint32_t match__substitute(const struct match *m, uint32_t value, const struct match_change *changes,
			   uint32_t count);
/* Whether the value is always 0: it is the constant 0, or it is 0 before a loop and remains 0 each time. */
bool match__is_zero(const struct match *m, uint32_t value);

/*
 * Whether control can get from one block to another without passing one of `past`. If a loop is executed
 * again and again, and the compiler tests only once what does not change, a jump is not passed each time.
 */
bool match__leads_round_all(const struct match *m, uint32_t from, const uint32_t *past, size_t past_count,
			    uint32_t to);
bool match__leads_round(const struct match *m, uint32_t from, uint32_t past, uint32_t to);
/*
 * The block that a conditional jump leads to if it is taken, or if it is not. BLOCK_NONE: it leads out of
 * the function.
 */
uint32_t match__successor(const struct match *m, uint32_t block, bool taken);

/*
 * An instruction at which the share by `quotient` is known. It is always executed before the jump, with the
 * same stack pointer. False: there is none.
 */
bool match_share__find(const struct match *m, uint32_t quotient, bool teams, struct found_loop *out);

/* A share that is used more than once. */
struct more_loops {
	uint32_t shared; /* the instruction where it is kept */
	uint32_t site;	 /* the jump that tests whether the share is empty */
	uint32_t begin,
		empty; /* the blocks that this jump leads to if the share is not empty, and if it is */
	uint32_t sp;   /* the value of the stack pointer where the share is kept */
	bool teams;
};

/*
 * Adds the begin of the loop with this head behind the test, for each time it is executed. False: it is not
 * understood.
 */
bool match_more__again(struct match *m, const struct more_loops *more, uint32_t head);
/*
 * Adds the loops at `heads`, in order, which follow the loop behind the test. False: they are not
 * understood.
 */
bool match_more__others(struct match *m, const struct more_loops *more, const uint32_t *heads,
			uint32_t count);
/* Whether control can get from one block to another without passing a barrier. */
bool match_more__is_without_barrier(const struct match *m, uint32_t from, uint32_t to);
/* Adds loops that have the same share as loops that were already found. */
void match_same__add(struct match *m);
/* The block at which the loop with this head is over. */
uint32_t match_more__behind(const struct match *m, uint32_t head);

bool match__add_loop(struct match *m, const struct found_loop *loop); /* false: out of memory */

/*
 * `m` is at the test of a loop with chunks of one iteration, of n in all. Whether the compiler has made the
 * loop: people write the same code.
 */
bool match_single__is_of_compiler(const struct match *m, uint32_t n);

/*
 * Whether the jump is a point of a loop: the test of T < r, the test of s < e, the test of a first chunk.
 * If so, the loop is added. False: out of memory.
 */
bool match_blocks__share(struct match *m);
bool match_blocks__range(struct match *m);
/* The block that the test of s < e leads to if the share is not empty. BLOCK_NONE: it is not known. */
uint32_t match_blocks__begin(const struct match *m, const struct found_loop *loop);
bool match_chunks__first(struct match *m);

#endif
