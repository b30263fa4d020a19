/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GRAINCTL_INJECT_MEMORY_H
#define GRAINCTL_INJECT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Memory of the process; false unless all of it was read or written. */
bool inject_target__read(pid_t pid, uint64_t address, void *to, size_t size);
bool inject_target__write(pid_t pid, uint64_t address, const void *from, size_t size);

#endif
