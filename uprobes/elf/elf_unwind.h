/* SPDX-License-Identifier: BSD-2-Clause */
/* Function boundaries from .eh_frame, which stripping leaves in place. */
#ifndef GRAIND_ELF_UNWIND_H
#define GRAIND_ELF_UNWIND_H

#include "uprobes/elf/elf_image.h"

/*
 * Reads the functions' addresses and sizes from .eh_frame at `table`, whose address is `address`. They are
 * sorted by address, without empty functions. Returns their number. 0: the table is missing or not
 * understood. The caller frees *out.
 */
size_t elf_unwind__extents(const uint8_t *table, size_t size, uint64_t address, struct elf_extent **out);

#endif
