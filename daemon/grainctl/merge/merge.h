/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges the summaries of the ranks of MPI jobs into one summary per job. The ranks may be from any nodes.
 * The ranks of one launch (mpi.launch, or else the step of the batch job) form a group.
 */
#ifndef GRAINCTL_MERGE_H
#define GRAINCTL_MERGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MERGE_WHY 256
/* Larger counts are not exact in JSON; no job has them. */
#define MERGE_COUNT_MAX 9e15
#define MERGE_PROBLEMS 16

/* The part of a rank's summary that is used. Times are in ns; NAN: not in the summary. */
struct merge_rank {
	char *group;	     /* the same for all ranks of a group */
	uint32_t rank, size; /* size 0: not known */
	double job, pid, start_ns;
	double wall_ns, regions_ns, grain_ns, parallelism;
	double grains, tasks, chunks, incomplete, lost, threads;
	bool late;		 /* the beginning of its recording may be missing */
	bool in_part;		 /* only a part was recorded: windows, or only samples */
	const char *host, *from; /* these strings belong to `shown` */
	json_t *shown;		 /* the rank's object in the result */
	json_t *definitions; /* from its summary: {"source","func","kind","instances","exec_ns","grains"} */
	size_t problem_count;
	struct {
		char name[48];
		double grains, percent;
	} problems[MERGE_PROBLEMS];
};

struct merge;

struct merge *merge__new(void);	       /* NULL without memory */
void merge__free(struct merge *merge); /* accepts NULL */

/*
 * Adds a job's summary.json (daemon/README.md). `from` tells people where it comes from. Anything that is
 * not a rank's summary is listed as left out. 0 or -ENOMEM.
 */
int merge__add(struct merge *merge, const json_t *summary, const char *from);
/* Lists `from` as left out for the reason `why`. 0 or -ENOMEM. */
int merge__leave_out(struct merge *merge, const char *from, const char *why);

/*
 * Returns {"merged":[...],"left_out":[{"from","why","again"}]}, see daemon/README.md. If a rank has several
 * summaries, the longest run counts; the others are left out with "again":true. NULL: out of memory.
 */
json_t *merge__result(struct merge *merge);

/* Returns the object of one group. The ranks must be in ascending order, each once. NULL: out of memory. */
json_t *merge_group__json(const struct merge_rank *ranks, size_t count);

/* Prints the result for people. 0 or -ENOMEM. */
int merge_text__print(const json_t *result, unsigned width, bool colour, FILE *out);

#endif
