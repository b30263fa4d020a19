/* SPDX-License-Identifier: BSD-2-Clause */
/* What a plan consists of; private to uprobes/. */
#ifndef GRAIND_PLAN_DATA_H
#define GRAIND_PLAN_DATA_H

#include "uprobes/plan.h"

#define PLAN_MAX_POINTS 512
#define PLAN_MAX_MISSING 64
#define PLAN_MAX_BODIES 4096 /* points of a program */

struct elf_image;

/* Of what the bodies are observed in the program's functions. */
enum plan_bodies { PLAN_BODIES_TASKS = 1, PLAN_BODIES_MEMBERS = 2 };

struct probe_plan {
	struct elf_image *image; /* names of functions live in it; NULL for a plan that was read */
	char *text;		 /* or in here */
	char *path;
	char build_id[129];
	enum probe_runtime runtime;
	unsigned int bodies; /* enum plan_bodies */
	struct probe_point *points;
	size_t count, room;
	const char *missing[PLAN_MAX_MISSING + 1];
	size_t missing_count;
};

/* An empty plan for the file that people know as `path`; NULL without memory. */
struct probe_plan *probe_plan__new(const char *path);
/* Space for one more point, which the caller counts; NULL: there are too many, or no memory. */
struct probe_point *probe_plan__next(struct probe_plan *plan);

#endif
