/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over all jobs of this graind, and figures of the jobs that ended last. */
#ifndef GRAIND_JOB_TOTALS_H
#define GRAIND_JOB_TOTALS_H

#include "daemon/graind/jobs/job_view.h"

#include <stddef.h>

/* Ended jobs are shown for this long, but at most this many, so that a scrape sees their last figures. */
#define JOB_TOTALS_ENDED 8
#define JOB_TOTALS_ENDED_NS (UINT64_C(600) * 1000000000)

enum job_refusal { REFUSED_DENIED, REFUSED_GONE, REFUSED_BUSY, REFUSED_UNSUITABLE, REFUSED_OTHER, REFUSALS };

/* Why graind deleted a finished job by itself. */
enum job_deletion { DELETED_AGE, DELETED_BYTES, DELETED_QUOTA, DELETIONS };

/* Figures of one job, for everyone who may see the job. */
struct job_figures {
	uint64_t number, ended_ns; /* CLOCK_MONOTONIC; 0: it runs */
	uid_t uid;
	char user[64], command[64], runtime[32];
	uint32_t threads;
	uint64_t grains, events, lost;
	double events_per_s, overhead_percent;
	struct live_measures live;
	struct job_measures measures;
	struct job_ceiling ceiling;
	struct job_account account;
};

/* Part of the registry of jobs, guarded by its lock. */
struct job_totals {
	uint64_t started, finished, failed, refused[REFUSALS];
	uint64_t deleted[DELETIONS], ended_by_quota;
	uint64_t grains, events, lost[LOST_CAUSES]; /* of jobs that have ended */
	struct job_account account;
	struct job_figures ended[JOB_TOTALS_ENDED];
	size_t ended_next;
};

/* These calls need the registry's lock. */
void job_totals__ended(struct job_totals *totals, const struct job_view *view);
/* Counts a refused request by its HTTP status. */
void job_totals__refused(struct job_totals *totals, int status);

/* Adds the job's figures so far. */
void job_totals__add(struct job_totals *totals, const struct job_view *view);
void job_figures__take(struct job_figures *out, const struct job_view *view);

#endif
