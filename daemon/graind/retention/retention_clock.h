/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether the wall clock can be trusted for deleting jobs for their age. An empty battery or a
 * wrong time server must not delete the jobs of all users. Pure.
 */
#ifndef GRAIND_RETENTION_CLOCK_H
#define GRAIND_RETENTION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * After the clock has jumped, no job is deleted for its age for this long. Only time during which graind
 * runs counts.
 */
#define RETENTION_CLOCK_REST_S 86400
/* The most that the clock may gain between two checks, beyond the time that has passed. */
#define RETENTION_CLOCK_JUMP_S 3600
/* The most that the clock may gain since the last graind ended. */
#define RETENTION_CLOCK_ABSENCE_S 86400

/* The state that one graind keeps for the next. */
struct retention_clock_seen {
	int64_t wall_s;	     /* when a graind checked the clock last; 0: never */
	int64_t rest_left_s; /* how long deletion was still delayed then */
};

struct retention_clock {
	int64_t wall_s, running_s, rests_until_s;
};

enum retention_clock_says {
	RETENTION_CLOCK_GOES,	 /* the clock is right */
	RETENTION_CLOCK_UNKNOWN, /* the clock is checked for the first time in this state directory */
	RETENTION_CLOCK_ABSENT,	 /* the time is much later than at the last graind's last check */
	RETENTION_CLOCK_JUMPED,	 /* the clock has gained more than the time that has passed */
	RETENTION_CLOCK_TURNED,	 /* the clock was set back */
};

/* Call this at the start. `wall_s` is the wall clock, `running_s` is CLOCK_BOOTTIME. */
enum retention_clock_says retention_clock__begin(struct retention_clock *clock,
						 const struct retention_clock_seen *seen, int64_t wall_s,
						 int64_t running_s);
/* Call this now and then after the start. */
enum retention_clock_says retention_clock__look(struct retention_clock *clock, int64_t wall_s,
						int64_t running_s);
/* Returns the seconds during which no job may be deleted for its age, according to the last check. */
int64_t retention_clock__rest(const struct retention_clock *clock);

/*
 * Returns the age in seconds of a job that ended at `ended_s`. If the end is in the future, the age is 0.
 */
int64_t retention_clock__age(const struct retention_clock *clock, int64_t ended_s);

#endif
