/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks graind to profile a process, and follows the job that graind makes. */
#ifndef GRAINCTL_PROFILE_H
#define GRAINCTL_PROFILE_H

#include "daemon/grainctl/client/job.h"

#include <argp.h>
#include <sys/types.h>

/* The options that say what to record. All verbs that start a recording have them. */
#define CTL_COUNTERS_HELP                                                                                    \
	"Count these for each task and chunk: up to 8 with commas between them, as perf (page-faults, "      \
	"cycles:u), PAPI (PAPI_TOT_CYC) or the "                                                             \
	"processor's manual calls them"

#define CTL_SAMPLE_HELP                                                                                      \
	"Ask each CPU HZ times a second (99 unless given; run: 49 without this option) which function and "  \
	"line it is in, for hot functions, serial code and flame graphs"
#define CTL_NO_SAMPLE_HELP "Do not ask where the program is: serial code stays without a name"
#define CTL_SAMPLE_ONLY_HELP                                                                                 \
	"The same and nothing else: without tasks and loops, for next to no cost and for any program"

#define CTL_MEMORY_EVENT_HELP                                                                                \
	"With --sample, take addresses of memory from samples of this event instead of the processor's own " \
	"(page-faults, page-faults:period=1), or none"

enum { CTL_OPTION_CEILING = 512, CTL_OPTION_MEMORY_EVENT, CTL_OPTION_NO_SAMPLE };

/*
 * Unless the user says otherwise, a program that is recorded from its beginning is sampled so often: enough
 * to name serial code, for a quarter of a percent of a CPU. Of a program that is attached to, a sample of a
 * thread that has just left its last region may look like a context of its own.
 */
#define PROFILE_SAMPLE_HZ 49

struct profile_request {
	pid_t pid;
	bool at_start;
	uint64_t duration_s;	/* 0: until the process ends */
	const char *counters;	/* names with commas between them; NULL: none */
	unsigned int sample_hz; /* 0: PROFILE_SAMPLE_HZ if graind's budget has as many left */
	bool from_begin; /* the program is recorded from its beginning: PROFILE_SAMPLE_HZ may be the default
			  */
	bool no_sample;	 /* no samples at all */
	const char *memory_event; /* samples have memory addresses; NULL: the processor's own event */
	bool samples_only;	  /* record no tasks and loops */
	bool fast;		  /* libgrainshim records tasks and loops, inside the process */
	bool lossless;		  /* the process waits when graind falls behind */
	uint64_t max_bytes;	  /* 0: graind's settings decide */
	double ceiling_percent;	  /* the share of the process' time that probes may cost; 0: graind's settings
				     decide */
};

#define CTL_FAST_HELP                                                                                        \
	"Record from inside of the program (libgrainshim.so): for tasks and chunks of microseconds, at a "   \
	"hundredth of the cost"

#define CTL_LOSSLESS_HELP                                                                                    \
	"With --fast: a thread whose ring is full waits for graind instead of counting what is lost"

#define CTL_MAX_BYTES_HELP                                                                                   \
	"The job's files take so much at most (K, M, G: 1024 each); when half of it is used, events are "    \
	"not "                                                                                               \
	"kept but counted and summed up"

#define CTL_CEILING_HELP                                                                                     \
	"Hits of probes cost no more than this share of the program's time, by graind's measure of a hit: "  \
	"what would cost more is recorded in windows, and counts are of those"

#define PROFILE_OPTIONS                                                                                      \
	{"max-bytes", 'b', "SIZE", 0, CTL_MAX_BYTES_HELP, 0},                                                \
		{"counters", 'c', "NAMES", 0, CTL_COUNTERS_HELP, 0},                                         \
		{"sample", 's', "HZ", OPTION_ARG_OPTIONAL, CTL_SAMPLE_HELP, 0},                              \
		{"no-sample", CTL_OPTION_NO_SAMPLE, NULL, 0, CTL_NO_SAMPLE_HELP, 0},                         \
		{"memory-event", CTL_OPTION_MEMORY_EVENT, "NAME", 0, CTL_MEMORY_EVENT_HELP, 0},              \
		{"ceiling", CTL_OPTION_CEILING, "PERCENT", 0, CTL_CEILING_HELP, 0},                          \
	{                                                                                                    \
		"sample-only", 'S', "HZ", OPTION_ARG_OPTIONAL, CTL_SAMPLE_ONLY_HELP, 0                       \
	}
/*
 * Handles one of these options, or ARGP_KEY_END, where it refuses options that exclude each other. Returns
 * ARGP_ERR_UNKNOWN for other options.
 */
error_t profile__option(int key, char *arg, struct argp_state *state, struct profile_request *request);

/*
 * On CTL_DONE, *out is the new job. Otherwise `why` is the reason, in one line. CTL_USAGE: the request is
 * wrong, for instance because there is no such counter.
 */
enum ctl_exit profile__start(const char *socket, const struct profile_request *request, struct job *out,
			     char why[512]);

/*
 * Waits until the job records. CTL_FAILED: it does not begin within this time, or within five seconds if that
 * is more; `why` is the reason, in one line.
 */
enum ctl_exit profile__await_begin(const char *socket, struct job *job, uint64_t patience_ms, char why[512]);
/* Ends and deletes a job. */
void profile__drop(const char *socket, const struct job *job);

/*
 * Waits until the job of an ended process is over, too. On CTL_DONE, *job describes its end. Otherwise
 * `why` is the reason, in one line.
 */
enum ctl_exit profile__wait(const struct ctl *ctl, const char *socket, struct job *job, char why[512]);

#endif
