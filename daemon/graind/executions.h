/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that have executed a program while a session looked: the latest ones. */
#ifndef GRAIND_EXECUTIONS_H
#define GRAIND_EXECUTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXECUTIONS_MOST 1024

struct execution {
	pid_t pid;
	uint64_t time_ns;
	uint64_t parent_job; /* of its program before; 0: it was not recorded */
};

/* Zeroed it is empty. */
struct executions {
	struct execution list[EXECUTIONS_MOST];
	size_t next;
};

/* The one just noted, to be filled in further; it stays until others take its place. */
struct execution *executions__add(struct executions *executions, pid_t pid, uint64_t time_ns);
/* The process' latest until that time, NULL if there is none. */
const struct execution *executions__find(const struct executions *executions, pid_t pid, uint64_t until_ns);
/* The program that it executed at that time comes from this job's. */
void executions__inherit(struct executions *executions, pid_t pid, uint64_t time_ns, uint64_t parent_job);

#endif
