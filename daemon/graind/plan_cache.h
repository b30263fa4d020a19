/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe plans: made by a worker without privileges, kept in memory for the
 * files met lately and in the state directory for all graind to come.
 */
#ifndef GRAIND_PLAN_CACHE_H
#define GRAIND_PLAN_CACHE_H

#include "uprobes/plan.h"

struct cached_plan;

/* Keeps plans below this directory; without it, or when it cannot be used, in memory only. */
void plan_cache__open(const char *state_dir);

/*
 * The plan of the open file `fd`, which people know as `name`. Errors as
 * probe_plan__create. The caller gives it back when it is attached.
 */
int plan_cache__get(int fd, const char *name, struct cached_plan **out, struct uprobes_error *err);
void plan_cache__put(struct cached_plan *plan); /* accepts NULL */
const struct probe_plan *cached_plan__plan(const struct cached_plan *plan);

/* Not kept: the probes at the bodies in a program's file (uprobes/bodies.h); the caller's. */
int plan_cache__bodies(int fd, const char *name, uint64_t offset, struct probe_plan **out,
		       struct uprobes_error *err);

#endif
