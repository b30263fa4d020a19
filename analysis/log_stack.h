/* SPDX-License-Identifier: BSD-2-Clause */
/* What is open on each thread of an event log, and in tasks that are suspended. Used by log_check.c. */
#ifndef GRAIND_LOG_STACK_H
#define GRAIND_LOG_STACK_H

#include "analysis/event_build.h"

struct log_frame {
	uint8_t kind; /* of the event that opened it */
	uint8_t sub;
	bool left; /* of a member: its last barrier is over */
	uint32_t id;
	uint64_t value;
};

struct log_thread {
	uint32_t tid;
	uint16_t cpu;
	bool begun;
	struct log_frame *frames;
	size_t depth, capacity;
};

struct log_parking {
	struct log_thread stack;
	uint32_t next_free;
};

/* In task_thread: the rest is the index of the parking in which the task is. */
#define LOG_PARKED (1u << 31)

struct log_stacks {
	struct budget *budget;
	struct log_thread *threads;
	uint32_t thread_count;
	struct log_parking *parking;
	uint32_t parking_count, parking_free; /* the first free one, GRAIN_NONE */
	uint32_t *task_thread;		      /* of tasks that have begun */
};

int log_stacks__push(struct log_stacks *s, struct log_thread *t, struct log_frame frame);
/* Takes the task, with what is open in it, from where it was to the top of `to`. */
int log_stacks__resume(struct log_stacks *s, uint32_t task, struct log_thread *to);
/* Takes the task, with what is open in it, off its thread; what is wrong with that, or NULL. */
const char *log_stacks__suspend(struct log_stacks *s, struct log_thread *t, uint32_t task, int *error);
void log_stacks__free(struct log_stacks *s);
/* The task whose code the thread executes below `depth` open things; GRAIN_NONE for others. */
uint32_t log_thread__task(const struct log_thread *t, size_t depth);

#endif
