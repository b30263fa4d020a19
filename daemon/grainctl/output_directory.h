/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output that is a directory of files: written under a temporary name
 * beside its own until it is whole (SIGINT, SIGTERM and SIGHUP remove it).
 */
#ifndef GRAINCTL_OUTPUT_DIRECTORY_H
#define GRAINCTL_OUTPUT_DIRECTORY_H

struct output_directory;

/* -EEXIST when there is something of that name. Returns 0 or a negative errno. */
int output_directory__create(const char *path, struct output_directory **out);
/* Where to write. */
const char *output_directory__path(const struct output_directory *directory);
/* Gives it its name, or removes it: negative errno. Frees it. */
int output_directory__commit(struct output_directory *directory);
/* Removes it with all that is in it. Accepts NULL. */
void output_directory__discard(struct output_directory *directory);

#endif
