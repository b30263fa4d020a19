// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/summary/deliver.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool deliver__cluster_job(const char *batch, const struct mpi_rank *rank, char out[DELIVER_NAME])
{
	bool slurm = !strncmp(batch, "slurm:", 6), pbs = !strncmp(batch, "pbs:", 4);

	if (slurm || pbs)
		snprintf(out, DELIVER_NAME, "%s", batch);
	else if (rank->known && rank->launch[0])
		snprintf(out, DELIVER_NAME, "mpi-%s", rank->launch);
	else
		return false;
	/* All steps of a job have the same name. */
	if (slurm)
		out[strcspn(out, ".")] = 0;
	if (slurm || pbs)
		out[strcspn(out, ":")] = '-';
	for (char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._+@[]-", *c))
			*c = '_';
	return true;
}
