/* SPDX-License-Identifier: BSD-2-Clause */
/* Finishes a job whose trace is complete. */
#ifndef GRAIND_JOB_CONCLUDE_H
#define GRAIND_JOB_CONCLUDE_H

#include "daemon/graind/jobs/job.h"

/*
 * Does everything after the recorder has finished: summary, last state, retirement. Frees the job.
 * trace_error: why the trace is incomplete; 0: it is complete.
 */
void job__conclude(struct job *job, bool with_summary, int trace_error);

/* Runs in the worker (worker.h), from stdin to stdout. Returns the exit status. */
int worker__summary(uint64_t job);

#endif
