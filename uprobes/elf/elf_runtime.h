/* SPDX-License-Identifier: BSD-2-Clause */
/* Recognises the OpenMP runtime in an ELF file by names of functions or by strings. */
#ifndef GRAIND_ELF_RUNTIME_H
#define GRAIND_ELF_RUNTIME_H

enum elf_runtime { ELF_RUNTIME_NONE, ELF_RUNTIME_LIBGOMP, ELF_RUNTIME_LIBOMP };

/* Strings that only this runtime contains. */
#define ELF_RUNTIME_LIBGOMP_TEXT "GOMP_SPINCOUNT"
#define ELF_RUNTIME_LIBOMP_TEXT "KMP_DUPLICATE_LIB_OK"

/* A bit for a function's name that is typical of a runtime; 0 for any other name. */
unsigned int elf_runtime__seen(const char *name);
/* The runtime that these bits stand for when combined. */
enum elf_runtime elf_runtime__of(unsigned int seen);

#endif
