/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc/PID/pagemap says of single pages: unlike a read of the memory, to ask touches no page. Contents
 * are not needed, so neither are rights beyond those to read the process' maps.
 */
#ifndef GRAIND_PAGEMAP_H
#define GRAIND_PAGEMAP_H

#include <stdint.h>
#include <sys/types.h>

#define PAGEMAP_PAGE_BYTES 4096u
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)

/* A file descriptor, which the caller closes; negative errno. */
int pagemap__open(pid_t pid);

/* The page's entry, of which the flags above may be used; 0 where it has none, or `fd` is negative. */
uint64_t pagemap__entry(int fd, uint64_t address);

#endif
