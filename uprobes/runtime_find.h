/* SPDX-License-Identifier: BSD-2-Clause */
/* Which OpenMP runtimes a process has mapped, by their functions, whatever the files are called. */
#ifndef GRAIND_RUNTIME_FIND_H
#define GRAIND_RUNTIME_FIND_H

#include "uprobes/elf_image.h"
#include "uprobes/plan.h"

#include <stdbool.h>
#include <sys/stat.h>
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

/* The same in two steps: that for which the process has to live, with its errors; and what may take long. */
struct runtime_search;
int runtime_find__begin(pid_t pid, struct runtime_search **out, struct uprobes_error *err);
/* The second takes no time: all files are remembered. */
bool runtime_find__is_quick(const struct runtime_search *search);
/* Frees the search; capacity 0: nothing more. */
size_t runtime_find__end(struct runtime_search *search, struct runtime_file *out, size_t capacity);

/*
 * Who looks into regular files that are not remembered: 0 and *out, which is remembered; or a negative errno,
 * nobody could, and the file counts as without a runtime this time. Any thread may call it. Usually that is
 * this process itself (runtime_look.h). To be said before anything is searched.
 */
typedef int (*runtime_look_fn)(int fd, const struct stat *file, enum elf_runtime *out);
void runtime_find__look_by(runtime_look_fn look);

/* The index of the same file (device, inode) in a list, or `count`. */
size_t runtime_find__index(const struct runtime_file *files, size_t count, const struct runtime_file *file);

/* The library that the dynamic loader of this system would take; -ENOENT if none. */
int runtime_find__system_of(enum probe_runtime runtime, char *path, size_t size);
/* Of libgomp. */
int runtime_find__system(char *path, size_t size);

#endif
