/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that a process has mapped executable, and how another process can open them. */
#ifndef GRAIND_PROCESS_MAPS_H
#define GRAIND_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* of `start` in the file */
	uint64_t device, inode;
	bool deleted;	 /* the file has no name any more; path is the last one */
	char path[4096]; /* as the process sees it */
};

/*
 * Calls `each` for every executable mapping of a file, in ascending order,
 * until it returns non-zero, which is then returned. -ESRCH no such process
 * (or one that has ended), -EACCES not permitted.
 */
typedef int (*process_mapping_fn)(void *ctx, const struct process_mapping *mapping);
int process_maps__each(pid_t pid, process_mapping_fn each, void *ctx);

/*
 * Opens the mapped file for reading and returns the descriptor, or a negative
 * errno. `opened` (may be NULL) is the path by which it was reached. Of a
 * process that has ended (`pid` 0: it is known to have), the file is opened
 * that has the mapping's name, device and inode here.
 */
int process_maps__open(pid_t pid, const struct process_mapping *mapping, char *opened, size_t size);

#endif
