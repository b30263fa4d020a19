// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/retention/retention_clock.h"

static void rest(struct retention_clock *clock, int64_t seconds)
{
	if (clock->running_s + seconds > clock->rests_until_s)
		clock->rests_until_s = clock->running_s + seconds;
}

enum retention_clock_says retention_clock__begin(struct retention_clock *clock,
						 const struct retention_clock_seen *seen, int64_t wall_s,
						 int64_t running_s)
{
	int64_t left = seen->rest_left_s;

	*clock = (struct retention_clock){.wall_s = wall_s,
					  .running_s = running_s,
					  .rests_until_s = running_s};
	if (left > 0)
		rest(clock, left < RETENTION_CLOCK_REST_S ? left : RETENTION_CLOCK_REST_S);
	if (seen->wall_s <= 0) {
		rest(clock, RETENTION_CLOCK_REST_S);
		return RETENTION_CLOCK_UNKNOWN;
	}
	if (wall_s > seen->wall_s && wall_s - seen->wall_s > RETENTION_CLOCK_ABSENCE_S) {
		rest(clock, RETENTION_CLOCK_REST_S);
		return RETENTION_CLOCK_ABSENT;
	}
	return wall_s < seen->wall_s ? RETENTION_CLOCK_TURNED : RETENTION_CLOCK_GOES;
}

enum retention_clock_says retention_clock__look(struct retention_clock *clock, int64_t wall_s,
						int64_t running_s)
{
	int64_t gained = (wall_s - clock->wall_s) - (running_s - clock->running_s);

	clock->wall_s = wall_s;
	clock->running_s = running_s;
	if (gained > RETENTION_CLOCK_JUMP_S) {
		rest(clock, RETENTION_CLOCK_REST_S);
		return RETENTION_CLOCK_JUMPED;
	}
	return gained < -RETENTION_CLOCK_JUMP_S ? RETENTION_CLOCK_TURNED : RETENTION_CLOCK_GOES;
}

int64_t retention_clock__rest(const struct retention_clock *clock)
{
	return clock->rests_until_s > clock->running_s ? clock->rests_until_s - clock->running_s : 0;
}

int64_t retention_clock__age(const struct retention_clock *clock, int64_t ended_s)
{
	return clock->wall_s > ended_s && ended_s > 0 ? clock->wall_s - ended_s : 0;
}
