// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/symbols/sites.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(SITES_MAX <= SITE_SLOTS / 2, "probing ends at a free slot");

int site_set__init(struct site_set *set)
{
	struct site_set made = {
		.list = calloc(SITES_MAX, sizeof(*made.list)),
		.slots = calloc(SITE_SLOTS, sizeof(*made.slots)),
	};

	if (!made.list || !made.slots) {
		site_set__free(&made);
		return -ENOMEM;
	}
	*set = made;
	return 0;
}

void site_set__free(struct site_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->list[i].text);
	free(set->list);
	free(set->slots);
	*set = (struct site_set){0};
}

struct site *site_set__add_new(struct site_set *set, uint64_t address, const char *kind, bool is_return)
{
	size_t slot = site_set__slot(address);

	while (set->slots[slot]) {
		if (set->list[set->slots[slot] - 1].address == address)
			return &set->list[set->slots[slot] - 1];
		slot = (slot + 1) & (SITE_SLOTS - 1);
	}
	if (set->count == SITES_MAX) {
		set->refused++;
		return NULL;
	}
	set->list[set->count++] = (struct site){.address = address, .kind = kind, .is_return = is_return};
	set->slots[slot] = (uint32_t)set->count;
	return &set->list[set->count - 1];
}
