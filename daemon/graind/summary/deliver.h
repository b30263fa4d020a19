/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delivers summaries of batch and MPI jobs to the directory that the policy names. This directory may be on
 * a shared file system.
 */
#ifndef GRAIND_DELIVER_H
#define GRAIND_DELIVER_H

#include "daemon/graind/jobs/job.h"

/* The size of the name of a delivered file or of its directory. */
#define DELIVER_NAME 256

/*
 * Call this after summary.json was written. A worker with only the rights of the job's user writes the
 * summary to DIRECTORY/CLUSTER-JOB/HOST-rankR-jobN.json. With report-traces it also writes the trace beside
 * it, with the suffix .grt. If this fails, the job gets a note with the reason. Nothing is delivered
 * without report-directory, for root's jobs, and for jobs that were started neither by a batch system nor
 * by an MPI launcher.
 */
void deliver__job(struct job *job);

/*
 * Whether the sandbox in which graind runs lets it write to report-directory. If not, `why` is one line.
 * Returns true if there is no report-directory.
 */
bool deliver__is_open(char why[400]);

/*
 * Finds the name of the cluster job: "slurm-4711", "pbs-…", "mpi-LAUNCH". False: the job has none.
 * Characters other than letters, digits and ._+@[]- become _.
 */
bool deliver__cluster_job(const char *batch, const struct mpi_rank *rank, char out[DELIVER_NAME]);

/* Runs in the worker (worker.h): writes stdin to `directory`/`job`/`name`. Returns the exit status. */
int worker__deliver(const char *directory, const char *job, const char *name);

#endif
