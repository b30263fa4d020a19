/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads an ELF file's notes. */
#ifndef GRAIND_ELF_NOTES_H
#define GRAIND_ELF_NOTES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#define ELF_BUILD_ID 129 /* as hex, with the final NUL */

/*
 * Reads the build-id and its offset in the file from this section of notes. If the section has none,
 * nothing changes.
 */
void elf_notes__build_id(Elf_Scn *section, char out[ELF_BUILD_ID], uint64_t *at);

/*
 * Whether the file is marked as compatible with x86 shadow stacks. The program headers are read as the
 * loader reads them. glibc gives a process a shadow stack only if all files that it loads are marked.
 */
bool elf_notes__keep_shadow_stack(Elf *elf);

#endif
