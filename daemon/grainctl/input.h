/* SPDX-License-Identifier: BSD-2-Clause */
/* JOB|FILE of the command line -> the trace to read and the graph in it. */
#ifndef GRAINCTL_INPUT_H
#define GRAINCTL_INPUT_H

#include "analysis/grain.h"
#include "daemon/grainctl/ctl.h"

#include <limits.h>

struct input {
	char path[PATH_MAX]; /* for people */
	int fd;		     /* what is read */
	char name[NAME_MAX]; /* what an output is called after it: "job-7", "fib" */
	uint64_t job;	     /* 0: a file */
	bool partial;	     /* the job runs or failed: what there is of its trace is used */
};

/*
 * `argument` is a job's number or a file's name. A running job's trace so far
 * is taken, and the user told so. Errors have been told when the result is
 * not CTL_DONE.
 */
enum ctl_exit input__open(struct ctl *ctl, const char *argument, bool only_files, struct input *out);
void input__close(struct input *input);

/* Reads and analyses it, with a progress bar on a terminal; of a job that still runs what is sound. */
enum ctl_exit input__load(struct ctl *ctl, const struct input *input, const struct grain_load_opts *opts,
			  struct grain_graph **out);

#endif
