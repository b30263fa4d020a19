// SPDX-License-Identifier: BSD-2-Clause
/* What the time counts as in which a thread has something to do and no CPU, by who has it. */
#include "analysis/account/account.h"

enum grain_cause account__off_cpu(const struct event_stream *stream, uint8_t reason, uint32_t by)
{
	const struct event_neighbour *taker =
		by > 0 && by <= stream->neighbour_count ? &stream->neighbours[by - 1] : NULL;

	if (reason == EVENT_REASON_BLOCKED)
		return GRAIN_CAUSE_BLOCKED;
	if (taker && taker->pid == stream->info.pid)
		return GRAIN_CAUSE_OVERSUBSCRIBED;
	return taker && taker->measuring ? GRAIN_CAUSE_MEASURING : GRAIN_CAUSE_PREEMPTED;
}
