/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of all nodes with graind and of their jobs, from a Prometheus server. */
#ifndef GRAINCTL_FLEET_H
#define GRAINCTL_FLEET_H

#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>

#define FLEET_PROBLEMS 20

/* Numbers that Prometheus does not have are NAN. Times are in seconds of the wall clock. */
struct fleet_node {
	char name[256], version[32];
	bool up;
	double since; /* when it went down; NAN: it is up, or was never seen */
	double jobs, events_per_s, lost_per_s, cpus, memory;
};

struct fleet_problem {
	char name[48];
	double share; /* share of the grains, of the threads' time, ...: 0 to 1 */
};

struct fleet_job {
	char node[256], number[24], user[64], command[64], runtime[32];
	double running, threads, parallelism, preempted, grains_per_s, events_per_s, overhead, lost;
	double since;				       /* when it was first seen */
	struct fleet_problem problems[FLEET_PROBLEMS]; /* the largest first */
	size_t problem_count;
};

struct fleet {
	struct fleet_node *nodes;
	struct fleet_job *jobs;
	size_t node_count, job_count;
	double now;
};

/*
 * Asks Prometheus. The worst entries come first: nodes that are down or lose events, and jobs with the
 * largest problem. If the result is not CTL_DONE, `why` is one line.
 */
enum ctl_exit fleet__ask(const char *url, struct fleet *out, char why[512]);
void fleet__free(struct fleet *fleet);

json_t *fleet__json(const struct fleet *fleet, const char *shown_url);
/* Prints tables of the first `most` nodes and jobs (0: all). Returns 0 or -ENOMEM. */
int fleet__print(const struct fleet *fleet, const char *shown_url, size_t most, unsigned width, FILE *out);

#endif
