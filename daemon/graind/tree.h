/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process and those that come from it, observed by one capture. The first
 * has the job that was asked for; each other one gets its own when it uses
 * OpenMP. Probes of all runtime files known are in place before a process maps
 * one; copies that nobody knew are probed as soon as they are mapped.
 *
 * A process that executes another program before it has used OpenMP keeps its
 * job. One that has used it gets a further job from then on: a trace has one
 * address space.
 */
#ifndef GRAIND_TREE_H
#define GRAIND_TREE_H

#include "daemon/graind/attach.h"
#include "daemon/graind/member.h"
#include "daemon/graind/program_bodies.h"
#include "daemon/graind/watch.h"
#include "daemon/graind/windows.h"

#define TREE_MAX_TARGETS 256
#define TREE_MAX_FILES 32

/* A followed process. */
struct target {
	pid_t pid;
	int pidfd;
	const char *forbidden;	 /* why it must not be recorded, or NULL */
	struct process *process; /* as it was when its program began: it may have ended since */
	uint64_t parent_job;
	uint64_t attached_ns;	 /* when its probes were in place */
	uint64_t since_ns;	 /* when its present program began */
	uint64_t mapped_ns;	 /* of the mapping that is to be looked at */
	uint64_t signature;	 /* of its mappings, where the kernel does not tell of new ones */
	bool late;		 /* it may have used a runtime before the probes were in place */
	bool unseen;		 /* it had ended by then */
	bool child;		 /* of one that was followed already */
	bool look;		 /* its mappings have changed */
	bool untold;		 /* the kernel had no room to tell what it did, and nobody has looked since */
	bool refused;		 /* it gets no job */
	bool by_itself;		 /* it records from inside */
	bool wants_probes;	 /* its libomp does not */
	bool no_probes;		 /* its libomp does, or will: the library is being put into it */
	bool probed;		 /* a runtime is that it has mapped, for its own sake */
	bool bodies;		 /* it has mapped a runtime whose bodies are observed in the program */
	bool leader_gone;	 /* the kernel follows it by a thread that has ended */
	struct member *member;	 /* NULL until it uses OpenMP */
	struct member *previous; /* of the program before, until the rings are read once more */
};

struct tree {
	struct jobs *jobs;
	uid_t uid; /* whose processes are followed; root: everybody's */
	struct capture *capture;
	double ns_per_event;
	bool samples_only;  /* no runtime is looked for: every process that is sampled gets a job */
	bool fast;	    /* nor where libgrainshim is: its processes come to shim_server by themselves */
	uint64_t max_bytes; /* of each job's files, by request; 0: none was given */
	bool lossless;	    /* and wait when their rings are full */
	const struct counter_set *counters; /* that processes which come by themselves read; NULL: none */
	bool attached;			    /* to a process that was running */
	uint64_t fullest;    /* words in the fullest of those rings when they were emptied last */
	struct watch *watch; /* NULL: the kernel does not tell, mappings are looked at now and then */
	struct runtime_file files[TREE_MAX_FILES];
	bool usable[TREE_MAX_FILES];	       /* probes are attached in it */
	bool bodies[TREE_MAX_FILES];	       /* its bodies are observed in the programs */
	struct program_bodies *program_bodies; /* NULL while there is no such file */
	size_t file_count;
	struct target targets[TREE_MAX_TARGETS];
	size_t target_count;
	struct target *hit; /* the last event's */
	struct ring_event *held;
	size_t held_count, held_room; /* events of programs that have just begun */
	uint64_t missed; /* children that ended, or may have used OpenMP, before they could be probed */
	uint64_t looked_ns;
	struct windows windows; /* opened when recording begins */
};

/*
 * Opens the capture, with the runtimes of the system and of the process; nothing
 * is recorded yet. Returns the number of runtimes that are mapped and probed, or
 * -1 with *failure set. tree__close whatever the result.
 */
int tree__open(struct tree *tree, struct job *job, struct failure *failure);
void tree__close(struct tree *tree);

/* Probes in the runtimes of the system, so that one that is loaded later is observed from its first event on.
 */
void tree__add_system_files(struct tree *tree);
/* Of those that the target has mapped and that are observed. */
const char *tree__name_runtimes(const struct tree *tree, const struct target *target);
/* Files, probes and `late` as of its mappings now; the number of its usable runtimes. */
int tree__look(struct tree *tree, struct target *target, struct failure *failure);
/* Records it from now on; false when it cannot be. */
bool tree__begin(struct tree *tree, struct target *target, struct failure *failure);

/* What the processes have done since the last call. */
void tree__follow(struct tree *tree);
/* What the rings hold; the number of events. */
long tree__drain(struct tree *tree);
/* Of a tree of processes that write by themselves: takes who has come, and what they have written; sets
 * `fullest`. */
void tree__drain_shims(struct tree *tree);
/* They write no more, so that there is an end of what they have written. */
void tree__disable_shims(struct tree *tree);
/* Windows of those that write by themselves. */
void tree__pause_shims(struct tree *tree);
void tree__resume_shims(struct tree *tree);
/* What writing took the thread that wrote most since the last call, in ns, as its process says. */
double tree__cost_of_shims(struct tree *tree);
/* Of a tree whose recording begins: its ceiling, if it has one (tree_windows.c). */
void tree__limit(struct tree *tree, const struct job *job);
/* Ends the target's job, if any, and leaves the process alone. */
void tree__drop(struct tree *tree, size_t index, enum job_reason reason);

#endif
