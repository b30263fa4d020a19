/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What graind has done and what its jobs are like, for Prometheus: OpenMetrics
 * text, version 1.0. At most METRICS_NODE_MAX series of graind itself and of jobs
 * that have ended, and METRICS_JOB_MAX for each job that runs.
 */
#ifndef GRAIND_METRICS_H
#define GRAIND_METRICS_H

#include "daemon/graind/job_view.h"

#include <stddef.h>

#define METRICS_NODE_MAX 300
#define METRICS_JOB_MAX 30
#define METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Jobs that have ended are told for a while, so that a scrape sees how. */
#define METRICS_ENDED 8
#define METRICS_ENDED_NS (UINT64_C(600) * 1000000000)

enum metrics_refusal {
	REFUSED_DENIED,
	REFUSED_GONE,
	REFUSED_BUSY,
	REFUSED_UNSUITABLE,
	REFUSED_OTHER,
	REFUSALS
};

/* Why a finished job was deleted without being asked to. */
enum metrics_deletion { DELETED_AGE, DELETED_BYTES, DELETED_QUOTA, DELETIONS };

/* Of one job, of those that everybody may know who may see it. */
struct metrics_job {
	uint64_t number, ended_ns; /* CLOCK_MONOTONIC; 0: it runs */
	uid_t uid;
	char user[64], command[64], runtime[32];
	uint32_t threads;
	uint64_t grains, events, lost;
	double events_per_s, overhead_percent;
	struct live_measures live;
	struct job_measures measures;
	struct job_ceiling ceiling;
};

/* Belongs to the registry of jobs, whose lock guards it. */
struct metrics {
	uint64_t started, finished, failed, refused[REFUSALS];
	uint64_t deleted[DELETIONS], ended_by_quota;
	uint64_t grains, events, lost[LOST_CAUSES]; /* of jobs that have ended */
	struct metrics_job ended[METRICS_ENDED];
	size_t ended_next;
};

struct jobs;

/* With the registry's lock held. */
void metrics__job_ended(struct metrics *metrics, const struct job_view *view);
/* `status`: of HTTP. */
void metrics__refused(struct metrics *metrics, int status);

/* Of the jobs that `peer` may see, 0: of all; NULL without memory. The caller frees it. */
char *metrics__text(struct jobs *jobs, uid_t peer);

#endif
