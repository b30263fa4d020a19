/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On which NUMA nodes a process' memory lies, looked at while it runs: soon, and then ever less often.
 * The kernel is asked page by page (move_pages, which moves nothing here): of memory beyond 128 MiB only
 * some pages, evenly spread. One thread looks for all processes, at 2 % of a CPU for each and 5 % for all at
 * most.
 *
 * While NUMA balancing waits for the next use of a page some kernels (6.1 to 6.4) say that it is not there.
 * That it is, but not where, is seen in its pagemap: such pages are hidden.
 */
#ifndef GRAIND_PAGES_H
#define GRAIND_PAGES_H

#include "daemon/graind/areas.h"
#include "daemon/graind/process.h"

#define PAGES_ABSENT UINT16_MAX
#define PAGES_HIDDEN (UINT16_MAX - 1)
#define PAGES_BYTES 4096

struct pages_area {
	struct area area;
	size_t first;  /* of its pages that were looked at, in struct pages_look */
	uint64_t step; /* every so many'th, from the first on; 1: all */
	size_t count;
};

struct pages_look {
	uint64_t time_ns; /* when it was over */
	struct pages_area *areas;
	size_t area_count;
	uint16_t *nodes; /* by page; PAGES_ABSENT: not in memory; PAGES_HIDDEN */
};

struct pages;

/* From now on, until pages__stop. */
int pages__watch(const struct process *process, struct pages **out);

/* `again`: once more, since the process still has the memory that is meant. Waits for a look that goes on. */
void pages__stop(struct pages *pages, bool again);

/* After pages__stop: the first and the last look, the same where there was one, NULL where there was none. */
const struct pages_look *pages__first(const struct pages *pages);
const struct pages_look *pages__last(const struct pages *pages);
/* Why there was none. */
const char *pages__absent(const struct pages *pages);

void pages__free(struct pages *pages); /* stops it; accepts NULL */

#endif
