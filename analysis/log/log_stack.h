/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is open on each thread of an event log, and in suspended tasks. log_check.c uses it.
 *
 * The stack of a thread consists of segments: one for its initial task, each member and each task. A segment
 * has what is open in that task or member. A task that moves to another thread takes its segment with it. So
 * the cost of an event depends only on what is open in one task.
 */
#ifndef GRAIND_LOG_STACK_H
#define GRAIND_LOG_STACK_H

#include "analysis/event/event_build.h"

struct log_frame {
	uint64_t value;
	uint64_t losses; /* the thread's `losses` when the frame was put on it */
	uint32_t id;
	uint32_t below; /* a frame of the same segment; GRAIN_NONE: this is the first one */
	uint8_t kind;	/* the kind of the event that opened it */
	uint8_t sub;
	bool left; /* of a member: its last barrier has ended */
};

struct log_segment {
	uint32_t top; /* the innermost frame; GRAIN_NONE: it is empty. Only the first segment of a thread may
			 be empty */
	uint32_t frames; /* number of frames */
	uint32_t task;	 /* its task; GRAIN_NONE: it belongs to a member or the initial task */
	uint32_t thread; /* GRAIN_NONE: its task is suspended */
	uint32_t below, above;
};

struct log_thread {
	uint64_t losses; /* number of lost events on this thread */
	uint64_t last_ns;
	uint32_t tid;
	uint32_t top; /* the innermost segment */
	uint16_t cpu;
	bool begun;
};

/* A task with more open frames than this cannot be moved. No program has such a task. */
#define LOG_MOVED_FRAMES 256

struct log_stacks {
	struct event_stream *stream; /* trouble is marked in it */
	struct budget *budget;
	struct log_thread *threads;
	uint32_t thread_count;
	struct log_frame *frames;
	struct log_segment *segments;
	uint32_t frame_count, segment_count;
	uint32_t free_frame, free_segment; /* the first unused ones; `below` links them */
	uint32_t *task_segment;		   /* per task that has begun and not ended: its segment */
	uint64_t losses;		   /* number of lost events of unknown threads */
};

/* Adds a thread on which nothing is open. *index is its index in `threads`. */
int log_stacks__add_thread(struct log_stacks *s, uint32_t tid, uint32_t *index);
/* Returns the innermost open frame. NULL: nothing is open. The pointer is valid until the next push. */
struct log_frame *log_stacks__top(const struct log_stacks *s, const struct log_thread *t);
int log_stacks__push(struct log_stacks *s, struct log_thread *t, struct log_frame frame);
/*
 * Removes the top frame, which must exist. Marks trouble in the stream if events were lost while it was open.
 */
void log_stacks__pop(struct log_stacks *s, struct log_thread *t);
/* Returns the task that the thread executes. GRAIN_NONE: none. */
uint32_t log_stacks__task(const struct log_stacks *s, const struct log_thread *t);
/* Moves the task, with its open frames, to the top of `to`. Returns what is wrong, or NULL. */
const char *log_stacks__resume(struct log_stacks *s, uint32_t task, struct log_thread *to);
/* Takes the task, with its open frames, off its thread. Returns what is wrong, or NULL. */
const char *log_stacks__suspend(struct log_stacks *s, struct log_thread *t, uint32_t task);
/* Whether a task is suspended. The task must have begun and not ended. */
bool log_stacks__is_suspended(const struct log_stacks *s, uint32_t task);
void log_stacks__free(struct log_stacks *s);

#endif
