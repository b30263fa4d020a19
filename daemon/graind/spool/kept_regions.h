/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parallel regions of a long job that its worker has kept. Their events are in a file, and are moved to
 * the trace, where each region becomes a window.
 */
#ifndef GRAIND_KEPT_REGIONS_H
#define GRAIND_KEPT_REGIONS_H

#include "daemon/common/trace/trace_writer.h"

#define KEPT_REGIONS_FILE "regions.new"
#define KEPT_REGIONS_MAX 64

struct kept_region {
	uint64_t begin_ns, end_ns;
	uint64_t first, count; /* the first event's number in the file, and the number of events */
	uint64_t why;	       /* bits of enum fold_why */
};

/* If all fields are zero, there are no regions. */
struct kept_regions {
	uint64_t begin_ns, end_ns, every; /* the first two: the time whose events are all in the trace */
	struct kept_region list[KEPT_REGIONS_MAX];
	size_t count;
};

/* Makes the file and removes its name. Returns its descriptor or a negative errno. */
int kept_regions__open(int dirfd);
/*
 * Takes a line of the worker's answer if it is about kept regions. False: the line is about something else.
 * Checks the content of the line: -EBADMSG in *error.
 */
bool kept_regions__line(struct kept_regions *regions, const char *line, int *error);
/*
 * Moves events and windows from the file to the trace. Frees the file's space meanwhile, so that file and
 * trace together take at most max_bytes. 0; -EBADMSG: the file does not match the regions; -ENOSPC: the
 * regions do not fit.
 */
int kept_regions__append(const struct kept_regions *regions, int fd, uint64_t max_bytes,
			 struct trace_writer *trace);

#endif
