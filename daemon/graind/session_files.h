/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of runtimes that a session has probed, for all processes: those of the system, and whatever is
 * seen mapped. */
#ifndef GRAIND_SESSION_FILES_H
#define GRAIND_SESSION_FILES_H

#include "daemon/graind/attach.h"
#include "daemon/graind/program_bodies.h"
#include "daemon/graind/prospects.h"
#include "daemon/graind/watch.h"

#define SESSION_FILES_MOST 32

/* Zeroed but for the first four there are none. */
struct session_files {
	struct capture *capture;
	struct watch *watch;		       /* NULL: processes are seen by their events only */
	struct prospects *prospects;	       /* likewise */
	uint64_t job;			       /* the session's number */
	struct program_bodies *program_bodies; /* NULL while there is no file that needs them */
	struct runtime_file list[SESSION_FILES_MOST];
	uint64_t attached_ns[SESSION_FILES_MOST]; /* when the file's probes were in place */
	bool bodies[SESSION_FILES_MOST];	  /* the file's bodies are observed in the programs */
	size_t count, attached;
};

void session_files__add_system(struct session_files *files);
/* Of this process; whether it has mapped any. */
bool session_files__add_of(struct session_files *files, pid_t pid);
/* Of all that are there. */
void session_files__add_mapped(struct session_files *files);
/* Bodies that a runtime is handed for the first time. */
void session_files__saw(struct session_files *files, const struct ring_event *events, size_t count);
/* Whether the probes of this file came after that time. */
bool session_files__attached_after(const struct session_files *files, const struct runtime_file *file,
				   uint64_t time_ns);
void session_files__free(struct session_files *files); /* what is attached is the capture's */

#endif
