/* SPDX-License-Identifier: BSD-2-Clause */
/* The contents of a plan, for the functions that make one. */
#ifndef GRAIND_PLAN_DATA_H
#define GRAIND_PLAN_DATA_H

#include "uprobes/plan/plan.h"

#define PLAN_MAX_POINTS 512
#define PLAN_MAX_MISSING 64
#define PLAN_MAX_BODIES 4096 /* the most points in a program */

/* Constructs whose bodies must be probed in the program. */
enum plan_bodies { PLAN_BODIES_TASKS = 1, PLAN_BODIES_MEMBERS = 2 };

struct probe_plan {
	void *names; /* owner of the functions' names in a plan that was made; NULL in a plan that was read */
	void (*free_names)(void *names);
	char *text; /* owner of the names in a plan that was read */
	char *path;
	char build_id[129];
	uint64_t build_id_at; /* its offset in the file */
	enum probe_runtime runtime;
	unsigned int bodies; /* enum plan_bodies */
	bool shadow_stack;   /* result of elf_notes__keep_shadow_stack() */
	struct probe_point *points;
	size_t count, room;
	const char *missing[PLAN_MAX_MISSING + 1];
	size_t missing_count;
};

/* An empty plan for the file that messages call `path`. NULL: out of memory. */
struct probe_plan *probe_plan__new(const char *path);
/*
 * Returns space for one more point; the caller increments the count. NULL: there are too many points, or
 * memory is short.
 */
struct probe_point *probe_plan__next(struct probe_plan *plan);

#endif
