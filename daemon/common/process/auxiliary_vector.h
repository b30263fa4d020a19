/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_AUXILIARY_VECTOR_H
#define GRAIND_AUXILIARY_VECTOR_H

#include <stdint.h>
#include <sys/types.h>

/*
 * An entry of the auxiliary vector of a 64-bit process: AT_ENTRY, AT_BASE, ...; 0: no such entry, or no
 * process.
 */
uint64_t auxiliary_vector__read(pid_t pid, uint64_t kind);

#endif
