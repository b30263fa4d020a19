/* SPDX-License-Identifier: BSD-2-Clause */
/* The latest processes that executed a program while the session was running. */
#ifndef GRAIND_EXECUTIONS_H
#define GRAIND_EXECUTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXECUTIONS_MOST 1024

struct execution {
	pid_t pid;
	uint64_t time_ns;
	uint64_t parent_job; /* the job of the previous program; 0: it was not recorded */
};

/* If all fields are zero, it is empty. */
struct executions {
	struct execution list[EXECUTIONS_MOST];
	size_t next;
};

/*
 * Adds an execution and returns it, so that the caller can fill in more. It is valid until EXECUTIONS_MOST
 * others were added.
 */
struct execution *executions__add(struct executions *executions, pid_t pid, uint64_t time_ns);
/* Finds the latest execution of the process up to this time. NULL: none. */
const struct execution *executions__find(const struct executions *executions, pid_t pid, uint64_t until_ns);
/* Sets the parent job for the program that the process executed at this time. */
void executions__inherit(struct executions *executions, pid_t pid, uint64_t time_ns, uint64_t parent_job);

#endif
