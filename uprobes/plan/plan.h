/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probe plan of one file: the points to probe, and properties of the file. make_plan.h or bodies.h
 * makes it. It can be written and read as text. It is compared with the file before that file is probed.
 */
#ifndef GRAIND_PLAN_H
#define GRAIND_PLAN_H

#include "uprobes/plan/probe_point.h"
#include "uprobes/plan/uprobes_error.h"

#include <stdio.h>

struct probe_plan;

void probe_plan__free(struct probe_plan *plan);

const char *probe_plan__path(const struct probe_plan *plan);
enum probe_runtime probe_plan__runtime(const struct probe_plan *plan);
const char *probe_plan__build_id(const struct probe_plan *plan); /* hex, or "" */
size_t probe_plan__count(const struct probe_plan *plan);
const struct probe_point *probe_plan__point(const struct probe_plan *plan, size_t index);
/*
 * Whether the places were not found where this libgomp calls the bodies of tasks or parallel regions. Then
 * the bodies in the programs that use it must be probed, too (uprobes/make_plan/bodies.h).
 */
bool probe_plan__needs_bodies(const struct probe_plan *plan);
/*
 * Whether a process that maps the file may have an x86 shadow stack: if so, the file is marked
 * (elf_notes.h).
 */
bool probe_plan__may_have_shadow_stack(const struct probe_plan *plan);
/* The name of an optional point that was not found; NULL past the last one. */
const char *probe_plan__missing(const struct probe_plan *plan, size_t index);

/*
 * Writes the plan as text, for another process or a later one, and reads it. -EBADMSG: the text is no plan.
 */
int probe_plan__write(const struct probe_plan *plan, FILE *out);
int probe_plan__read(const char *path, const char *text, struct probe_plan **out);
/*
 * Whether the file is still the one that the plan was made for. It checks all that breakpoints could
 * damage. Returns 0; -EBADMSG: a point is in no executable segment; -ESTALE: other bytes are at a point or
 * in place of the build-id; or the error of pread().
 */
int probe_plan__check(const struct probe_plan *plan, int fd);

#endif
