/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a tree. A tree is a process and its descendants, which one capture observes. The first
 * process has the requested job. Each other process gets its own job when it uses OpenMP. The known runtime
 * files have probes before a process maps them. Another copy of a runtime gets probes as soon as it is
 * mapped.
 *
 * A process that executes another program keeps its job if it has not used OpenMP yet. Otherwise the next
 * program gets a new job, because a trace describes one address space.
 */
#ifndef GRAIND_TREE_STATE_H
#define GRAIND_TREE_STATE_H

#include "daemon/graind/attach/attach.h"
#include "daemon/graind/limits/budget.h"
#include "daemon/graind/tree/tree_member.h"
#include "daemon/graind/attach/program_bodies.h"
#include "daemon/graind/drain/event_buffer.h"
#include "daemon/graind/base/urgency.h"
#include "daemon/graind/process/watch.h"
#include "daemon/graind/drain/windows.h"

#define TREE_MAX_TARGETS 256
#define TREE_MAX_FILES 32

/* A followed process. */
struct target {
	pid_t pid;
	int pidfd;
	const char *forbidden;	   /* why it must not be recorded; NULL: it may be recorded */
	struct process *process;   /* its state when its program began; it may have ended since */
	struct budget_share share; /* its part of the budget of processes with probes */
	uint64_t parent_job;
	uint64_t attached_ns; /* when its probes were in place */
	uint64_t since_ns;    /* when its present program began */
	uint64_t mapped_ns;   /* time of the mapping that must be examined */
	uint64_t signature;   /* signature of its mappings; used where the kernel does not report new ones */
	bool late;	      /* it may have used a runtime before the probes were in place */
	bool unseen;	      /* it had ended before the probes were in place */
	bool child;	      /* it is a child of a followed process */
	bool look;	      /* its mappings have changed and must be examined */
	bool untold;	/* the kernel's buffer was full, so its news may be missing, and it was not examined
			   since */
	bool refused;	/* it gets no job */
	bool left;	/* it gets no job, because its program ended before its rings were made */
	bool by_itself; /* libgrainshim records it from inside */
	bool wants_probes; /* its libomp is not recorded from inside, so it needs probes */
	bool no_probes; /* its libomp is recorded from inside, or libgrainshim is being injected for that */
	bool probed;	/* a runtime that it has mapped has probes for this process */
	bool bodies; /* it has mapped a runtime that hides its calls of bodies, so its program has probes */
	bool shadow_stack; /* it has a shadow stack, which this kernel's probes break: it gets no probes */
	bool leader_gone;  /* the thread by which the kernel follows it has ended */
	size_t loops_told; /* number of unseen static loops that the job's notes tell */
	struct tree_member *member;   /* NULL until it uses OpenMP */
	struct tree_member *previous; /* the previous program's member, until the rings were read again */
};

struct tree {
	struct jobs *jobs;
	uid_t uid; /* the user whose processes are followed; root: processes of all users */
	struct attachment attachment;
	struct capture *capture;     /* attachment.capture */
	struct event_buffer *buffer; /* for the capture's rings; NULL: probes write little */
	double ns_per_event;	     /* what an event costs; 0: unknown */
	double ceiling_percent;	     /* as requested; 0: not requested */
	bool limited;		     /* tree__limit() was called */
	bool samples_only;	     /* no runtime is searched for: every sampled process gets a job */
	unsigned int sample_hz;
	bool no_kernel_names; /* see struct recorder_capture */
	bool fast; /* no runtime is searched for: processes with libgrainshim connect to shim_server */
	uint64_t max_bytes; /* limit for each job's files, as requested; 0: not requested */
	bool lossless;	    /* with `fast`: threads wait when their rings are full */
	/*
	 * The counters that libgrainshim reads; NULL: none. This is a copy, because the first job may have
	 * ended.
	 */
	struct counter_set *counters;
	bool attached;	  /* the first process was running before the job */
	uint64_t fullest; /* words in the fullest ring of libgrainshim, when rings were last read */
	struct watch
		*watch; /* NULL: the kernel reports nothing, so mappings are examined from time to time */
	struct runtime_file files[TREE_MAX_FILES];
	bool usable[TREE_MAX_FILES]; /* the file has probes */
	bool bodies[TREE_MAX_FILES]; /* the file hides its calls of bodies, so programs have probes */
	struct program_bodies *program_bodies; /* NULL while no file needs this */
	struct program_bodies *loops;	       /* probes at static loops in the programs */
	size_t file_count;
	struct target targets[TREE_MAX_TARGETS];
	size_t target_count;
	struct target *hit; /* the target of the last event */
	struct ring_event *held;
	size_t held_count, held_room; /* `held` has the events of programs that have just begun */
	uint64_t shadowed; /* number of processes that were not recorded because probes would kill them */
	uint64_t missed;  /* number of children that ended, or may have used OpenMP, before they had probes */
	uint64_t crowded; /* number of children that were not recorded: limits in tree_bounds.c */
	uint64_t followed_ns; /* when the news of its processes were last read */
	uint64_t looked_ns;
	uint64_t look_debt_ns, look_debt_at_ns; /* time for examining mappings, minus the allowed time */
	struct urgency_budget urgency;		/* urgency of the thread that drains */
	struct windows windows;			/* initialized when recording begins */
	bool ends;				/* the recording is ending, so nothing may wait any more */
};

