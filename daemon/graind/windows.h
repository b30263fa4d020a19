/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What recording costs the processes of one capture that have a ceiling, and when they are recorded: all of
 * them at the same time. Belongs to the thread that empties the rings.
 */
#ifndef GRAIND_WINDOWS_H
#define GRAIND_WINDOWS_H

#include "daemon/graind/ceiling.h"
#include "daemon/graind/job.h"
#include "uprobes/capture.h"

/* Calls `visit` for each job that is being recorded, with its recorder if it has begun. */
typedef void (*windows_visit)(struct job *job, struct recorder *recorder, const void *ctx);

/*
 * The processes of a capture. All but the first two: of those that write by themselves; NULL where there are
 * none.
 */
struct windows_members {
	void (*each)(void *owner, windows_visit visit, const void *ctx);
	/* A window has begun or ended, for those who will have a job; NULL: there are none. */
	void (*tell)(void *owner, const struct recorder_window *window);
	bool (*need_no_probes)(void *owner); /* none of them does */
	void (*pause)(void *owner);
	void (*resume)(void *owner);
	double (*cost_ns)(void *owner); /* since the last call, of the thread that wrote most */
};

struct windows_cpu {
	uint64_t step, window; /* events since the last step; of the window before that */
	uint64_t passed;       /* hits without events, ever */
};

/* Zeroed: there is no ceiling, and the calls do nothing. */
struct windows {
	struct capture *capture;
	double ns_per_event;
	const struct windows_members *members;
	void *owner;
	struct ceiling ceiling;
	double asked_percent;	 /* by the request; 0: it does not say */
	double percent;		 /* in force; 0: there is none */
	unsigned int generation; /* of the policy that says so */
	struct windows_cpu *by_cpu;
	double inside_ns; /* what that window took those who write by themselves */
	unsigned int cpus;
	uint64_t begin_ns;    /* of the last window */
	uint64_t limited_ns;  /* since when there is this ceiling */
	uint64_t recorded_ns; /* since then, in windows that have ended */
	uint64_t count;	      /* windows that have ended, ever */
	uint64_t cpu_ns, shown_ns, pausing_ns;
	double cost_ns; /* since there is this ceiling */
	long inside;	/* regions that the window has seen begin and not end */
	bool limited;	/* there is a ceiling */
	bool noted;	/* its jobs have a note that says so */
	bool stopped;	/* probes cannot come and go here: there are no more windows */
};

/* The smaller of what a request asks for (0: it does not say) and the policy's; 0: there is no ceiling. */
double windows__percent(double asked);

/*
 * When recording begins. `percent`: what the request allows, 0: it does not say; the policy's ceilings count,
 * too, as they are at each step. Without any, or where nobody knows what an event costs, there is none.
 */
void windows__open(struct windows *windows, struct capture *capture, double ns_per_event, double percent,
		   const struct windows_members *members, void *owner);
void windows__close(struct windows *windows);
/* Of what the rings had. */
void windows__saw(struct windows *windows, unsigned int cpu, const struct ring_event *events, size_t count);
/* After each drain: ends and begins windows, and takes up what the policy says now. */
void windows__step(struct windows *windows);
/* Whether it is between two windows. */
bool windows__pauses(const struct windows *windows);
/* Whether it must be looked at soon again. */
bool windows__is_watchful(const struct windows *windows);
/* A job that is new says that it has a ceiling, and has a note where there were windows already. */
void windows__enter(const struct windows *windows, struct job *job);
/* What one that is over has to say; `recorder`: NULL, it has not begun. */
void windows__leave(const struct windows *windows, struct job *job, struct recorder *recorder);

#endif
