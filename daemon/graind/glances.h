/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only a graph can tell of a job, average parallelism and problems, while it runs: now and then a part
 * of its trace (trace_part.h) is analysed by a worker, one at a time, which takes half a percent of the CPUs
 * at most and none that others want. A job without a graph (samples only, windows) is not looked at. Sleeps
 * while no job runs.
 */
#ifndef GRAIND_GLANCES_H
#define GRAIND_GLANCES_H

#include "daemon/graind/jobs.h"

struct glances;

int glances__start(struct jobs *jobs, struct glances **out);
/* While jobs are there or not; accepts NULL. */
void glances__stop(struct glances *glances);

#endif
