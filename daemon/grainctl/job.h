/* SPDX-License-Identifier: BSD-2-Clause */
/* A job as graind's API and its job.json describe it (daemon/README.md). */
#ifndef GRAINCTL_JOB_H
#define GRAINCTL_JOB_H

#include "daemon/grainctl/ctl.h"

#include <jansson.h>

struct job {
	uint64_t number;
	int64_t pid; /* -1 unknown */
	uint64_t threads, start_ns, end_ns, grains, events, lost;
	double events_per_s, overhead_percent, average_parallelism; /* NAN unknown */
	char state[16];
	char error[256], user[64], exe[512], cmd[512], runtime[32], reason[16];
	char batch[160];    /* what its cgroup says it belongs to, as "slurm:4711.0"; "" nothing */
	char problems[256]; /* names, comma-separated */
};

/* What is missing or of another type stays unknown; false when there is no valid number. */
bool job__parse(const json_t *json, struct job *out);
bool job__is_over(const struct job *job); /* finished or failed */
/* The command line, its program without the directory; inside of *job. */
const char *job__command(const struct job *job);
/* "parallel_benefit" is said in one word where lines are short. */
void job__shorten(char *problems);
/* Until now, or until it ended. */
uint64_t job__ran_for(const struct job *job);

/*
 * The job's present description: from the graind that runs it, from the one
 * at ctl->socket, or from the state directory. A job that claims to run but
 * whose graind is gone is `failed`. *socket (PATH 108 bytes) names the graind
 * that can be asked about it, "" when there is none.
 */
enum ctl_exit job__find(const struct ctl *ctl, uint64_t number, json_t **out, char socket[108],
			char why[512]);

#endif
