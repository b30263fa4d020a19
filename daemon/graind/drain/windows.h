/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Applies the cost ceiling to the processes of one capture. Computes what recording costs them, and decides
 * in which windows they are recorded, all at the same time. Belongs to the thread that empties the rings.
 */
#ifndef GRAIND_WINDOWS_H
#define GRAIND_WINDOWS_H

#include "daemon/graind/drain/ceiling.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/recorder/recorder.h"
#include "uprobes/capture/capture.h"

/* Called for each job that is being recorded. `recorder` is NULL until the job's recording has begun. */
typedef void (*windows_visit)(struct job *job, struct recorder *recorder, const void *ctx);

/*
 * What windows need from the owner of the processes. All functions but the first two are about processes
 * that libgrainshim records; they are NULL if there are none.
 */
struct windows_members {
	void (*each)(void *owner, windows_visit visit, const void *ctx);
	/* A window has begun or ended. For processes that will get a job later; NULL: there are none. */
	void (*tell)(void *owner, const struct recorder_window *window);
	bool (*need_no_probes)(void *owner); /* whether no process needs probes */
	void (*pause)(void *owner);
	void (*resume)(void *owner);
	double (*cost_ns)(void *owner); /* cost since the last call, in the thread that wrote most */
};

struct windows_cpu {
	uint64_t step, window; /* number of events: since the last step, and in the window up to that step */
	uint64_t passed;       /* probe hits that wrote no event, in all */
	uint64_t asked;	       /* interrupts for samples, in all */
};

/* If all fields are zero, there is no ceiling and the functions do nothing. */
struct windows {
	struct capture *capture;
	double ns_per_event;
	const struct windows_members *members;
	void *owner;
	struct ceiling ceiling;
	double asked_percent;	 /* from the request; 0: not given */
	double percent;		 /* ceiling in force; 0: none */
	unsigned int generation; /* generation of the policy from which `percent` is */
	struct windows_cpu *by_cpu;
	double inside_ns; /* cost of this window in processes that libgrainshim records */
	unsigned int cpus;
	uint64_t begin_ns;    /* of the last window */
	uint64_t limited_ns;  /* start of the time for which this ceiling has been in force */
	uint64_t recorded_ns; /* time since limited_ns in windows that have ended */
	uint64_t count;	      /* windows that have ended, in all */
	uint64_t cpu_ns, shown_ns, pausing_ns;
	double cost_ns; /* cost since limited_ns */
	long inside;	/* number of regions that began in this window and have not ended */
	bool limited;	/* there is a ceiling */
	bool noted;	/* its jobs have a note which says that they are recorded in windows */
	bool stopped;	/* probes cannot be set and removed here, so there are no more windows */
};

/* Returns the smaller of the request's ceiling (0: not given) and the policy's. 0: there is no ceiling. */
double windows__percent(double asked);

/*
 * Call this when recording begins. `percent`: the request's ceiling; 0: not given. The policy's ceilings
 * also apply, with their values at each step. If there is no ceiling, or the cost of an event is unknown,
 * there are no windows.
 */
void windows__open(struct windows *windows, struct capture *capture, double ns_per_event, double percent,
		   const struct windows_members *members, void *owner);
void windows__close(struct windows *windows);
/* Counts events that were read from the rings. */
void windows__saw(struct windows *windows, unsigned int cpu, const struct ring_event *events, size_t count);
/* Call this after each drain. Ends and begins windows, and applies changes of the policy. */
void windows__step(struct windows *windows);
/* Whether recording pauses now, between two windows. */
bool windows__pauses(const struct windows *windows);
/* Whether windows__step() should be called again soon. */
bool windows__is_watchful(const struct windows *windows);
/* Describes the ceiling in a new job, with a note if windows have begun. */
void windows__enter(const struct windows *windows, struct job *job);
/* Describes the ceiling in a job that ends. `recorder` NULL: the job's recording has not begun. */
void windows__leave(const struct windows *windows, struct job *job, struct recorder *recorder);

#endif
