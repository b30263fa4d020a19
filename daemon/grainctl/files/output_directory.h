/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new output directory. It gets its final name only when it is complete. Until then it is in a directory
 * that only the caller may enter, and is accessed by descriptors. So nobody else can replace it, not even a
 * user who may write at its final place.
 */
#ifndef GRAINCTL_OUTPUT_DIRECTORY_H
#define GRAINCTL_OUTPUT_DIRECTORY_H

struct output_directory;

/* Makes the directory. Returns 0 or a negative errno; -EEXIST: the final name is already in use. */
int output_directory__create(const char *path, struct output_directory **out);

/* The directory to write into. */
int output_directory__fd(const struct output_directory *directory);

/*
 * Makes the caller the owner of the directory and gives it its final name. Returns 0 or a negative errno.
 * Frees `directory` in any case.
 */
int output_directory__commit(struct output_directory *directory);
/* Removes the directory and frees `directory`, which may be NULL. */
void output_directory__discard(struct output_directory *directory);

#endif
