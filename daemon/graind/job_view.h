/* SPDX-License-Identifier: BSD-2-Clause */
/* A job as everybody sees it: the JOB object of daemon/README.md. */
#ifndef GRAIND_JOB_VIEW_H
#define GRAIND_JOB_VIEW_H

#include "daemon/graind/mpi_rank.h"

#include "daemon/graind/live.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum job_state {
	JOB_STARTING, /* not answered yet; shown to nobody */
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

/* Why events are missing: in the kernel, on the way to the file, in a process that writes by itself. */
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

/* What a summary says that can be followed over many jobs. */
struct job_measures {
	double average_parallelism, preempted_share; /* NAN: unknown */
	size_t problem_count;
	struct {
		char name[48];
		double share; /* of the grains */
	} problems[JOB_PROBLEMS];
};

/* Of a job whose cost has a ceiling, or had one. */
struct job_ceiling {
	double percent;		 /* 0: there is none now */
	const char *mode;	 /* "all", "windows", "samples" */
	uint64_t windows;	 /* that have ended */
	double recorded_percent; /* of the time since there is or was this ceiling */
	double cost_percent;	 /* of that time, as graind reckons it; NAN: there is none now */
};

struct job_view {
	uint64_t number;
	uint64_t parent; /* job of the process that this one comes from, 0 = none */
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
	uint64_t grains, events;
	uint64_t lost[LOST_CAUSES]; /* events */
	double events_per_s, overhead_percent, ns_per_event;
	struct live_measures live;    /* while it runs, as far as it can be known then */
	struct job_measures measures; /* once it has ended; before, of the part that was looked at last */
	struct job_ceiling ceiling;
	json_t *problems; /* array of names or NULL; owned by who owns the view */
	json_t *notes;	  /* lines for people; likewise */
};

const char *job_state__name(enum job_state state);
const char *job_reason__name(enum job_reason reason); /* "" while it goes on */

const char *job_loss__name(enum job_loss loss);
uint64_t job_view__lost(const struct job_view *view); /* by all causes */

/* The object, or NULL without memory. */
json_t *job_view__json(const struct job_view *view);

/* User name of `uid` for people, its number when it has none. */
void job_view__name_user(struct job_view *view);

/* Takes problems, measures and overhead from a summary (OUTPUTS: summary --json). */
void job_view__take_summary(struct job_view *view, const json_t *summary);
/* Of a job that runs: average parallelism and problems of a part of it, in a summary's words. */
void job_view__take_glance(struct job_view *view, const json_t *answer);

#endif
