/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is open on each thread of an event log, and in tasks that are
 * suspended. Used by log_check.c.
 *
 * A thread's stack is a list of segments: what is open in its initial task, in
 * one member, in one task. A task moves from thread to thread with its segment,
 * so that no event costs more than what is open in one task.
 */
#ifndef GRAIND_LOG_STACK_H
#define GRAIND_LOG_STACK_H

#include "analysis/event_build.h"

struct log_frame {
	uint64_t value;
	uint64_t losses; /* of its thread when it came there */
	uint32_t id;
	uint32_t below; /* frame of the same segment, GRAIN_NONE */
	uint8_t kind;	/* of the event that opened it */
	uint8_t sub;
	bool left; /* of a member: its last barrier is over */
};

struct log_segment {
	uint32_t top;	 /* its innermost frame; GRAIN_NONE: empty, only where a thread's stack begins */
	uint32_t frames; /* how many */
	uint32_t task;	 /* whose code it is; GRAIN_NONE: a member's or the initial task's */
	uint32_t thread; /* GRAIN_NONE: suspended */
	uint32_t below, above;
};

struct log_thread {
	uint64_t losses; /* events that say that some of its events are missing */
	uint64_t last_ns;
	uint32_t tid;
	uint32_t top; /* segment */
	uint16_t cpu;
	bool begun;
};

/* No program has more open in one task that moves. */
#define LOG_MOVED_FRAMES 256

struct log_stacks {
	struct event_stream *stream; /* whose trouble is marked */
	struct budget *budget;
	struct log_thread *threads;
	uint32_t thread_count;
	struct log_frame *frames;
	struct log_segment *segments;
	uint32_t frame_count, segment_count;
	uint32_t free_frame, free_segment; /* lists by below */
	uint32_t *task_segment;		   /* of tasks that have begun and not ended */
	uint64_t losses;		   /* that concern all threads */
};

/* A thread on which nothing is open; *index is its place in threads. */
int log_stacks__add_thread(struct log_stacks *s, uint32_t tid, uint32_t *index);
/* The innermost open thing, NULL: nothing. Valid until the next push. */
struct log_frame *log_stacks__top(const struct log_stacks *s, const struct log_thread *t);
int log_stacks__push(struct log_stacks *s, struct log_thread *t, struct log_frame frame);
/* Something must be open. What was lost while it was is marked in the stream. */
void log_stacks__pop(struct log_stacks *s, struct log_thread *t);
/* The task whose code the thread executes; GRAIN_NONE: none. */
uint32_t log_stacks__task(const struct log_stacks *s, const struct log_thread *t);
/* Takes the task, with what is open in it, from where it was to the top of `to`; what is wrong, or NULL. */
const char *log_stacks__resume(struct log_stacks *s, uint32_t task, struct log_thread *to);
/* Takes the task, with what is open in it, off its thread; what is wrong with that, or NULL. */
const char *log_stacks__suspend(struct log_stacks *s, struct log_thread *t, uint32_t task);
/* Whether a task that has begun and not ended is on no thread. */
bool log_stacks__is_suspended(const struct log_stacks *s, uint32_t task);
void log_stacks__free(struct log_stacks *s);

#endif
