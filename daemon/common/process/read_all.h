/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_READ_ALL_H
#define GRAIND_READ_ALL_H

#include <stddef.h>

/*
 * Reads up to the end of the file, at most `room` bytes. *used is the number of bytes read. 0 or a negative
 * errno.
 */
int read_all(int fd, char *bytes, size_t room, size_t *used);

#endif
