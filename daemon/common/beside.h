/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_BESIDE_H
#define GRAIND_BESIDE_H

#include <stddef.h>

/*
 * The path of a file that is built and installed with the program that runs:
 * in its directory, or in ../lib/graind from there. 0, or a negative errno:
 * -ENOENT when it is in neither.
 */
int beside__find(const char *name, char *path, size_t size);

#endif
