/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds on which NUMA nodes the memory of a running process is: soon after its start, then less and less
 * often. The kernel is asked for each page (move_pages(2), which moves nothing here). If there is more than
 * 128 MiB, it is asked only for some pages, evenly spread. One thread does this for all processes, with at
 * most 2 % of a CPU for each process and 5 % for all.
 *
 * Some kernels (6.1 to 6.4) report that a page is not present while NUMA balancing waits for its next use.
 * The pagemap shows that such a page is in memory, but does not show the node. Such a page is called
 * hidden.
 */
#ifndef GRAIND_PAGES_H
#define GRAIND_PAGES_H

#include "daemon/graind/pages/areas.h"
#include "daemon/graind/process/process.h"

#define PAGES_ABSENT UINT16_MAX
#define PAGES_HIDDEN (UINT16_MAX - 1)
#define PAGES_BYTES 4096

struct pages_area {
	struct area area;
	size_t first;  /* index of its first examined page in struct pages_look */
	uint64_t step; /* one of this many pages was examined; 1: all */
	size_t count;
};

struct pages_look {
	uint64_t time_ns; /* when the examination ended */
	struct pages_area *areas;
	size_t area_count;
	uint16_t *nodes; /* node of each examined page, or PAGES_ABSENT (not in memory) or PAGES_HIDDEN */
};

struct pages;

/* Examines the process from now on until pages__stop(). 0 or a negative errno. */
int pages__watch(const struct process *process, struct pages **out);

/*
 * Stops, after waiting for an examination in progress. `again`: first examines the pages once more. Use
 * `again` only while the process still has the memory of the recorded program.
 */
void pages__stop(struct pages *pages, bool again);

/*
 * Return the first and the last result after pages__stop(). Both are the same if there was only one result,
 * and NULL if there was none.
 */
const struct pages_look *pages__first(const struct pages *pages);
const struct pages_look *pages__last(const struct pages *pages);
/* Returns the reason why there is no result. */
const char *pages__absent(const struct pages *pages);

void pages__free(struct pages *pages); /* stops it; accepts NULL */

#endif
