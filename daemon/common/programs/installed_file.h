/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_INSTALLED_FILE_H
#define GRAIND_INSTALLED_FILE_H

#include <stddef.h>

/*
 * Finds a file that is built and installed with the running program: in the program's directory, or in
 * ../lib/graind relative to it. 0 or a negative errno; -ENOENT: both places lack it.
 */
int installed_file__find(const char *name, char *path, size_t size);

#endif
