/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking a graind to profile a process, and following the job that comes of it. */
#ifndef GRAINCTL_PROFILE_H
#define GRAINCTL_PROFILE_H

#include "daemon/grainctl/job.h"

#include <argp.h>
#include <sys/types.h>

/* What is to be recorded, for the verbs that start it. */
#define CTL_COUNTERS_HELP                                                                                    \
	"Count these for each task and chunk: up to 8 with commas between them, as perf (page-faults, "      \
	"cycles:u), PAPI (PAPI_TOT_CYC) or the "                                                             \
	"processor's manual calls them"

#define CTL_SAMPLE_HELP                                                                                      \
	"Ask each CPU HZ times a second (99 unless given) which function and line it is in, for hot "        \
	"functions and flame graphs"
#define CTL_SAMPLE_ONLY_HELP                                                                                 \
	"The same and nothing else: without tasks and loops, for next to no cost and for any program"

#define CTL_MEMORY_EVENT_HELP                                                                                \
	"With --sample, take addresses of memory from samples of this event instead of the processor's own " \
	"(page-faults, page-faults:period=1), or none"

enum { CTL_OPTION_CEILING = 512, CTL_OPTION_MEMORY_EVENT };

struct profile_request {
	pid_t pid;
	bool at_start;
	uint64_t duration_s;	  /* 0: until it ends */
	const char *counters;	  /* names with commas between them; NULL: none */
	unsigned int sample_hz;	  /* 0: no samples */
	const char *memory_event; /* whose samples have addresses; NULL: the processor's */
	bool samples_only;	  /* tasks and loops are not recorded */
	bool fast;		  /* they are from inside of the process */
	bool lossless;		  /* which waits when graind is behind */
	uint64_t max_bytes;	  /* 0: as graind says */
	double ceiling_percent;	  /* of its time that recording may cost; 0: as graind's policy says */
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
		{"memory-event", CTL_OPTION_MEMORY_EVENT, "NAME", 0, CTL_MEMORY_EVENT_HELP, 0},              \
		{"ceiling", CTL_OPTION_CEILING, "PERCENT", 0, CTL_CEILING_HELP, 0},                          \
	{                                                                                                    \
		"sample-only", 'S', "HZ", OPTION_ARG_OPTIONAL, CTL_SAMPLE_ONLY_HELP, 0                       \
	}
/* One of those; ARGP_ERR_UNKNOWN when it is another. */
error_t profile__option(int key, char *arg, struct argp_state *state, struct profile_request *request);

/* On CTL_DONE *out is the new job; otherwise one line is in `why`. CTL_USAGE: there is no such counter. */
enum ctl_exit profile__start(const char *socket, const struct profile_request *request, struct job *out,
			     char why[512]);

/* Waits until the job records; CTL_FAILED with one line in `why` when it does not within some seconds. */
enum ctl_exit profile__await_begin(const char *socket, struct job *job, char why[512]);
/* Ends a job of which nothing is to be kept. */
void profile__drop(const char *socket, const struct job *job);

/*
 * Waits until the job of a process that has ended is over and *job describes
 * the end. Otherwise one line is in `why`.
 */
enum ctl_exit profile__wait(const struct ctl *ctl, const char *socket, struct job *job, char why[512]);

#endif
