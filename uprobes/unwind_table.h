/* SPDX-License-Identifier: BSD-2-Clause */
/* Function boundaries from .eh_frame, which stripping leaves in place. */
#ifndef GRAIND_UNWIND_TABLE_H
#define GRAIND_UNWIND_TABLE_H

#include "uprobes/elf_image.h"

/*
 * Sorted by address, without empty ones; returns their number, 0 when the table
 * is missing or not understood. The caller frees *out.
 */
size_t unwind_table__extents(const uint8_t *table, size_t size, uint64_t address, struct elf_extent **out);

#endif
