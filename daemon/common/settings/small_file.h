/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads files of /proc and /sys. */
#ifndef GRAIND_SMALL_FILE_H
#define GRAIND_SMALL_FILE_H

#include <stddef.h>

/*
 * Reads at most size - 1 bytes and ends them with 0. The path is made like that of printf. Returns the number
 * of bytes, or a negative errno; `out` is then empty.
 */
long small_file__read(char *out, size_t size, const char *path, ...) __attribute__((format(printf, 3, 4)));

#endif
