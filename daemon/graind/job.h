/* SPDX-License-Identifier: BSD-2-Clause */
/* A job while it runs; shared by jobs.c (registry) and the threads that run jobs. */
#ifndef GRAIND_JOB_H
#define GRAIND_JOB_H

#include "daemon/graind/job_view.h"
#include "daemon/graind/jobs.h"
#include "daemon/graind/metrics.h"
#include "daemon/graind/process.h"
#include "daemon/graind/recorder.h"
#include "uprobes/counter_set.h"
#include "uprobes/memory_event.h"

#include <pthread.h>

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a state, or the list */
	struct job *first;
	size_t count;
	bool ending;
	struct job_store *store;
	char *socket;
	int idle_fd;
	char method[32];
	struct metrics metrics;
};

struct job {
	struct jobs *jobs;
	struct job *next;
	/* Set once, before the job's thread starts. */
	uint64_t number;
	int dirfd;
	int pidfd;   /* -1 for a session */
	int stop_fd; /* eventfd: look at `stop` */
	bool at_start;
	uint64_t duration_s;
	struct counter_set *counters;	   /* NULL: none */
	struct memory_event *memory_event; /* whose samples have addresses; NULL: not asked for */
	unsigned int sample_hz;		   /* 0: no samples */
	bool samples_only;		   /* no runtime is probed */
	bool fast;			   /* none, because the process tells by itself (libgrainshim) */
	bool lossless;			   /* and waits when its rings are full */
	bool by_policy;			   /* a session of those that are always profiled */
	uint64_t max_bytes;		   /* of its files, by request; 0: none was given */
	double ceiling_percent;		   /* that recording may cost it; 0: as the policy says */
	struct process process;
	/* Under the registry's lock. */
	enum job_reason stop; /* wanted by a request */
	struct job_view view;
	struct failure refused;				 /* status 0 unless it did not start */
	bool awaited;					 /* a request still looks at it: not to be freed */
	uint64_t glanced_ns, glanced_to, glanced_events; /* when glances.c looked last, and up to where */
	/* Events no longer go to the trace; glances.c wants the file that they go to, and has it here; -1. */
	bool spooled, later_wanted;
	int later;
};

typedef void (*job_change_fn)(struct job_view *view, const void *ctx);

/*
 * Enters a new job with its directory. Its thread ends with either
 * job__retire, which makes the last change, gives the directory to the user
 * and frees the job, or with job__refuse before anybody was answered.
 */
int job__enter(struct jobs *jobs, const struct process *process, pid_t pid, uint64_t parent_job,
	       bool by_session, struct job **out, struct failure *failure);
void job__retire(struct job *job, job_change_fn change, const void *ctx);
void job__refuse(struct job *job, const struct failure *failure);
/* As if it had never been: its directory goes too. */
void job__discard(struct job *job);

/* With the lock held. */
void job__stop(struct job *job, enum job_reason reason);
void job__take_out(struct job *job);

void job__free(struct job *job);

/* Changes the view under the lock and, when the state changes, job.json and whoever waits. */
void job__change(struct job *job, job_change_fn change, const void *ctx);
/* Changes what does not end its state, unless that means waiting; whether it did. */
bool job__try_change(struct job *job, job_change_fn change, const void *ctx);
void job__set_state(struct job *job, enum job_state state);

enum job_reason job__wanted_stop(struct job *job);
/* A line for people, in the job and in the log. */
void job__note(struct job *job, const char *text);
/* What recorder__finish() says of the sources; 0 is nothing to say. */
void job__note_unnamed(struct job *job, int error);
void job__note_method(struct job *job, const char *method);
/*
 * Everything after the recorder has finished: summary, last state, retirement.
 * trace_error: why the trace is not whole, 0 = it is.
 */
void job__conclude(struct job *job, bool with_summary, int trace_error);

/* Time limits for the workers: short when graind is about to end. */
unsigned int job__patience(struct job *job, unsigned int seconds);

/* Bytes that its files may take: the request's, the policy's, the smaller of both. */
uint64_t job__ceiling(const struct job *job);

uint64_t job__now_ns(void);

/* A detached thread; 0 or a negative errno. */
int job__start_thread(void *(*run)(void *), void *argument);

/* The jobs' threads. */
void *job_run__thread(void *job);
void *session__thread(void *job);

#endif
