/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges of addresses in a process. */
#ifndef GRAINCTL_INJECT_RANGES_H
#define GRAINCTL_INJECT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inject_range {
	uint64_t from, to;
};

/* A list of ranges; `room` is its capacity. */
struct inject_ranges {
	struct inject_range *all;
	size_t count, room;
};

/*
 * Adds a range. 0 or a negative errno. The number of ranges is limited, because a process can map as many
 * as it likes.
 */
int inject_ranges__add(struct inject_ranges *ranges, uint64_t from, uint64_t to);
bool inject_ranges__have(const struct inject_ranges *ranges, uint64_t address);

#endif
