/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the summaries that merge's command line names. */
#ifndef GRAINCTL_MERGE_INPUT_H
#define GRAINCTL_MERGE_INPUT_H

#include "daemon/grainctl/terminal/ctl.h"
#include "daemon/grainctl/merge/merge.h"

/*
 * Adds a summary, or all *.json files in a directory. Links in the directory are not followed. 0 or
 * -ENOMEM.
 */
int merge_input__add_path(struct merge *merge, const char *path);

/*
 * Adds jobs of this node. `numbers`: adds these jobs and the ranks among the jobs that come from them.
 * `batch`: adds the jobs of this batch job; "slurm:4711" means all its steps; NULL: any. 0 or -ENOMEM.
 */
int merge_input__add_jobs(struct merge *merge, const struct ctl *ctl, const uint64_t *numbers, size_t count,
			  const char *batch);

#endif
