/* SPDX-License-Identifier: BSD-2-Clause */
/* A job while it runs; shared by jobs.c (registry) and the threads that run jobs. */
#ifndef GRAIND_JOB_H
#define GRAIND_JOB_H

#include "daemon/graind/jobs/job_index.h"
#include "daemon/graind/jobs/job_view.h"
#include "daemon/graind/jobs/jobs.h"
#include "daemon/graind/jobs/job_totals.h"
#include "daemon/graind/process/process.h"
#include "uprobes/counters/counter_set.h"
#include "uprobes/counters/memory_event.h"

#include <pthread.h>

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a job's state or the list has changed */
	struct job *first;
	size_t count;
	bool ending;
	struct job_store *store;
	struct job_index *index;
	char *socket;
	int idle_fd;
	char method[32];
	struct job_totals totals;
	struct unstored *unstored;  /* unstored.c */
	bool unstored_tried;	    /* a thread is trying to write these descriptions */
	uint64_t unstored_rests_ns; /* no thread tries again before this time */
};

struct job {
	struct jobs *jobs;
	struct job *next;
	/* These are set once, before the job's thread starts. */
	uint64_t number; /* 0 until its directory is made */
	int dirfd;
	int pidfd;   /* -1 for a session */
	int stop_fd; /* eventfd: readable when `stop` has changed */
	bool at_start;
	uint64_t duration_s;
	struct counter_set *counters;	   /* NULL: none */
	struct memory_event *memory_event; /* its samples have data addresses; NULL: not asked for */
	unsigned int sample_hz;		   /* 0: no samples */
	bool sample_optional;		   /* if the budget has none left, it goes on without samples */
	bool samples_only;		   /* no runtime is probed */
	bool fast;		/* no runtime is probed, because libgrainshim records inside the process */
	bool lossless;		/* threads of such a process wait when their rings are full */
	bool by_policy;		/* the session of the processes that the policy profiles always */
	uint64_t max_bytes;	/* limit for its files, from the request; 0: not given */
	double ceiling_percent; /* part of its time that recording may cost; 0: as the policy says */
	uid_t asker; /* account__of() the user who asked for the job; the job uses this account's budget */
	struct process process;
	uid_t account; /* the account for which the job counts (account.h) */
	bool reserved; /* it may use a place that is reserved for root and the admin group */
	/* Guarded by the registry's lock. */
	enum job_reason stop; /* the end that a request has asked for */
	struct job_view view;
	struct failure refused; /* why the job did not start; status 0: it started */
	bool awaited;		/* a request still reads it: it must not be freed */
	uint64_t analysed_ns, analysed_to, analysed_events; /* of the last live analysis */
	uint64_t served_ns;				    /* when live_analysis.c served this job last */
	/*
	 * spooled: events go to a spool file instead of the trace. later_wanted: live_analysis.c asks for
	 * that file. Then `later` is its descriptor; otherwise -1.
	 */
	bool spooled, later_wanted;
	int later;
};

typedef void (*job_change_fn)(struct job_view *view, const void *ctx);

enum job_origin {
	JOB_OF_USER,
	JOB_OF_ADMIN,	/* root or the admin group asked for it */
	JOB_OF_SESSION, /* part of a session, which has its own rules for limiting a user's jobs */
};

/* What job__enter() needs to know of a new job. */
/* What job__enter() needs to know of a new job. */
struct job_opts {
	const struct process *process; /* all zero if the job is of all processes */
	pid_t pid;		       /* 0: of all processes */
	uint64_t parent_job;	       /* see struct job_view; 0: none */
	enum job_origin origin;
};

/*
 * Makes a job and its directory and enters the job into the registry. The job's thread must end with
 * job__retire(), which makes the last change and frees the job, or with job__refuse() if the request was
 * not answered yet. Returns 0, or -1 with *failure set.
 */
int job__enter(struct jobs *jobs, const struct job_opts *opts, struct job **out, struct failure *failure);
void job__retire(struct job *job, job_change_fn change, const void *ctx);
void job__refuse(struct job *job, const struct failure *failure);
/* Removes the job and its directory, as if the job had never existed. */
void job__discard(struct job *job);

/* These calls need the registry's lock. */
/* Returns the running job if `peer` may see it, or NULL. */
struct job *jobs__find_running(struct jobs *jobs, uint64_t number, uid_t peer);
void job__stop(struct job *job, enum job_reason reason);
void job__take_out(struct job *job);

void job__free(struct job *job);

/*
 * Changes the view under the registry's lock. If the state changes, writes job.json and wakes all threads
 * that wait for `changed`. Only one thread at a time may change the state of a job: the file is written
 * without the lock, and the new state is shown after that.
 */
void job__change(struct job *job, job_change_fn change, const void *ctx);
/*
 * Changes the view, but not the state. Does nothing if another thread holds the lock. Returns whether the
 * view was changed.
 */
bool job__try_change(struct job *job, job_change_fn change, const void *ctx);
void job__set_state(struct job *job, enum job_state state);

enum job_reason job__wanted_stop(struct job *job);
/* Adds a line for people to the job and to the log. */
void job__note(struct job *job, const char *text);
/* Notes why sources have no names. `error` is from recorder__finish(); 0: nothing to note. */
void job__note_unnamed(struct job *job, int error);
void job__note_method(struct job *job, const char *method);
/*
 * Returns the time limit for a worker that should have `seconds`. It is shorter when graind is about to
 * end.
 */
unsigned int job__patience(struct job *job, unsigned int seconds);

/* Deletes the files of a job that does not run here. 0 or a negative errno. */
int jobs__drop(struct jobs *jobs, uint64_t number);

/* Returns the bytes that the job's files may take: the smaller of the request's limit and the policy's. */
uint64_t job__ceiling(const struct job *job);

/* Starts a detached thread. 0 or a negative errno. */
int job__start_thread(void *(*run)(void *), void *argument);

#endif
