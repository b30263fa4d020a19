/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of words from inside of a process, and CLOCK_MONOTONIC, which it is converted to. */
#ifndef GRAIND_CLOCK_PAIR_H
#define GRAIND_CLOCK_PAIR_H

#include <stdbool.h>
#include <stdint.h>

struct clock_pair {
	bool use_counter; /* the processor's; else both are the same */
	double ticks_per_second;
	uint64_t ticks, ns; /* both, when they were read last */
};

/* Takes a millisecond. */
void clock_pair__start(struct clock_pair *clock);
/* A reading that is later than the last one, of both as of one moment. */
void clock_pair__read(struct clock_pair *clock);

#endif
