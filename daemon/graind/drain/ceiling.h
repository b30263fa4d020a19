/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides when a process is recorded, so that recording costs no more than a share of its time. A budget
 * grows with the clock, and the cost of recording is taken from it. A process that costs less than its
 * share is recorded all the time. Other processes are recorded in windows. A window ends when the budget is
 * overdrawn, if possible at the end of a parallel region. The next window begins when the debt is paid and
 * the cost of setting its probes is saved, plus a random time. The random time prevents that windows follow
 * the program's own rhythm. The debt is never larger than the cost of the events of one window. Pure: the
 * caller attaches, detaches and tells the time.
 */
#ifndef GRAIND_CEILING_H
#define GRAIND_CEILING_H

#include <stdbool.h>
#include <stdint.h>

struct ceiling {
	double share;	   /* part of the time that recording may cost, 0 to 1 */
	double budget_ns;  /* below 0: overdrawn */
	double aim_ns;	   /* between windows: the next window begins at this budget */
	double setting_ns; /* cost of setting the probes last time */
	double taking_ns;  /* cost after the end of the last window, mostly of removing the probes */
	double lent_ns;	  /* the part of the cost of setting this window's probes that was not saved for it */
	uint64_t random;  /* state of the random numbers */
	uint64_t paid_ns; /* the budget has grown up to this time */
	bool on;
};

/* Begins the first window. */
void ceiling__start(struct ceiling *ceiling, double percent, uint64_t seed, uint64_t now_ns);
/* Changes the share. The debt stays. */
void ceiling__change(struct ceiling *ceiling, double percent);
/*
 * Removes the ceiling: from now on the process is recorded all the time. True: it was between windows, so
 * recording begins now.
 */
bool ceiling__lift(struct ceiling *ceiling);
/*
 * Recording has cost `cost_ns` since the last call. The budget grows by the process' share of the time
 * since then, or by `most_percent` of it if that is less.
 */
void ceiling__spend(struct ceiling *ceiling, double cost_ns, double most_percent, uint64_t now_ns);
/* Whether the window must end now. `inside`: a region that began in this window has not ended yet. */
bool ceiling__is_over(const struct ceiling *ceiling, bool inside);
void ceiling__end(struct ceiling *ceiling);
/* Whether the next window is due. If so, the window has begun. */
bool ceiling__begins(struct ceiling *ceiling);
/* Setting the probes took `cost_ns`. This does not shorten the present window, but delays the next one. */
void ceiling__set(struct ceiling *ceiling, double cost_ns);

#endif
