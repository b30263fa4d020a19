/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a process of a session gets its job: scouts read what it is, look for its runtimes in files that are
 * new to graind, then make its job and its record, then write what was held of it meanwhile. The session's
 * thread decides what comes next and never waits.
 */
#ifndef GRAIND_OPENING_H
#define GRAIND_OPENING_H

#include "daemon/graind/backlog.h"
#include "daemon/graind/drain.h"
#include "daemon/graind/job.h"
#include "daemon/graind/prospect.h"
#include "daemon/graind/scouts.h"

enum opening_state {
	OPENING_READING,   /* a scout reads the process */
	OPENING_SEARCHING, /* a patient one looks for its runtimes */
	OPENING_KNOWN,	   /* what it is is known: it waits for its first event, or for room */
	OPENING_MAKING,	   /* a scout makes its job */
	OPENING_MADE,	   /* it is a job; a scout may be writing what was held */
};

enum opening_answer {
	OPENING_DONE,
	OPENING_UNWANTED, /* policy or user */
	OPENING_NO_ROOM,  /* *failure says of what; there may be some later */
	OPENING_FAILED,	  /* *failure says why */
};

struct opening {
	struct scout_work work;
	struct backlog_entry entry;
	enum opening_state state;
	uint64_t mapped_ns;	      /* when its runtime was; 0: its first event was what was seen first */
	uint64_t retry_ns;	      /* not before */
	struct capture_losses before; /* of its process, when it was seen first */
	struct prospect *prospect;
	uid_t uid; /* whose it is, once that has been read */
	/* What a scout makes the job with; the session's thread writes it before. */
	const struct job *session;
	struct recorder_capture about;
	uint64_t parent_job;
	/* What a scout has made, and what it writes. */
	enum opening_answer answer;
	struct failure failure;
	struct job *job;
	struct recorder *recorder;
	struct drain_pace pace;
	struct held_events writing;
	/* Windows that began or ended meanwhile. */
	struct recorder_window *windows;
	size_t window_count;
};

/* NULL without memory. `mapped_ns` 0: it is opened for its first event. */
struct opening *opening__new(pid_t pid, uint64_t mapped_ns);
/* What it has that nobody took; accepts NULL. */
void opening__free(struct opening *opening);

struct opening *opening__of_entry(struct backlog_entry *entry);
struct opening *opening__of_work(struct scout_work *work);
/* When its program was seen first. */
uint64_t opening__since_ns(const struct opening *opening);

/* The steps; the opening is the scouts' until it comes back. */
void opening__read(struct opening *opening, struct scouts *scouts);
void opening__search(struct opening *opening, struct scouts *scouts);
void opening__make(struct opening *opening, struct scouts *scouts);
void opening__write(struct opening *opening, struct backlog *backlog, struct scouts *scouts);

void held_events__feed(const struct held_events *held, struct recorder *recorder);

#endif
