/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of a runtime's functions in a file that has been stripped of them. */
#ifndef GRAIND_RECOGNISE_H
#define GRAIND_RECOGNISE_H

#include "uprobes/elf_image.h"

/* Texts that each runtime contains and nobody else does; private to uprobes/. */
#define RECOGNISE_LIBGOMP "GOMP_SPINCOUNT"
#define RECOGNISE_LIBOMP "KMP_DUPLICATE_LIB_OK"

/*
 * Compares the code with that of this system's own libgomp, whose functions have
 * names: the linker changes addresses, but no instruction's length or registers.
 * A function whose code is that of several others gets its name from its
 * neighbours and callers, or none. -ENOENT when there is no runtime in the file
 * (*err is not changed), -ENOTSUP when there is one that cannot be read that way.
 */
int recognise__functions(struct elf_image *image, const char *path, struct uprobes_error *err);

#endif
