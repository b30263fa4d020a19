/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the MPI rank of a process in the environment that its launcher gave it. */
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
	uint32_t size;		      /* ranks of the job; 0: not known */
	char launch[MPI_LAUNCH_SIZE]; /* the same for all ranks of one launch, and for no others; "": not
					 known */
};

/*
 * `environment` is /proc/PID/environ: strings that end with NUL. The process can have put anything into it.
 * Values that are not a valid rank are ignored. `launch` has only letters, digits and ._:@+- and begins
 * with a letter or digit. `batch` is cgroup_name__text(): a batch script itself is not a rank of its steps.
 */
void mpi_rank__read(const char *environment, size_t length, const char *batch, struct mpi_rank *out);

/* Returns {"rank","size" or null,"launch"}; null if the process is not a rank. NULL: out of memory. */
json_t *mpi_rank__json(const struct mpi_rank *rank);

#endif
