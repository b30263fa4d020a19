/* SPDX-License-Identifier: BSD-2-Clause */
/* Summaries of batch and MPI jobs go to the directory that the policy names, which may be on a shared file
 * system. */
#ifndef GRAIND_DELIVER_H
#define GRAIND_DELIVER_H

#include "daemon/graind/job.h"

/* A directory's or a file's name, as delivered. */
#define DELIVER_NAME 256

/*
 * Once summary.json is written. A worker with the rights of the job's user and no
 * others writes it to DIRECTORY/CLUSTER-JOB/HOST-rankR-jobN.json, and with
 * report-traces the trace to .grt beside it; why it could not becomes a note of the
 * job. Nothing happens without report-directory, for root's jobs, and for jobs of
 * which neither a batch system nor an MPI launcher is known.
 */
void deliver__job(struct job *job);

/* Whether it can be written to where graind runs; `why` is one line if not. Without report-directory it can.
 */
bool deliver__is_open(char why[400]);

/* "slurm-4711", "pbs-…", "mpi-LAUNCH"; false: it has no such name. What is no letter, digit or one of ._+@[]-
 * becomes _. */
bool deliver__cluster_job(const char *batch, const struct mpi_rank *rank, char out[DELIVER_NAME]);

#endif
