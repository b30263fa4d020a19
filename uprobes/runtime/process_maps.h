/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that a process has mapped executable, and how graind can open them. */
#ifndef GRAIND_PROCESS_MAPS_H
#define GRAIND_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* offset of `start` in the file */
	uint64_t device, inode;
	bool deleted;	 /* the file was deleted; path is its last name */
	char path[4096]; /* as the process sees it */
};

/*
 * Calls `each` for every executable mapping of a file, in ascending order, until `each` returns non-zero.
 * Returns that result. -ESRCH: no such process, or it has ended; -EACCES: not permitted.
 */
typedef int (*process_mapping_fn)(void *ctx, const struct process_mapping *mapping);
int process_maps__each(pid_t pid, process_mapping_fn each, void *ctx);

/*
 * Opens the mapped file for reading. Returns the descriptor or a negative errno. `opened` (may be NULL) is
 * the path that was opened. If the process has ended (`pid` 0: this is already known), opens the file with
 * the mapping's name if its device and inode are the same.
 */
int process_maps__open(pid_t pid, const struct process_mapping *mapping, char *opened, size_t size);

#endif
