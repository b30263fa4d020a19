/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of graind and of its jobs for Prometheus, as OpenMetrics text, version 1.0. There are at most
 * METRICS_NODE_MAX series for graind and ended jobs together, and METRICS_JOB_MAX for each running job.
 */
#ifndef GRAIND_METRICS_H
#define GRAIND_METRICS_H

#include <sys/types.h>

#define METRICS_NODE_MAX 300
#define METRICS_JOB_MAX 30
#define METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct jobs;

/*
 * Returns the metrics' text with the jobs that `peer` may see (0: all). The caller frees it. NULL: out of
 * memory.
 */
char *metrics__text(struct jobs *jobs, uid_t peer);

#endif
