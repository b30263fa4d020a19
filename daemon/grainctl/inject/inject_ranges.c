// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/inject/inject_ranges.h"

#include <errno.h>
#include <stdlib.h>

#define RANGES_MAX (1u << 20)

bool inject_ranges__have(const struct inject_ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (address >= ranges->all[i].from && address < ranges->all[i].to)
			return true;
	return false;
}

int inject_ranges__add(struct inject_ranges *ranges, uint64_t from, uint64_t to)
{
	if (ranges->count == RANGES_MAX)
		return -E2BIG;
	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : 64;
		struct inject_range *all = reallocarray(ranges->all, room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		ranges->all = all;
		ranges->room = room;
	}
	ranges->all[ranges->count++] = (struct inject_range){from, to};
	return 0;
}
