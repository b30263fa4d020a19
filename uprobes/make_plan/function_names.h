/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the names of a runtime's functions in a stripped file. */
#ifndef GRAIND_FUNCTION_NAMES_H
#define GRAIND_FUNCTION_NAMES_H

#include "uprobes/elf/elf_image.h"

/*
 * Compares the code with this system's own libgomp, whose functions have names. The linker changes
 * addresses, but not the lengths or registers of instructions. If several functions have the same code,
 * they are named by their neighbours and callers, or not at all. -ENOENT: there is no runtime in the file
 * (*err is not changed); -ENOTSUP: there is one that cannot be recognised like that.
 */
int function_names__recognise(struct elf_image *image, const char *path, struct uprobes_error *err);

#endif
