/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a session, shared by its source files. session.c has the loop, session_members.c the
 * processes.
 */
#ifndef GRAIND_SESSION_STATE_H
#define GRAIND_SESSION_STATE_H

#include "daemon/graind/session/backlog.h"
#include "daemon/graind/session/executions.h"
#include "daemon/graind/session/opening.h"
#include "daemon/graind/session/refusals.h"
#include "daemon/graind/drain/event_buffer.h"
#include "daemon/graind/session/session_files.h"
#include "daemon/graind/base/urgency.h"
#include "daemon/graind/process/watch.h"
#include "daemon/graind/drain/windows.h"

#define SESSION_OF_USERS 256
/* Further places, reserved for root's processes. */
#define SESSION_RESERVED 16
#define SESSION_MOST (SESSION_OF_USERS + SESSION_RESERVED)

/* A process that is recorded. */
struct session_member {
	pid_t pid;
	struct job *job;
	struct recorder *recorder;
	struct drain_pace pace;
	struct capture_losses before; /* the capture's losses of it when it was first seen */
	uint64_t until_ns;	      /* later events belong to the next program of the process */
};

/* Counts processes that should have got a job but have none. */
struct session_unrecorded {
	uint64_t ended;	  /* they ended before graind read them */
	uint64_t crowded; /* there was no room for ten seconds, or until the session ended */
	uint64_t failed;
	uint64_t unseen; /* they had no event in a window, but existed between two windows */
};

struct session {
	struct job *job;
	struct attachment attachment;
	struct capture *capture; /* attachment.capture */
	double ns_per_event;
	struct event_buffer *buffer;
	struct watch *watch;  /* NULL: processes are seen only by their events */
	uint64_t followed_ns; /* when the kernel's news were last read */
	struct urgency_budget urgency;
	struct thread_pool *pool; /* threads that read processes and make their jobs */
	struct session_files files;
	struct windows windows; /* the same for all processes */
	/* Begin and end of the last pause between two windows; 0, 0: there was none. */
	uint64_t paused_ns, resumed_ns;
	struct executions executions;
	struct session_member members[SESSION_MOST];
	size_t member_count;
	struct backlog backlog; /* openings of processes that may become members */
	size_t being_made;	/* number of openings that have reserved a place among the members */
	uint64_t retry_ns; /* when to try again to make a job for which there was no room; 0: there is room */
	bool ending;
	struct refusals refusals; /* processes that get no job, remembered so that each is tried only once */
	uint64_t foreign;	  /* number of events of processes without a job */
	struct session_unrecorded unrecorded;
};

/* Takes what the kernel has reported so far: executed programs and mapped runtimes. */
void session__follow(struct session *session);

/* ---- session_members.c ------------------------------------------------ */

/* A process has mapped a runtime. Reads it at once, before it can end. */
void session_members__look(struct session *session, pid_t pid, uint64_t time_ns);
void session_members__executed(struct session *session, const struct watch_event *event);
/* Takes the results of the pool, and gives the pool the next possible steps. */
void session_members__advance(struct session *session);
/* Whether a process with events may become a member without waiting for another member's end. */
bool session_members__is_opening(const struct session *session);
void session_members__feed(struct session *session, unsigned int cpu, const struct ring_event *events,
			   size_t count);
void session_members__window(struct session *session, const struct recorder_window *window);
void session_members__close(struct session *session, size_t index, enum job_reason reason);
/* Ends the backlog: no process becomes a member any more. Waits for the pool. */
void session_members__end(struct session *session);

#endif
