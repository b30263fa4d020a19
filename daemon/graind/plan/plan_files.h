/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans kept in files, STATE/plans/DEVICE-INODE; only plans of system files (system_file.h). A plan is
 * valid for one version of its file and for the graind that made it. Private to plan_cache.c.
 */
#ifndef GRAIND_PLAN_FILES_H
#define GRAIND_PLAN_FILES_H

#include "uprobes/runtime/system_file.h"

/* Makes the directory, or checks that nobody but graind can write there. 0 or a negative errno. */
int plan_files__open(const char *state_dir);

/* Reads the text of the file's plan. The caller frees it. -ENOENT: there is no plan. */
int plan_files__read(const struct file_identity *file, char **text);
/* Keeps a plan. A failure does no harm. */
void plan_files__write(const struct file_identity *file, const char *text);
/* Deletes a plan that does not fit the file. */
void plan_files__drop(const struct file_identity *file);

#endif
