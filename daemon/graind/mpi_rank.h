/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rank of an MPI job a process is, as its launcher wrote into its environment. */
#ifndef GRAIND_MPI_RANK_H
#define GRAIND_MPI_RANK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MPI_RANK_MOST 16777216u
#define MPI_LAUNCH_SIZE 80

struct mpi_rank {
	bool known;
	uint32_t rank;
	uint32_t size;		      /* of the job; 0 = not told */
	char launch[MPI_LAUNCH_SIZE]; /* the same for all ranks of one start, no other's; "" = not told */
};

/*
 * `environment`: strings that end with NUL, one after another, as /proc/PID/environ
 * has them: the process can have put anything there. What is no rank is none,
 * `launch` has letters, digits and ._:@+- only and begins with none of the
 * latter. `batch`: cgroup_name__text(); a batch script is no rank of its steps.
 */
void mpi_rank__read(const char *environment, size_t length, const char *batch, struct mpi_rank *out);

/* {"rank","size" or null,"launch"}, null when it is none; NULL without memory. */
json_t *mpi_rank__json(const struct mpi_rank *rank);

#endif
