/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out which OpenMP runtime is in a file. It parses the contents with libelf, and users control the
 * contents. So a privileged process lets a process without privileges do this (runtime_find__look_by()).
 */
#ifndef GRAIND_RUNTIME_LOOK_H
#define GRAIND_RUNTIME_LOOK_H

#include "uprobes/elf/elf_runtime.h"

/* Works for any file that can be read and seeked. */
enum elf_runtime runtime_look__in(int fd);

#endif
