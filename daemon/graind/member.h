/* SPDX-License-Identifier: BSD-2-Clause */
/* One recorded process of a tree: its job, its trace. */
#ifndef GRAIND_MEMBER_H
#define GRAIND_MEMBER_H

#include "daemon/graind/drain.h"
#include "daemon/graind/job.h"
#include "daemon/graind/shim_rings.h"

struct member {
	struct job *job;
	struct recorder *recorder; /* NULL until it uses OpenMP */
	struct shim_rings *shim;   /* NULL: it is observed from outside */
	struct drain_pace pace;
	struct capture_losses before; /* what the capture had lost when it began */
	uint64_t until_ns;	      /* later events are those of another program */
	long got;		      /* events in the last poll */
	bool fleeting;		      /* nobody asked for it: without events it leaves no job */
};

/* What is known of the recording; see struct recorder_capture. */
struct member_start {
	const char *runtime, *method;
	double ns_per_event;
	uint64_t attach_ns;
	bool late;
	const char *source; /* of struct recorder_capture */
};

/*
 * A job for a process that comes from a recorded one, of which `process` is
 * known. It vanishes when the process does not use OpenMP. NULL with *failure set.
 */
struct member *member__new(struct jobs *jobs, const struct process *process, int pidfd, uint64_t parent_job,
			   struct failure *failure);
/* For a job that is there already. */
struct member *member__of(struct job *job);

/* From here on the process is recorded; 0, or -1 with *failure set. */
int member__begin(struct member *member, const struct member_start *start, const struct capture *capture,
		  struct failure *failure);

/* The trace so far is dropped: nothing was in it, and the process has become another program. */
void member__start_over(struct member *member);

/* Another runtime was loaded later. */
void member__runtime(struct member *member, const char *runtime);

/* A line for people that goes with the job. */
void member__note(struct member *member, const char *text);

/*
 * Ends it, in a thread of its own: naming sources takes long, and the rings go
 * on filling. Both member and job are given away.
 * `error`: why nothing was recorded, when it has not begun.
 */
void member__close(struct member *member, enum job_reason reason, const struct capture *capture,
		   const char *error);

#endif
