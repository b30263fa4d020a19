/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Up to which time records are complete. The words of all threads come in rounds (TRACE_CHUNK_WORDS): of each
 * it is known that no word in it is later than a time that the clocks showed when it had been looked how
 * much there is. What was written before that time is in it, or in one before.
 */
#ifndef GRAIND_FOLD_ROUNDS_H
#define GRAIND_FOLD_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_ROUNDS 256u

struct fold_rounds {
	uint64_t least; /* rounds of fewer records are one with those that follow */
	uint64_t slack; /* so many records come before those that waited to be sorted */
	uint64_t last_ns, before_ns, older_ns; /* of the round that is being read, and of those before */
	uint64_t ready_ns;		       /* all up to then has come */
	uint64_t coming_ns, coming_at;
	struct fold_round {
		uint64_t ns; /* none of its records is later */
		uint64_t at; /* the position of its first record, or an earlier one */
	} list[FOLD_ROUNDS];
	uint64_t count; /* all that there were */
};

/* Words are read that are not later than `ns`; the next record has that position. */
void fold_rounds__read(struct fold_rounds *rounds, uint64_t ns, uint64_t position);
/*
 * Up to which time the rounds so far have everything: `whole`, with all of the latest, or of that perhaps a
 * part.
 */
static inline uint64_t fold_rounds__until(const struct fold_rounds *rounds, bool whole)
{
	return whole ? rounds->before_ns : rounds->older_ns;
}
/* Whether there are any: other events come in the order of time, but for a part of the ring. */
static inline bool fold_rounds__known(const struct fold_rounds *rounds)
{
	return rounds->count > 0;
}
/* A position before all records that are as late as `ns`. */
uint64_t fold_rounds__first(const struct fold_rounds *rounds, uint64_t ns);
/* Up to which time all records have come when the next has that position. */
uint64_t fold_rounds__ready(struct fold_rounds *rounds, uint64_t position);

#endif
