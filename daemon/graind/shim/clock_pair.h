/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts between the clock of libgrainshim's words and CLOCK_MONOTONIC. */
#ifndef GRAIND_CLOCK_PAIR_H
#define GRAIND_CLOCK_PAIR_H

#include <stdbool.h>
#include <stdint.h>

struct clock_pair {
	bool use_counter; /* words have the processor's time counter; false: CLOCK_MONOTONIC */
	double ticks_per_second;
	uint64_t ticks, ns; /* both clocks at the last reading */
};

/* Measures the frequency of the counter. This takes a millisecond. */
void clock_pair__start(struct clock_pair *clock);
/* Reads both clocks at the same moment, which is later than that of the last reading. */
void clock_pair__read(struct clock_pair *clock);

#endif
