/* SPDX-License-Identifier: BSD-2-Clause */
/* What `top` shows: the jobs of a graind at one moment, with what happened since the last look. */
#ifndef GRAINCTL_TOP_H
#define GRAINCTL_TOP_H

#include "daemon/grainctl/ctl.h"
#include "daemon/grainctl/job.h"

#include <jansson.h>

#define TOP_THREADS 1024 /* of a job that are looked at, and of all jobs but the chosen one */
#define TOP_ENDED 32	 /* jobs that ended meanwhile, kept in view */

struct top_thread {
	int tid, cpu;
	char name[64], state; /* of /proc: R, S, D, ... */
	uint64_t ran_ns, waited_ns, preemptions;
	double cpu_percent, wait_percent, preemptions_per_s; /* NAN: not known yet */
};

struct top_job {
	struct job job;
	json_t *json;		   /* as graind tells it */
	uint64_t ran_ns;	   /* CPU time of its process */
	double grains_per_s, cpus; /* NAN: not known yet; cpus: CPU time a second */
	struct top_thread *threads;
	size_t thread_count;
	char live[64]; /* what can be said of it before it ends */
};

enum top_order {
	TOP_BY_NUMBER,
	TOP_BY_USER,
	TOP_BY_COMMAND,
	TOP_BY_GRAINS,
	TOP_BY_EVENTS,
	TOP_BY_COST,
	TOP_ORDERS
};

struct top_graind {
	bool answers;
	char why[512]; /* when it does not */
	char version[32];
	double cpu_seconds, worker_seconds, memory; /* NAN: unknown */
	double lost;
	double cpu_percent, worker_percent; /* since the last look */
};

struct top {
	uint64_t now_ns; /* CLOCK_MONOTONIC; 0: nothing was seen yet */
	struct top_graind graind;
	struct top_job *jobs;
	size_t count;
};

/*
 * Looks again. Threads are read of the job `chosen` only, of every job if that
 * is 0. Without a graind at ctl->socket the jobs of private ones in the state
 * directory are listed. 0 or -ENOMEM.
 */
int top__look(const struct ctl *ctl, struct top *top, uint64_t chosen);
void top__sort(struct top *top, enum top_order order, bool reverse);
const char *top_order__name(enum top_order order);
void top__free(struct top *top); /* leaves it as if nothing was seen */

/* The same as JSON: {"graind":{...},"jobs":[{...,"thread_list":[...]}]}, or NULL. */
json_t *top__json(const struct top *top);

/* Two lines about graind, each without its end. */
void top__print_graind(const struct top *top, char lines[2][512]);
/* Tables, at most `width` columns wide; their first line is the titles. 0 or -ENOMEM. */
int top__print_jobs(const struct top *top, unsigned width, FILE *out);
int top__print_threads(const struct top_job *job, unsigned width, FILE *out);
/* One line about one job. */
void top__describe(const struct top_job *job, char *out, size_t size);
/* One line about its problems, "" when none is known. */
void top__print_problems(const struct top_job *job, char *out, size_t size);

#endif
