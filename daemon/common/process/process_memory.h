/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAIND_PROCESS_MEMORY_H
#define GRAIND_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads or writes memory of the process. Returns true only if all `size` bytes were transferred. */
bool process_memory__read(pid_t pid, uint64_t address, void *to, size_t size);
bool process_memory__write(pid_t pid, uint64_t address, const void *from, size_t size);

#endif
