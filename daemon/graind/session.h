/* SPDX-License-Identifier: BSD-2-Clause */
/* A session as its files see it: session.c has its loop, session_members.c the processes. */
#ifndef GRAIND_SESSION_H
#define GRAIND_SESSION_H

#include "daemon/graind/backlog.h"
#include "daemon/graind/executions.h"
#include "daemon/graind/opening.h"
#include "daemon/graind/refusals.h"
#include "daemon/graind/reservoir.h"
#include "daemon/graind/session_files.h"
#include "daemon/graind/watch.h"
#include "daemon/graind/windows.h"

#define SESSION_MOST 256

/* A process that is recorded. */
struct session_member {
	pid_t pid;
	struct job *job;
	struct recorder *recorder;
	struct drain_pace pace;
	struct capture_losses before; /* of its process, when it was seen first */
	uint64_t until_ns;	      /* later events are those of another program */
};

/* Processes that should have got a job and have none. */
struct session_unrecorded {
	uint64_t ended;	  /* before graind had read what they are */
	uint64_t crowded; /* there was no room for ten seconds, or the session ended before there was */
	uint64_t failed;
};

struct session {
	struct job *job;
	struct capture *capture;
	double ns_per_event;
	struct reservoir *reservoir;
	struct watch *watch;   /* NULL: processes are seen by their events only */
	struct scouts *scouts; /* read processes, and make their jobs */
	struct session_files files;
	struct windows windows; /* of all processes at the same time */
	struct executions executions;
	struct session_member members[SESSION_MOST];
	size_t member_count;
	struct backlog backlog; /* openings: who may become a member */
	size_t being_made;	/* of them: who has room among the members already */
	uint64_t retry_ns; /* one of them found no room for its job: when to try again; 0: there is some */
	bool ending;
	struct refusals refusals; /* processes that got no job, so that each is tried once */
	uint64_t foreign;	  /* events of processes without a job */
	struct session_unrecorded unrecorded;
};

/* Programs that were executed, runtimes that were mapped: what the kernel has told by now. */
void session__follow(struct session *session);

/* ---- session_members.c ------------------------------------------------ */

/* A process has mapped a runtime: what it is is read before it can end. */
void session_members__look(struct session *session, pid_t pid, uint64_t time_ns);
void session_members__executed(struct session *session, const struct watch_event *event);
/* Takes up what scouts have done, and asks them for what can be done next. */
void session_members__advance(struct session *session);
/* Whether somebody with events may become a member without waiting for another's end. */
bool session_members__is_opening(const struct session *session);
void session_members__feed(struct session *session, unsigned int cpu, const struct ring_event *events,
			   size_t count);
void session_members__window(struct session *session, const struct recorder_window *window);
void session_members__close(struct session *session, size_t index, enum job_reason reason);
/* Of the session: nobody becomes a member any more. Waits for the scouts. */
void session_members__end(struct session *session);

#endif
