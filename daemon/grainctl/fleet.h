/* SPDX-License-Identifier: BSD-2-Clause */
/* What a Prometheus knows of all nodes that run graind, and of their jobs. */
#ifndef GRAINCTL_FLEET_H
#define GRAINCTL_FLEET_H

#include "daemon/grainctl/ctl.h"

#include <jansson.h>

#define FLEET_PROBLEMS 20

/* Numbers are NAN where Prometheus has none; times are of the clock, in seconds. */
struct fleet_node {
	char name[256], version[32];
	bool up;
	double since; /* down since; NAN: it is up, or was never seen up */
	double jobs, events_per_s, lost_per_s, cpus, memory;
};

struct fleet_problem {
	char name[48];
	double share; /* of the grains, of the threads' time, ...: 0 to 1 */
};

struct fleet_job {
	char node[256], number[24], user[64], command[64], runtime[32];
	double running, threads, parallelism, preempted, grains_per_s, events_per_s, overhead, lost;
	double since;				       /* was first seen */
	struct fleet_problem problems[FLEET_PROBLEMS]; /* the largest first */
	size_t problem_count;
};

struct fleet {
	struct fleet_node *nodes;
	struct fleet_job *jobs;
	size_t node_count, job_count;
	double now;
};

/* Worst first: nodes that are down or lose events, jobs by their largest problem. One line in `why` if not
 * CTL_DONE. */
enum ctl_exit fleet__ask(const char *url, struct fleet *out, char why[512]);
void fleet__free(struct fleet *fleet);

json_t *fleet__json(const struct fleet *fleet, const char *shown_url);
/* Tables of the first `most` of each (0: all). 0 or -ENOMEM. */
int fleet__print(const struct fleet *fleet, const char *shown_url, size_t most, unsigned width, FILE *out);

#endif
