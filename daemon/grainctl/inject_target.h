/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running process that a library is to be put into: what is loaded in it,
 * read from its memory with the rights of the caller, and where a thread of it
 * must not be stopped for that.
 */
#ifndef GRAINCTL_INJECT_TARGET_H
#define GRAINCTL_INJECT_TARGET_H

#include "daemon/grainctl/inject_memory.h"

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

/* Code of an object, and its table of what its functions' frames are (inject_cfi.h). */
struct inject_object {
	uint64_t from, to, frames;
};

#define INJECT_SIGNAL_RETURNS 4

struct inject_target {
	pid_t pid;
	pid_t inner_pid;	/* as the process itself sees it */
	uint64_t open, error;	/* dlopen, dlerror */
	uint64_t runtime;	/* a function of it that programs call */
	uint64_t attach, begin; /* the library's entry points; 0: it is not loaded yet */
	uint64_t scratch;	/* code that ran once, at the program's start */
	uint64_t signal_return[INJECT_SIGNAL_RETURNS]; /* where signal handlers return to */
	size_t signal_returns;
	struct inject_ranges libc;     /* its code */
	struct inject_ranges known;    /* functions of libc that have a name */
	struct inject_ranges closed;   /* code that may hold a lock which loading a library needs */
	struct inject_ranges writable; /* where stacks may be */
	struct inject_ranges loader;   /* the loader's data, which its locks are in */
	struct inject_range main_stack;
	struct inject_object *objects;
	size_t object_count, object_room;
};

/*
 * Looks at the process. 0; with one line in `why` -1: it cannot be recorded so;
 * -EACCES: the caller may not. Release whatever the result.
 */
int inject_target__look(pid_t pid, struct inject_target *out, char why[512]);
void inject_target__release(struct inject_target *target);

/* Where stacks may be by now: threads have begun since. */
void inject_target__find_stacks(struct inject_target *target);

bool inject_ranges__have(const struct inject_ranges *ranges, uint64_t address);

#endif
