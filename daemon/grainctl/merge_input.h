/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command line of merge names -> summaries. */
#ifndef GRAINCTL_MERGE_INPUT_H
#define GRAINCTL_MERGE_INPUT_H

#include "daemon/grainctl/ctl.h"
#include "daemon/grainctl/merge.h"

/* A summary, or all *.json in a directory; links in that are not followed. 0 or -ENOMEM. */
int merge_input__add_path(struct merge *merge, const char *path);

/*
 * The jobs of this node, as jobs__list shows them. `numbers`: those jobs, and of the jobs that come from them
 * the ranks; `batch`: those of that batch job, "slurm:4711" of all its steps, NULL: none. 0 or -ENOMEM.
 */
int merge_input__add_jobs(struct merge *merge, const struct ctl *ctl, const uint64_t *numbers, size_t count,
			  const char *batch);

#endif
