/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the time up to which all records have come. The words of all threads come in rounds
 * (TRACE_CHUNK_WORDS). Each round has a time: no word in it is later. Everything that was written before that
 * time is in this round or an earlier one.
 */
#ifndef GRAIND_FOLD_ROUNDS_H
#define GRAIND_FOLD_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_ROUNDS 256u

struct fold_rounds {
	uint64_t least; /* rounds with fewer records are merged with the next ones */
	uint64_t slack; /* number of records that may come before the records that waited to be sorted */
	uint64_t last_ns, before_ns,
		older_ns;  /* times of the round that is being read, and of the two before it */
	uint64_t ready_ns; /* all records up to this time have come */
	uint64_t coming_ns, coming_at;
	struct fold_round {
		uint64_t ns; /* none of its records is later than this */
		uint64_t at; /* the position of its first record, or an earlier one */
	} list[FOLD_ROUNDS];
	uint64_t count; /* number of rounds in all */
};

/* The words up to `ns` have been read; the next record has this position. */
void fold_rounds__read(struct fold_rounds *rounds, uint64_t ns, uint64_t position);
/* Returns the time up to which the rounds so far are complete. `whole`: the latest round is complete, too. */
static inline uint64_t fold_rounds__until(const struct fold_rounds *rounds, bool whole)
{
	return whole ? rounds->before_ns : rounds->older_ns;
}
/*
 * Whether there are rounds. Events that are not words come in the order of time, except within a part of the
 * ring.
 */
static inline bool fold_rounds__known(const struct fold_rounds *rounds)
{
	return rounds->count > 0;
}
/* Returns a position before all records that are at `ns` or later. */
uint64_t fold_rounds__first(const struct fold_rounds *rounds, uint64_t ns);
/* Returns the time up to which all records have come when the next record has this position. */
uint64_t fold_rounds__ready(struct fold_rounds *rounds, uint64_t position);

#endif
