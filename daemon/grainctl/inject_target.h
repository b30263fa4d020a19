/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running process that a library is to be put into: what is loaded in it,
 * read from its memory with the rights of the caller, and where a thread of it
 * must not be stopped for that.
 */
#ifndef GRAINCTL_INJECT_TARGET_H
#define GRAINCTL_INJECT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inject_range {
	uint64_t from, to;
};

/* A list of ranges; `room` is of the memory. */
struct inject_ranges {
	struct inject_range *all;
	size_t count, room;
};

#define INJECT_SIGNAL_RETURNS 4

struct inject_target {
	pid_t pid;
	pid_t inner_pid;	/* as the process itself sees it */
	uint64_t open, error;	/* dlopen, dlerror */
	uint64_t runtime;	/* GOMP_parallel of libgomp */
	uint64_t attach, begin; /* the library's entry points; 0: it is not loaded yet */
	uint64_t scratch;	/* code that ran once, at the program's start */
	uint64_t signal_return[INJECT_SIGNAL_RETURNS]; /* where signal handlers return to */
	size_t signal_returns;
	struct inject_ranges libc;     /* its code */
	struct inject_ranges known;    /* functions of libc that have a name */
	struct inject_ranges closed;   /* code that may hold a lock which loading a library needs */
	struct inject_ranges writable; /* where stacks may be */
	struct inject_range main_stack;
};

/*
 * Looks at the process. 0; or -1 with one line in `why`: it cannot be recorded
 * so, or the caller may not. Release whatever the result.
 */
int inject_target__look(pid_t pid, struct inject_target *out, char why[512]);
void inject_target__release(struct inject_target *target);

bool inject_ranges__have(const struct inject_ranges *ranges, uint64_t address);

/* Memory of the process; false unless all of it was read or written. */
bool inject_target__read(pid_t pid, uint64_t address, void *to, size_t size);
bool inject_target__write(pid_t pid, uint64_t address, const void *from, size_t size);

#endif