/*
 * Opens the capture, with probes in the runtimes of the system and of the process. Does not begin to record.
 * Returns the number of runtimes that are mapped and have probes, or -1 with *failure set. The caller must
 * call tree__close() in both cases.
 */
int tree__open(struct tree *tree, struct job *job, struct failure *failure);
void tree__close(struct tree *tree);

/*
 * Sets probes in the system's runtimes, so that a runtime that is loaded later is recorded from its first
 * event on.
 */
void tree__add_system_files(struct tree *tree);
/* Returns the names of the runtimes that the target has mapped and that are observed. */
const char *tree__name_runtimes(const struct tree *tree, const struct target *target);
/*
 * Checks whether probes would kill the process now. If so, counts it and returns -1 with *failure set,
 * unless the process records itself in a tree without probes. Otherwise returns 0.
 */
int tree__refuse_shadow_stack(struct tree *tree, struct target *target, struct failure *failure);
/* Whether probes would kill any followed process. */
bool tree__has_shadow_stack(const struct tree *tree);
/*
 * Sets probes for one process. Returns -1 with *failure set if there is no place for it. For a child, takes
 * no more CPU time than its user has left.
 */
int tree__set_probes(struct tree *tree, struct target *target, bool child, struct failure *failure);
void tree__take_probes(struct tree *tree, struct target *target);
/* Notes in the requested job how many processes were not recorded. */
void tree__note_missed(const struct tree *tree, struct tree_member *member);
/* Notes how many processes were not recorded because of their shadow stacks. */
void tree__note_shadow_stacks(const struct tree *tree, struct tree_member *member);
/*
 * Updates the target's files, probes and `late` according to its mappings. Returns the number of its usable
 * runtimes, or -1 with *failure set.
 */
int tree__look(struct tree *tree, struct target *target, struct failure *failure);
/* Passes the mappings that the kernel reported to the target's recorder. The process may have ended. */
void tree__tell_maps(struct tree *tree, const struct target *target);
/* Notes in the target's job, if it has one, how many static loops of its programs are not seen. */
void tree__tell_loops(const struct tree *tree, struct target *target);
/* Begins the recording of the target. False with *failure set: it cannot be recorded. */
bool tree__begin(struct tree *tree, struct target *target, struct failure *failure);

/* Takes news of what the processes have done since the last call. */
void tree__follow(struct tree *tree);
/* Drains the rings. Returns the number of events. */
long tree__drain(struct tree *tree);
/* Calls drain_home__look() for the calling thread. */
void tree__look_home(struct tree *tree, struct drain_home *home);
/*
 * For processes that libgrainshim records: takes the processes that have connected, drains their rings and
 * sets `fullest`.
 */
void tree__drain_shims(struct tree *tree);
/* Makes these processes stop writing, so that draining can end. */
void tree__disable_shims(struct tree *tree);
/* These end and begin a window of these processes. */
void tree__pause_shims(struct tree *tree);
void tree__resume_shims(struct tree *tree);
/*
 * Returns the cost of writing since the last call, in ns, in the thread that wrote most, as its process
 * reports it.
 */
double tree__cost_of_shims(struct tree *tree);
/*
 * Finds out what an event costs, tells the jobs that did not know it, and sets up the cost ceiling if there
 * is one (tree_windows.c). The cost is measured once in graind's life. While this is in progress, the call
 * waits for it only with `waits`.
 */
void tree__limit(struct tree *tree, bool waits);
/* Ends the target's job, if any, and stops following the process. */
void tree__drop(struct tree *tree, size_t index, enum job_reason reason);

#endif
