/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parallel regions of a long job that its worker has kept: the file in which they are, and their way into
 * the trace, each as a window.
 */
#ifndef GRAIND_KEPT_REGIONS_H
#define GRAIND_KEPT_REGIONS_H

#include "daemon/common/trace_writer.h"

#define KEPT_REGIONS_FILE "regions.new"
#define KEPT_REGIONS_MAX 64

struct kept_region {
	uint64_t begin_ns, end_ns;
	uint64_t first, count; /* events of the file */
	uint64_t why;	       /* bits of enum fold_why */
};

/* Zeroed: there are none. */
struct kept_regions {
	uint64_t begin_ns, end_ns, every; /* of the part of the run whose events are all in the trace */
	struct kept_region list[KEPT_REGIONS_MAX];
	size_t count;
};

/* The file, which has no name any more; a negative errno. */
int kept_regions__open(int dirfd);
/*
 * Takes a line of a worker that is about them; false: it is about something else. What such a line says is
 * checked: -EBADMSG.
 */
bool kept_regions__line(struct kept_regions *regions, const char *line, int *error);
/*
 * Events and windows go into the trace, and out of the file as they go: together they take max_bytes at most.
 * -EBADMSG: the file has something else; -ENOSPC: they do not fit.
 */
int kept_regions__append(const struct kept_regions *regions, int fd, uint64_t max_bytes,
			 struct trace_writer *trace);

#endif
