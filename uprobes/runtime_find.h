/* SPDX-License-Identifier: BSD-2-Clause */
/* Which OpenMP runtimes a process has mapped, by their functions, whatever the files are called. */
#ifndef GRAIND_RUNTIME_FIND_H
#define GRAIND_RUNTIME_FIND_H

#include "uprobes/plan.h"

#include <sys/types.h>

struct runtime_file {
	char path[4096];   /* as the process sees it */
	char opened[4160]; /* as this process can open it: /proc/PID/root/... or /proc/PID/map_files/... */
	uint64_t device, inode;
	enum probe_runtime runtime;
};

/*
 * Lists the files mapped executable by `pid` that contain a runtime: libraries
 * that export one, executables and libraries into which one was linked, also
 * when they are stripped. What a file is, is remembered. Returns their number (0: none yet), or -ESRCH no
 * such process, -EACCES not permitted; *err says so in one line.
 */
int runtime_find__in_process(pid_t pid, struct runtime_file *out, size_t capacity, struct uprobes_error *err);

/* The index of the same file (device, inode) in a list, or `count`. */
size_t runtime_find__index(const struct runtime_file *files, size_t count, const struct runtime_file *file);

/* The library that the dynamic loader of this system would take; -ENOENT if none. */
int runtime_find__system_of(enum probe_runtime runtime, char *path, size_t size);
/* Of libgomp. */
int runtime_find__system(char *path, size_t size);

#endif
