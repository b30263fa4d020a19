/* SPDX-License-Identifier: BSD-2-Clause */
/* A job as clients see it: the JOB object of daemon/README.md. */
#ifndef GRAIND_JOB_VIEW_H
#define GRAIND_JOB_VIEW_H

#include "daemon/graind/jobs/job_account.h"
#include "daemon/graind/process/mpi_rank.h"

#include "daemon/graind/recorder/live.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum job_state {
	JOB_STARTING, /* the request was not answered yet; the job is not shown to anybody */
	JOB_WAITING,
	JOB_RUNNING,
	JOB_FINISHING,
	JOB_FINISHED,
	JOB_FAILED,
};

enum job_reason {
	JOB_GOES_ON,
	JOB_EXIT,
	JOB_EXEC,
	JOB_DETACH,
	JOB_DURATION,
	JOB_SHUTDOWN,
	JOB_QUOTA,
	JOB_OPTOUT
};

/*
 * Why events are missing: lost in the kernel, on the way to the file, or in a process that libgrainshim
 * records.
 */
enum job_loss {
	LOST_RING_FULL,
	LOST_RING_OVERWRITTEN,
	LOST_THREAD_STATE,
	LOST_UNKNOWN_BODIES,
	LOST_NOT_WRITTEN,
	LOST_SHIM,
	LOST_CAUSES
};

#define JOB_PROBLEMS 12

/* The numbers of a summary that can be compared over many jobs. */
struct job_measures {
	double average_parallelism, preempted_share; /* NAN: unknown */
	size_t problem_count;
	struct {
		char name[48];
		double share; /* of all grains */
	} problems[JOB_PROBLEMS];
};

/* The cost ceiling of a job that has one or had one. */
struct job_ceiling {
	double percent;		 /* 0: no ceiling now */
	const char *mode;	 /* "all", "windows", "samples" */
	uint64_t windows;	 /* windows that have ended */
	double recorded_percent; /* of the time during which the ceiling has been in force */
	double cost_percent;	 /* of that time, as graind estimates it; NAN: no ceiling now */
};

struct job_view {
	uint64_t number;
	uint64_t parent; /* the job of the process, or earlier program, that made it; 0: none */
	enum job_state state;
	enum job_reason reason;
	char error[600]; /* one line, "" = none */
	pid_t pid;	 /* 0: every process */
	uid_t uid;
	char user[64];
	char exe[4096], cmd[4096];
	char batch[160]; /* "slurm:4711.0"; "" = a plain process */
	struct mpi_rank mpi;
	char runtime[32], method[32];
	uint32_t threads;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0 while it runs */
	int64_t ended_s;	   /* wall clock, seconds; for deletion by age; 0 while it runs */
	uint64_t grains, events;
	uint64_t lost[LOST_CAUSES]; /* events */
	double events_per_s, overhead_percent, ns_per_event;
	struct live_measures live;    /* while it runs, from its events */
	struct job_measures measures; /* of the whole ended job, else of the part analysed last */
	struct job_ceiling ceiling;
	struct job_account account; /* of the ended job */
	json_t *problems;	    /* array of names or NULL; the owner of the view frees it */
	json_t *notes;		    /* lines for people or NULL; the owner of the view frees them */
};

const char *job_state__name(enum job_state state);
const char *job_reason__name(enum job_reason reason); /* Returns "" for a job that goes on. */

const char *job_loss__name(enum job_loss loss);
uint64_t job_view__lost(const struct job_view *view); /* Returns the sum over all causes. */

/* Returns a new JOB object; NULL: out of memory. */
json_t *job_view__json(const struct job_view *view);

/* Fills view->user: the name of view->uid, or its number if it has no name. */
void job_view__name_user(struct job_view *view);

/* Takes problems, measures, account and overhead from a summary (OUTPUTS: summary --json). */
void job_view__take_summary(struct job_view *view, const json_t *summary);
/*
 * Takes average parallelism and problems of a part of a running job from an answer that has the form of a
 * summary.
 */
void job_view__take_analysis(struct job_view *view, const json_t *answer);

#endif
