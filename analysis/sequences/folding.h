/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folds a list of symbols: where a body comes several times in a row, one symbol takes its place. The same is
 * then done with the shorter list, so that bodies contain symbols of other bodies. A symbol does not say how
 * often its body is repeated: a step whose inner loop runs 25 or 27 times is the same step.
 */
#ifndef GRAIND_SEQUENCES_FOLDING_H
#define GRAIND_SEQUENCES_FOLDING_H

#include "analysis/base/number_map.h"

/* The longest body. */
#define FOLDING_LONGEST 4096

/* A symbol that stands for no entry of the list: nothing that is repeated goes over it. */
#define FOLDING_BREAKS 0xf0000000u

/* A body. */
struct folding_rule {
	uint32_t body, length;	  /* its symbols: folding.pool[body], ... */
	uint32_t shift;		  /* where the smallest rotation of the body begins */
	uint32_t next;		  /* while folding: the next rule with the same first symbol */
	size_t longest;		  /* while folding: length of the run that the body was taken from */
	uint32_t first_run, runs; /* folding.runs[first_run], ...: in the order of the list */
};

/* A body several times in a row, or once if it is repeated elsewhere. */
struct folding_run {
	uint32_t rule;
	uint32_t begin; /* index in folding.begins of where its repetitions begin; there are `count` */
	uint32_t count;
	uint32_t end; /* index of the first entry after it */
};

struct folding {
	/* What is left of the list. A symbol of FOLDING_BREAKS or more is a break and has no entry. */
	uint32_t *symbols,
		*firsts; /* firsts: the index of a symbol's first entry, and the end after the last */
	size_t count;
	uint32_t leaves; /* symbols below this stand for themselves, others for rule `symbol - leaves` */
	struct folding_rule *rules;
	size_t rule_count, rule_capacity;
	uint32_t *pool;
	size_t pool_count, pool_capacity;
	struct folding_run *runs;
	size_t run_count, run_capacity;
	uint32_t *begins; /* indices of entries */
	size_t begin_count, begin_capacity;
	bool unfinished; /* it took too long, and was stopped */
};

/*
 * Folds `count` symbols. Symbols are below `leaves`, or breaks; two breaks must not be equal. Needs memory
 * and time in proportion to `count`. Returns 0 or -ENOMEM. The caller frees *out in both cases.
 */
int folding__fold(struct folding *out, const uint32_t *symbols, size_t count, uint32_t leaves);
void folding__free(struct folding *folding);

/* The rule's run that begins with this entry. NULL: there is none. */
const struct folding_run *folding__run_at(const struct folding *folding, uint32_t rule, uint32_t entry);

/* Where a body, as the smallest of all its rotations, begins (folding_rotate.c). */
uint32_t folding__smallest_rotation(const uint32_t *body, uint32_t length);
/* A number that all rotations of a body have in common. */
uint64_t folding__hash(const uint32_t *body, uint32_t length, uint32_t shift);
/* Whether two bodies of the same length are rotations of each other. */
bool folding__is_rotation(const uint32_t *a, uint32_t a_shift, const uint32_t *b, uint32_t b_shift,
			  uint32_t length);

#endif
