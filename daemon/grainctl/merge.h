/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Summaries of the ranks of MPI jobs, of whatever nodes, become one a job. Ranks
 * of one start (mpi.launch, else the step of the batch job) are one group.
 */
#ifndef GRAINCTL_MERGE_H
#define GRAINCTL_MERGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MERGE_WHY 256
/* Larger counts are not exact in JSON, and no job's. */
#define MERGE_COUNT_MAX 9e15
#define MERGE_PROBLEMS 16

/* What counts of a rank's summary. Times in ns; NAN: its summary does not tell. */
struct merge_rank {
	char *group;	     /* the same for all ranks of a group */
	uint32_t rank, size; /* size 0: not told */
	double job, pid, start_ns;
	double wall_ns, regions_ns, grain_ns, parallelism;
	double grains, tasks, chunks, incomplete, lost, threads;
	bool late;		 /* its beginning may be missing */
	bool in_part;		 /* not all of it was recorded: windows, or samples alone */
	const char *host, *from; /* of `shown` */
	json_t *shown;		 /* as the result has it */
	json_t *definitions;	 /* of its summary: {"source","func","kind","instances","exec_ns","grains"} */
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
 * Takes what counts of summary.json of a job (daemon/README.md); `from` says where it
 * is from, for people. What is none is left out, which the result says.
 * 0 or -ENOMEM.
 */
int merge__add(struct merge *merge, const json_t *summary, const char *from);
/* There is no summary, for that reason. 0 or -ENOMEM. */
int merge__leave_out(struct merge *merge, const char *from, const char *why);

/*
 * {"merged":[...],"left_out":[{"from","why","again"}]}, see daemon/README.md. Of a
 * rank that is there more than once the longest counts; the others are left out
 * with "again":true. NULL without memory.
 */
json_t *merge__result(struct merge *merge);

/* One group's object, of ranks in ascending order, each once. */
json_t *merge_group__json(const struct merge_rank *ranks, size_t count);

/* The result for people; 0 or -ENOMEM. */
int merge_text__print(const json_t *result, unsigned width, bool colour, FILE *out);

#endif
