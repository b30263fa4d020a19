/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes do, as the kernel tells it at once (perf events): they fork,
 * execute another program, map a file executable. One set of per-CPU buffers
 * serves all watches of this graind and exists only while there is one.
 */
#ifndef GRAIND_WATCH_H
#define GRAIND_WATCH_H

#include "daemon/graind/modules.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum watch_kind {
	WATCH_FORK,   /* `parent` has made the process `pid`, which is watched from now on */
	WATCH_EXEC,   /* `pid` has executed another program */
	WATCH_MAP,    /* `pid` has mapped files executable, maybe several; at most one such is pending */
	WATCH_KNOWN,  /* `pid` has mapped a file that watch__know() named */
	WATCH_LEADER, /* the first thread of `pid` has ended; others may go on */
	WATCH_MISSED, /* the kernel had no room: anything may have happened */
};

struct watch_event {
	enum watch_kind kind;
	pid_t pid, parent;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

struct watch;

/* `everything`: all processes of the machine, of which only WATCH_EXEC, WATCH_MAP and WATCH_KNOWN are told.
 */
int watch__open(bool everything, struct watch **out);
void watch__close(struct watch *watch); /* accepts NULL */

int watch__add(struct watch *watch, pid_t pid);
void watch__remove(struct watch *watch, pid_t pid);

/* Of a watch of everything: whoever maps this file executable is told. Device and inode as in /proc/PID/maps.
 */
void watch__know(struct watch *watch, uint64_t device, uint64_t inode);

/*
 * Adds what a watched process has mapped since it was watched, made or executed its program, and since the
 * last such call: known even if the process is gone before anybody has looked at it.
 */
void watch__take_maps(struct watch *watch, pid_t pid, struct module_table *into);

/* Readable when there may be events. */
int watch__fd(const struct watch *watch);

/* The next one; after watch__sync everything that happened before that call has been told. */
void watch__sync(struct watch *watch);
bool watch__next(struct watch *watch, struct watch_event *out);

#endif
