/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime files in which a session has probes for all processes: the system's runtimes, and all others
 * that a process maps. A thread, the attacher, attaches to one file after the other.
 */
#ifndef GRAIND_SESSION_FILES_H
#define GRAIND_SESSION_FILES_H

#include "daemon/graind/attach/attach.h"
#include "daemon/graind/attach/program_bodies.h"
#include "daemon/graind/limits/thread_pool.h"
#include "daemon/graind/process/watch.h"

#include <stdatomic.h>

#define SESSION_FILES_MOST 32

struct session_files {
	/* Only the session's thread uses these. */
	struct capture *capture;
	struct watch *watch; /* NULL: processes are seen by their events only */
	uint64_t number;     /* the number of the session's job */
	struct thread_pool *attacher;
	unsigned int asked;	   /* number of orders to the attacher that are not done yet */
	unsigned int asked_mapped; /* number of those orders that examine all processes */
	/*
	 * Only the attacher changes these once it runs. `lock` guards what other threads read. No thread
	 * holds it for long.
	 */
	pthread_mutex_t lock;
	struct job *job; /* the session's job; NULL after session_files__conclude() */
	struct runtime_file list[SESSION_FILES_MOST];
	uint64_t attached_ns[SESSION_FILES_MOST]; /* when the file got its probes */
	uid_t account[SESSION_FILES_MOST];	  /* the account for which the probes count */
	bool crowded; /* there were too many files: some were left out, and this was reported */
	bool bodies[SESSION_FILES_MOST]; /* this libgomp hides its calls of bodies, so programs have probes */
	size_t count, attached;
	size_t lost; /* number of files left out because probes may kill processes with shadow stacks */
	struct program_bodies *program_bodies; /* NULL while no file needs this */
	struct program_bodies *loops; /* probes at static loops in programs; NULL: there are none yet */
	atomic_bool needs_bodies;
};

/*
 * Starts the attacher. Attaches to the system's runtimes, and to all runtimes that a process has mapped;
 * files->attached is their number. Returns 0, or a negative errno if the thread cannot be started.
 */
int session_files__open(struct session_files *files, struct capture *capture, struct watch *watch,
			struct job *job);
/* After this call the attacher does not use the job. Call this before the job is freed. */
void session_files__conclude(struct session_files *files);
/* Ends the attacher and waits for it. The probes stay with the capture. Accepts a struct of zeros. */
void session_files__close(struct session_files *files);

/* Ask the attacher to examine the files of one process that has mapped some, or of all processes. */
void session_files__look(struct session_files *files, pid_t pid, uint64_t time_ns);
void session_files__look_everywhere(struct session_files *files);
/* Finds bodies that a runtime was given for the first time, so that they get probes. */
void session_files__saw(struct session_files *files, const struct ring_event *events, size_t count);

/* Returns a descriptor that is readable when session_files__done() may have something. */
int session_files__fd(const struct session_files *files);
/*
 * Takes one result of the attacher. True: the attacher has found that process *pid mapped a runtime at
 * *time_ns.
 */
bool session_files__done(struct session_files *files, pid_t *pid, uint64_t *time_ns);
/* Whether the attacher has work. Until the work is done, only the attacher may use the capture's probes. */
bool session_files__is_attaching(const struct session_files *files);

/* Whether this file got its probes only after `time_ns`. */
bool session_files__attached_after(struct session_files *files, const struct runtime_file *file,
				   uint64_t time_ns);

#endif
