/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by gomp_teams.c and gomp_old_teams.c: a region and its members. */
#ifndef GRAIND_SHIM_GOMP_TEAM_H
#define GRAIND_SHIM_GOMP_TEAM_H

#include "runtime-shim/libgomp/gomp.h"

typedef void (*body_fn)(void *);

/* Passed to the members instead of the program's data; its first word describes reductions. */
struct region {
	void *reductions;
	body_fn fn;
	void *data;
	const struct runtime *runtime;
	uint64_t team;
};

/* Records the begin of a region; NULL: nothing is recorded. */
struct shim_local *gomp__begin_region(struct region *region, const struct binding *to, body_fn fn, void *data,
				      unsigned threads, const void *caller);
/* All members have reached the end of the region. */
void gomp__end_region(const struct region *region, struct shim_local *local);
/* The loop or the sections that the region consists of. */
void gomp__put_region_loop(uint32_t schedule, long start, long end, long step, long chunk);
void gomp__put_region_sections(const void *caller, unsigned count);

/* Runs instead of the region's body on each member. */
void gomp__member(void *region);
void gomp__begin_member(struct shim_local *local, const struct region *region, unsigned number);

#endif
