/* SPDX-License-Identifier: BSD-2-Clause */
/* A job as graind's API and its job.json describe it (daemon/README.md). */
#ifndef GRAINCTL_JOB_H
#define GRAINCTL_JOB_H

#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>

struct job {
	uint64_t number;
	int64_t pid; /* -1: not known */
	uint64_t threads, start_ns, end_ns, grains, events, lost;
	double events_per_s, overhead_percent, average_parallelism; /* NAN: not known */
	char state[16];
	char error[256], user[64], exe[512], cmd[512], runtime[32], reason[16];
	char batch[160];    /* the batch job of its cgroup, such as "slurm:4711.0"; "": none */
	char problems[256]; /* names, comma-separated */
};

/*
 * Parses a job's description. Fields that are missing or have the wrong type stay unknown. False: it has no
 * valid number.
 */
bool job__parse(const json_t *json, struct job *out);
bool job__is_over(const struct job *job); /* finished or failed */
/* The command line; the program's name is without its directory. Points into *job. */
const char *job__command(const struct job *job);
/* Shortens names of problems, such as "parallel_benefit", to one word for short lines. */
void job__shorten(char *problems);
/* The time in ns from the job's start to its end, or to now. */
uint64_t job__ran_for(const struct job *job);

/*
 * Finds a job's present description: from the graind that runs it, from the graind at ctl->socket, or from
 * the state directory. A job whose graind is gone is `failed`, even if its description says that it runs.
 * *socket (PATH 108 bytes) is the socket of the graind that can be asked about the job; "": there is none.
 */
enum ctl_exit job__find(const struct ctl *ctl, uint64_t number, json_t **out, char socket[108],
			char why[512]);

#endif
