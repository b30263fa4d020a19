/* SPDX-License-Identifier: BSD-2-Clause */
/* A recorded process of a tree, with its job and its recorder. */
#ifndef GRAIND_TREE_MEMBER_H
#define GRAIND_TREE_MEMBER_H

#include "daemon/graind/drain/drain.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/shim/shim_rings.h"

struct tree_member {
	struct job *job;
	struct recorder *recorder; /* NULL until it uses OpenMP */
	struct shim_rings *shim;   /* NULL: probes record it */
	struct drain_pace pace;
	struct capture_losses before; /* the capture's losses when this recording began */
	uint64_t until_ns;	      /* later events belong to the next program of the process */
	long got;		      /* number of events in the last poll */
	bool alone; /* no other process of its tree is recorded, so waiting for it delays nobody */
	uint64_t waits_until_ns; /* others may wait for it until then; 0: it need not end yet */
	bool costless;		 /* its recording began when the cost of an event was not known */
	bool fleeting; /* nobody asked for it separately: if it has no events, its job is discarded */
};

/* What is known about the recording; see struct recorder_capture. */
struct tree_member_start {
	const char *runtime, *method;
	double ns_per_event;
	uint64_t attach_ns;
	bool late;
	const char *source; /* see struct recorder_capture */
	bool no_kernel_names;
};

/*
 * Makes a member with a job for a process that descends from a recorded one. The job is discarded if the
 * process does not use OpenMP. NULL with *failure set.
 */
struct tree_member *tree_member__new(struct jobs *jobs, const struct process *process, int pidfd,
				     uint64_t parent_job, struct failure *failure);
/* Makes a member for an existing job. NULL: out of memory. */
struct tree_member *tree_member__of(struct job *job);

/* Begins the recording of the process. 0, or -1 with *failure set. */
int tree_member__begin(struct tree_member *member, const struct tree_member_start *start,
		       const struct capture *capture, struct failure *failure);

/*
 * For a process that has executed another program: whether the earlier program has any events, including
 * everything that libgrainshim wrote.
 */
bool tree_member__has_events(struct tree_member *member);
/* Drops the present trace, which has no events, because the process has executed another program. */
void tree_member__start_over(struct tree_member *member);

/* Tells a costless member what an event costs, in ns. */
void tree_member__cost(struct tree_member *member, double ns_per_event);

/* Tells the member that another runtime was loaded later. */
void tree_member__runtime(struct tree_member *member, const char *runtime);

/* Adds a line for people to the job. */
void tree_member__note(struct tree_member *member, const char *text);

/*
 * Ends the member in a separate thread, as naming sources takes long and the rings fill meanwhile. Takes
 * over the member and its job. `error`: if recording has not begun, the reason why nothing was recorded.
 */
void tree_member__close(struct tree_member *member, enum job_reason reason, const struct capture *capture,
			const char *error);

#endif
