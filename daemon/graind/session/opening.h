/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening: the steps in which a process of a session gets its job. Threads of a pool read the process,
 * search files that are new to graind for runtimes, make the job and its recorder, then write the events
 * that were held meanwhile. The session's thread decides on the next step and never waits.
 */
#ifndef GRAIND_OPENING_H
#define GRAIND_OPENING_H

#include "daemon/graind/session/backlog.h"
#include "daemon/graind/drain/drain.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/session/candidate.h"
#include "daemon/graind/limits/thread_pool.h"

enum opening_state {
	OPENING_READING,   /* a thread of the pool reads the process */
	OPENING_SEARCHING, /* a patient thread of the pool searches for its runtimes */
	OPENING_KNOWN,	   /* the process was read; it waits for its first event, or for room for a job */
	OPENING_MAKING,	   /* a thread of the pool makes its job */
	OPENING_MADE,	   /* it has a job; a thread of the pool may be writing the held events */
};

enum opening_answer {
	OPENING_DONE,
	OPENING_UNWANTED, /* the policy or the user does not want it recorded */
	OPENING_NO_ROOM,  /* *failure says what is full; there may be room later */
	OPENING_FAILED,	  /* *failure says why */
};

struct opening {
	struct pool_work work;
	struct backlog_entry entry;
	enum opening_state state;
	uint64_t mapped_ns; /* when it mapped its runtime; 0: its first event was seen before that */
	uint64_t retry_ns;  /* when to try again */
	struct capture_losses before; /* the capture's losses of it when it was first seen */
	struct candidate *candidate;
	/* Input for the thread that makes the job. The session's thread writes it before. */
	const struct job *session;
	struct recorder_capture about;
	uint64_t parent_job;
	/* Output of the threads of the pool. */
	enum opening_answer answer;
	struct failure failure;
	struct job *job;
	struct recorder *recorder;
	struct drain_pace pace;
	struct held_events writing;
	/* Windows that began or ended while the process was being opened. */
	struct recorder_window *windows;
	size_t window_count;
	bool was_paused;   /* at a time between two windows, it had no event yet */
	uint64_t ended_ns; /* when its end was noticed; 0: it has not ended */
};

/* `mapped_ns` 0: the process is opened because of its first event. NULL: out of memory. */
struct opening *opening__new(pid_t pid, uint64_t mapped_ns);
/* Frees the opening and everything in it that was not taken over. Accepts NULL. */
void opening__free(struct opening *opening);

struct opening *opening__of_entry(struct backlog_entry *entry);
struct opening *opening__of_work(struct pool_work *work);
/* A pool_account_fn: the account of the process' user. */
uid_t opening__account(struct pool_work *work);
/*
 * Whether the session must record the process, as far as is known. A process that could not be read counts
 * as wanted.
 */
bool opening__is_wanted(const struct opening *opening);
/* Returns when the process' program was first seen. */
uint64_t opening__since_ns(const struct opening *opening);

/* The steps. The pool owns the opening until thread_pool__take() returns it. */
void opening__read(struct opening *opening, struct thread_pool *pool);
void opening__search(struct opening *opening, struct thread_pool *pool);
void opening__make(struct opening *opening, struct thread_pool *pool);
void opening__write(struct opening *opening, struct backlog *backlog, struct thread_pool *pool);

void held_events__feed(const struct held_events *held, struct recorder *recorder);

#endif
