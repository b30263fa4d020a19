/* SPDX-License-Identifier: BSD-2-Clause */
/* What a plan consists of; private to uprobes/. */
#ifndef GRAIND_PLAN_DATA_H
#define GRAIND_PLAN_DATA_H

#include "uprobes/plan.h"

#define PLAN_MAX_POINTS 512
#define PLAN_MAX_MISSING 64

struct elf_image;

struct probe_plan {
	struct elf_image *image; /* names of functions live in it; NULL for a plan that was read */
	char *text;		 /* or in here */
	char *path;
	char build_id[129];
	enum probe_runtime runtime;
	struct probe_point *points;
	size_t count;
	const char *missing[PLAN_MAX_MISSING + 1];
	size_t missing_count;
};

/* An empty plan for the file that people know as `path`; NULL without memory. */
struct probe_plan *probe_plan__new(const char *path);

#endif
