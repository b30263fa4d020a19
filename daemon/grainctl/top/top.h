/* SPDX-License-Identifier: BSD-2-Clause */
/* The data of `top`: the jobs of a graind at one moment, with rates since the last update. */
#ifndef GRAINCTL_TOP_H
#define GRAINCTL_TOP_H

#include "daemon/grainctl/terminal/ctl.h"
#include "daemon/grainctl/client/job.h"

#include <jansson.h>

#define TOP_THREADS 1024 /* most threads that are read: for the chosen job, and for all others together */
#define TOP_ENDED 32	 /* most ended jobs that stay in view */

struct top_thread {
	int tid, cpu;
	char name[64], state; /* name, and state of /proc: R, S, D, ... */
	uint64_t ran_ns, waited_ns, preemptions;
	double cpu_percent, wait_percent, preemptions_per_s; /* NAN: not known yet */
};

struct top_job {
	struct job job;
	json_t *json;		   /* the job as graind describes it */
	uint64_t ran_ns;	   /* CPU time of its process */
	double grains_per_s, cpus; /* NAN: not known yet; cpus: CPU time a second */
	struct top_thread *threads;
	size_t thread_count;
	char live[64]; /* its measures, while it runs */
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
	char why[512]; /* why the job does not record */
	char version[32];
	double cpu_seconds, worker_seconds, memory; /* NAN: not known */
	double lost;
	double cpu_percent, worker_percent; /* since the last update */
};

struct top {
	uint64_t now_ns; /* time of the last update, CLOCK_MONOTONIC; 0: none yet */
	struct top_graind graind;
	struct top_job *jobs;
	size_t count;
};

/*
 * Updates the data. Reads the threads of the job `chosen` only, or of every job if `chosen` is 0. If no
 * graind listens at ctl->socket, lists the jobs of private grainds in the state directory. 0 or -ENOMEM.
 */
int top__look(const struct ctl *ctl, struct top *top, uint64_t chosen);
void top__sort(struct top *top, enum top_order order, bool reverse);
const char *top_order__name(enum top_order order);
void top__free(struct top *top); /* frees the contents; `top` can be used again */

/* Returns the data as JSON: {"graind":{...},"jobs":[{...,"thread_list":[...]}]}; NULL: out of memory. */
json_t *top__json(const struct top *top);

/* Writes two lines about graind, without line ends. */
void top__print_graind(const struct top *top, char lines[2][512]);
/* Writes a table of at most `width` columns; the first line has the titles. 0 or -ENOMEM. */
int top__print_jobs(const struct top *top, unsigned width, FILE *out);
int top__print_threads(const struct top_job *job, unsigned width, FILE *out);
/* Writes one line about a job. */
void top__describe(const struct top_job *job, char *out, size_t size);
/* Writes one line about the job's problems; "": none is known. */
void top__print_problems(const struct top_job *job, char *out, size_t size);

#endif
