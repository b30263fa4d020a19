/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking a graind to profile a process, and following the job that comes of it. */
#ifndef GRAINCTL_PROFILE_H
#define GRAINCTL_PROFILE_H

#include "daemon/grainctl/job.h"

#include <sys/types.h>

/* What --counters takes, for the verbs that have it. */
#define CTL_COUNTERS_HELP                                                                                    \
	"up to 8 with commas between them, as perf (page-faults, cycles:u), PAPI (PAPI_TOT_CYC) or the "     \
	"processor's manual calls them"

#define CTL_SAMPLE_HELP                                                                                      \
	"Ask each CPU HZ times a second (99 unless given) which function and line it is in, for hot "        \
	"functions and flame graphs"
#define CTL_SAMPLE_ONLY_HELP                                                                                 \
	"The same and nothing else: without tasks and loops, for next to no cost and for any program"
#define CTL_SAMPLE_HZ_MAX 10000

/* The argument of --sample, NULL when it has none; false: it is no such number. */
bool profile__parse_hz(const char *text, unsigned int *hz);

struct profile_request {
	pid_t pid;
	bool at_start;
	uint64_t duration_s;	/* 0: until it ends */
	const char *counters;	/* names with commas between them; NULL: none */
	unsigned int sample_hz; /* 0: no samples */
	bool samples_only;	/* tasks and loops are not recorded */
};

/* On CTL_DONE *out is the new job; otherwise one line is in `why`. CTL_USAGE: there is no such counter. */
enum ctl_exit profile__start(const char *socket, const struct profile_request *request, struct job *out,
			     char why[512]);

/*
 * Waits until the job of a process that has ended is over and *job describes
 * the end. Otherwise one line is in `why`.
 */
enum ctl_exit profile__wait(const struct ctl *ctl, const char *socket, struct job *job, char why[512]);

#endif
