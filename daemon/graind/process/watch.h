/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of processes, as the kernel reports them (perf events): a process forks, executes another program,
 * or maps a file as executable. All watches of this graind share one set of per-CPU buffers, which exists
 * only while there is a watch.
 */
#ifndef GRAIND_WATCH_H
#define GRAIND_WATCH_H

#include "daemon/graind/process/modules.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum watch_kind {
	WATCH_FORK,   /* `parent` has made the process `pid`, which is watched from now on */
	WATCH_EXEC,   /* `pid` has executed a new program */
	WATCH_MAP,    /* `pid` has mapped files as executable; only one such event is pending at a time */
	WATCH_UNTOLD, /* like WATCH_MAP, but watch__take_maps() gives only some of the files */
	WATCH_KNOWN,  /* `pid` has mapped a file for which watch__know() was called */
	WATCH_LEADER, /* the first thread of `pid` has ended; other threads may go on */
	WATCH_MISSED, /* the kernel's buffer was full, so any event may be missing */
};

struct watch_event {
	enum watch_kind kind;
	pid_t pid, parent;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

struct watch;

/*
 * Opens a watch. `everything`: it watches all processes of the machine, but reports only WATCH_EXEC,
 * WATCH_MAP and WATCH_KNOWN. `account`: its memory counts for this account. 0 or a negative errno.
 */
int watch__open(bool everything, uid_t account, struct watch **out);
void watch__close(struct watch *watch); /* accepts NULL */

int watch__add(struct watch *watch, pid_t pid);
void watch__remove(struct watch *watch, pid_t pid);

/*
 * For a watch of everything: reports WATCH_KNOWN when a process maps this file as executable. Device and
 * inode are as in /proc/PID/maps.
 */
void watch__know(struct watch *watch, uint64_t device, uint64_t inode);

/*
 * Adds to `into` what a watched process has mapped: since the watch has known it, since it executed its
 * program, or since the last such call, whichever is latest. This also works if the process ended before it
 * was examined. If a WATCH_EXEC of the process has not been taken yet, gives nothing of the new program:
 * the watch's owner may not be interested in it.
 */
void watch__take_maps(struct watch *watch, pid_t pid, struct module_table *into);

/* Returns how many children since the last call are not watched because there were too many. */
uint64_t watch__forgotten(struct watch *watch);

/* Returns a descriptor that is readable when there may be events. The watch owns it. */
int watch__fd(const struct watch *watch);

/*
 * watch__next() takes the next event. False: there is none. After watch__sync() it gives all events from
 * before that call.
 */
void watch__sync(struct watch *watch);
bool watch__next(struct watch *watch, struct watch_event *out);

#endif
