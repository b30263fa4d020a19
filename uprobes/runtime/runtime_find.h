/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the OpenMP runtimes that a process has mapped. They are found by their functions, whatever the
 * files are called.
 */
#ifndef GRAIND_RUNTIME_FIND_H
#define GRAIND_RUNTIME_FIND_H

#include "uprobes/elf/elf_runtime.h"
#include "uprobes/plan/probe_point.h"
#include "uprobes/plan/uprobes_error.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct runtime_file {
	char path[4096];   /* as the process sees it */
	char opened[4160]; /* as graind can open it: /proc/PID/root/... or /proc/PID/map_files/... */
	uint64_t device, inode;
	enum probe_runtime runtime;
	uid_t user; /* the user whose process has mapped it; filled in by the caller */
};

/*
 * Lists the files that `pid` maps executable and that contain a runtime: libraries that export one, and
 * executables and libraries into which one was linked, also stripped ones. Results are remembered for each
 * file. Returns their number (0: none yet). -ESRCH: no such process; -EACCES: not permitted; both with one
 * line in *err.
 */
int runtime_find__in_process(pid_t pid, struct runtime_file *out, size_t capacity, struct uprobes_error *err);

/*
 * The same in two steps. The first, runtime_find__begin(), needs the living process and has the same
 * errors. The second, runtime_find__end(), may take long.
 */
struct runtime_search;
int runtime_find__begin(pid_t pid, struct runtime_search **out, struct uprobes_error *err);
/* Whether the second step is quick because all files are remembered. */
bool runtime_find__is_quick(const struct runtime_search *search);
/* Lists the runtimes and frees the search. Capacity 0 only frees it. */
size_t runtime_find__end(struct runtime_search *search, struct runtime_file *out, size_t capacity);

/*
 * Sets the function that examines regular files that are not remembered. It sets *out, which is remembered,
 * and returns 0. If it could not examine the file, it returns a negative errno, and the file counts as
 * having no runtime this time. Any thread may call it. The default examines files in this process
 * (runtime_look.h). Call this before any search.
 */
typedef int (*runtime_look_fn)(int fd, const struct stat *file, enum elf_runtime *out);
void runtime_find__look_by(runtime_look_fn look);

/* The index of the same file (device, inode) in a list; `count`: it is not there. */
size_t runtime_find__index(const struct runtime_file *files, size_t count, const struct runtime_file *file);

/* The path of the library that this system's dynamic loader would load. -ENOENT: there is none. */
int runtime_find__system_of(enum probe_runtime runtime, char *path, size_t size);
/* The same for libgomp. */
int runtime_find__system(char *path, size_t size);

#endif
