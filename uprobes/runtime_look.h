/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which OpenMP runtime is in a file: parses what users have put there, with libelf. Whoever has rights that
 * they do not have leaves it to a process without (runtime_find__look_by).
 */
#ifndef GRAIND_RUNTIME_LOOK_H
#define GRAIND_RUNTIME_LOOK_H

#include "uprobes/elf_image.h"

/* Of any file that can be read and sought in. */
enum elf_runtime runtime_look__in(int fd);

#endif
