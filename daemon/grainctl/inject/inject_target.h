/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running process into which a library will be injected: its loaded objects, and the code in which a
 * thread must not be when it is stopped for that. Everything is read from the memory of the process, with
 * the rights of the caller.
 */
#ifndef GRAINCTL_INJECT_TARGET_H
#define GRAINCTL_INJECT_TARGET_H

#include "daemon/grainctl/inject/inject_identity.h"
#include "daemon/grainctl/inject/inject_ranges.h"
#include "daemon/common/process/process_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The code of an object, and its unwind table (inject_cfi.h). */
struct inject_object {
	uint64_t from, to, frames;
};

#define INJECT_SIGNAL_RETURNS 4

struct inject_target {
	pid_t pid;
	struct inject_identity *identity; /* identity at the time of the inspection */
	pid_t inner_pid;		  /* the process' number in its own pid namespace */
	uint64_t open, error;		  /* addresses of dlopen and dlerror */
	uint64_t runtime;		  /* the address of a function that programs call in the runtime */
	uint64_t attach, begin; /* addresses of the library's entry points; 0: it is not loaded yet */
	uint64_t scratch; /* code that has run once, at the program's start, and may be overwritten now */
	uint64_t signal_return[INJECT_SIGNAL_RETURNS]; /* signal handlers return to one of these */
	size_t signal_returns;
	struct inject_ranges libc;     /* the code of libc */
	struct inject_ranges known;    /* the functions of libc that have a name */
	struct inject_ranges unsafe;   /* code that may hold a lock which loading a library needs */
	struct inject_ranges writable; /* writable memory: stacks may be there */
	struct inject_ranges loader;   /* the loader's data, with its locks */
	struct inject_range main_stack;
	struct inject_object *objects;
	size_t object_count, object_room;
};

/*
 * Inspects the process. Returns 0; or, with the reason in `why`, -1 if it cannot be recorded from inside,
 * -EACCES if the caller may not do so, or -EAGAIN if it may be possible in a moment. The caller must release
 * *out in all cases.
 */
int inject_target__look(pid_t pid, struct inject_target *out, char why[512]);
void inject_target__release(struct inject_target *target);

/* Finds again where stacks may be: new threads may have begun. */
void inject_target__find_stacks(struct inject_target *target);

#endif
