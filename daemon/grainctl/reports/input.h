/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the trace for JOB|FILE of the command line, and loads its graph. */
#ifndef GRAINCTL_INPUT_H
#define GRAINCTL_INPUT_H

#include "analysis/include/grain.h"
#include "daemon/grainctl/terminal/ctl.h"

#include <limits.h>
#include <sys/types.h>

struct input {
	char path[PATH_MAX]; /* for messages */
	int fd;		     /* the open trace */
	char name[NAME_MAX]; /* base of the names of outputs: "job-7", "fib" */
	uint64_t job;	     /* 0: a file */
	uid_t owner;	     /* owner of the recording (recording_owner.h) */
	bool partial;	     /* the job runs or has failed: the part of the trace that exists is used */
};

/*
 * Opens a job by its number or a file by its name. For a running job, uses the trace so far and prints a
 * notice. If the result is not CTL_DONE, the error has been printed.
 */
enum ctl_exit input__open(struct ctl *ctl, const char *argument, bool only_files, struct input *out);
void input__close(struct input *input);

/*
 * Reads and analyses the trace, with a progress bar on a terminal. For a job that still runs, reads the
 * part that is valid.
 */
enum ctl_exit input__load(struct ctl *ctl, const struct input *input, const struct grain_load_opts *opts,
			  struct grain_graph **out);

#endif
