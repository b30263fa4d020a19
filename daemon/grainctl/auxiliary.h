/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_AUXILIARY_H
#define GRAIND_AUXILIARY_H

#include <stdint.h>
#include <sys/types.h>

/* What the kernel told a 64-bit process at its start: AT_ENTRY, AT_BASE, ...; 0: nothing of that kind, or no
 * process. */
uint64_t auxiliary__read(pid_t pid, uint64_t kind);

#endif
