// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/recent.h"

#include <string.h>

size_t recent__since(const struct recent *recent, uid_t account)
{
	size_t i = 0;

	while (i < recent->count && recent->list[i] != account)
		i++;
	return i;
}

void recent__note(struct recent *recent, uid_t account)
{
	size_t at = recent__since(recent, account);

	if (at == recent->count)
		recent->count += recent->count < RECENT_MOST;
	if (at == RECENT_MOST)
		at--;
	memmove(&recent->list[1], &recent->list[0], at * sizeof(recent->list[0]));
	recent->list[0] = account;
}
