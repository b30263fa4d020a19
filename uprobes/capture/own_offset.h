/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_OWN_OFFSET_H
#define GRAIND_OWN_OFFSET_H

#include <stdint.h>

/*
 * Finds the file offset of an address in this program's code, from the program's own mappings. Returns 0 or
 * a negative errno.
 */
int own_offset(uint64_t address, uint64_t *offset);

#endif
