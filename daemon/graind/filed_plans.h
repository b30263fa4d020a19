/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans in files, STATE/plans/SHA-256: bound to the content of the file
 * that they are for and to the program that made them. Private to plan_cache.c.
 */
#ifndef GRAIND_FILED_PLANS_H
#define GRAIND_FILED_PLANS_H

#include "uprobes/plan.h"

/* Made, or checked to be ours alone. */
int filed_plans__open(const char *state_dir);

/* The text of the plan for the open file, which the caller frees; -ENOENT. */
int filed_plans__read(int fd, char **text);
/* Failing to keep it does no harm. */
void filed_plans__write(int fd, const char *text);

#endif
