/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What recording may cost a process, and when it therefore records. A budget
 * grows with the clock, and what recording takes is taken from it. A process of
 * which that is less is recorded all the time. Of others there are windows: one ends
 * when the budget is overdrawn, at the end of a parallel region if that comes
 * soon, and the next begins a random time after the debt is paid and what its
 * probes will take is saved, so that windows do not follow the program's own
 * rhythm, and never more is owed than one window's events. Pure: the caller
 * attaches and detaches, and tells the time.
 */
#ifndef GRAIND_CEILING_H
#define GRAIND_CEILING_H

#include <stdbool.h>
#include <stdint.h>

struct ceiling {
	double share;	   /* of the time */
	double budget_ns;  /* below 0: overdrawn */
	double aim_ns;	   /* between windows: the budget with which the next one begins */
	double setting_ns; /* what putting probes in place took the last time */
	double taking_ns;  /* what came after the last window's end, mostly of taking them out */
	double lent_ns;	   /* what this window's probes took beyond what was saved for them */
	uint64_t random;   /* state */
	uint64_t paid_ns;  /* up to when the budget has grown */
	bool on;
};

/* At the beginning of the first window. */
void ceiling__start(struct ceiling *ceiling, double percent, uint64_t seed, uint64_t now_ns);
/* The share is another one from now on; what is owed stays. */
void ceiling__change(struct ceiling *ceiling, double percent);
/* It ends: a window that is on goes on for good; true: there was none, and one begins now. */
bool ceiling__lift(struct ceiling *ceiling);
/* Since the last call recording took `cost_ns`; it may take `most_percent`, too, where that is less. */
void ceiling__spend(struct ceiling *ceiling, double cost_ns, double most_percent, uint64_t now_ns);
/* Whether the window is to end now; `inside`: a region that it has seen begin has not ended. */
bool ceiling__is_over(const struct ceiling *ceiling, bool inside);
void ceiling__end(struct ceiling *ceiling);
/* Whether the next window is to begin now, and has begun. */
bool ceiling__begins(struct ceiling *ceiling);
/* What that took: the window is none the shorter, the time until the next one longer. */
void ceiling__set(struct ceiling *ceiling, double cost_ns);

#endif
