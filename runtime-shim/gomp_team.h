/* SPDX-License-Identifier: BSD-2-Clause */
/* What gomp_teams.c and gomp_old_teams.c share: a region and its members. */
#ifndef GRAIND_SHIM_GOMP_TEAM_H
#define GRAIND_SHIM_GOMP_TEAM_H

#include "runtime-shim/gomp.h"

typedef void (*body_fn)(void *);

/* Handed to the members instead of the program's data, whose first word says what is reduced. */
struct region {
	void *reductions;
	body_fn fn;
	void *data;
	const struct runtime *runtime;
	uint64_t team;
};

/* Records the begin; NULL: nobody wants to know. */
struct shim_local *gomp__begin_region(struct region *region, const struct binding *to, body_fn fn, void *data,
				      unsigned threads, const void *caller);
/* All members have come to the end. */
void gomp__end_region(const struct region *region, struct shim_local *local);
/* Leagues of the thread that this library has seen begin. */
extern __thread unsigned gomp_open_leagues __attribute__((tls_model("initial-exec")));
/* Before a region begins: tells of what the thread was in when the recording began. RING_REGION_OUTERMOST or
 * 0. */
uint32_t gomp__tell_unseen(struct shim_local *local, const struct runtime *runtime);
/* The loop or the sections that the region consists of. */
void gomp__put_region_loop(uint32_t schedule, long start, long end, long step, long chunk);
void gomp__put_region_sections(const void *caller, unsigned count);

/* Runs instead of the region's body on each member. */
void gomp__member(void *region);
void gomp__begin_member(struct shim_local *local, const struct region *region, unsigned number);

#endif
