/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of runtimes that a session has probed, for all processes: those of the system, and whatever is
 * seen mapped. A scout of its own attaches to them, one after the other.
 */
#ifndef GRAIND_SESSION_FILES_H
#define GRAIND_SESSION_FILES_H

#include "daemon/graind/attach.h"
#include "daemon/graind/program_bodies.h"
#include "daemon/graind/scouts.h"
#include "daemon/graind/watch.h"

#include <stdatomic.h>

#define SESSION_FILES_MOST 32

struct session_files {
	/* Of the session. */
	struct capture *capture;
	struct watch *watch; /* NULL: processes are seen by their events only */
	uint64_t job;	     /* the session's number */
	struct scouts *attacher;
	unsigned int asked;	   /* of it, and not yet done */
	unsigned int asked_mapped; /* of that: looks at all processes */
	/* Of the attacher, once there is one; what others read has a lock, which is never held for long. */
	pthread_mutex_t lock;
	struct runtime_file list[SESSION_FILES_MOST];
	uint64_t attached_ns[SESSION_FILES_MOST]; /* when the file's probes were in place */
	bool bodies[SESSION_FILES_MOST];	  /* the file's bodies are observed in the programs */
	size_t count, attached;
	struct program_bodies *program_bodies; /* NULL while there is no file that needs them */
	atomic_bool needs_bodies;
};

/*
 * Attaches to the files of the system and to those that are mapped anywhere; `files->attached` says to how
 * many. -errno: no thread.
 */
int session_files__open(struct session_files *files, struct capture *capture, struct watch *watch,
			uint64_t job);
/* Waits for the attacher; what is attached is the capture's. Accepts what is zeroed. */
void session_files__close(struct session_files *files);

/* The process has mapped a file that may be new; all of them may have. */
void session_files__look(struct session_files *files, pid_t pid, uint64_t time_ns);
void session_files__look_everywhere(struct session_files *files);
/* Bodies that a runtime is handed for the first time. */
void session_files__saw(struct session_files *files, const struct ring_event *events, size_t count);

/* Readable when session_files__done may have something. */
int session_files__fd(const struct session_files *files);
/* Takes up what the attacher has done; whether a process was found that has mapped a runtime, and when. */
bool session_files__done(struct session_files *files, pid_t *pid, uint64_t *time_ns);
/* The capture's probes are the attacher's until it has done what it was asked for. */
bool session_files__is_attaching(const struct session_files *files);

/* Whether the probes of this file came after that time. */
bool session_files__attached_after(struct session_files *files, const struct runtime_file *file,
				   uint64_t time_ns);

#endif
