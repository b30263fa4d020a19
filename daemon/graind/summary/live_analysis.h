/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While a job runs, computes results that need its grain graph: average parallelism and problems. Now and
 * then a worker analyses a part of a job's trace (trace_part.h). It analyses one job at a time, with at
 * most half a percent of the CPUs, and only when CPUs are idle. Jobs without a graph (samples only,
 * windows) are skipped. Sleeps while no job runs.
 */
#ifndef GRAIND_LIVE_ANALYSIS_H
#define GRAIND_LIVE_ANALYSIS_H

#include "daemon/graind/jobs/jobs.h"

struct live_analysis;

int live_analysis__start(struct jobs *jobs, struct live_analysis **out);
/* Accepts NULL. Jobs may still be running. */
void live_analysis__stop(struct live_analysis *analysis);

/* Runs in the worker (worker.h), from stdin to stdout. Returns the exit status. */
int worker__live_analysis(void);

#endif
