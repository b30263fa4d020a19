/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads /proc/PID/pagemap for single pages. Unlike reading the memory, this does not touch the pages. It
 * needs only the rights for reading the process' maps.
 */
#ifndef GRAIND_PAGEMAP_H
#define GRAIND_PAGEMAP_H

#include <stdint.h>
#include <sys/types.h>

#define PAGEMAP_PAGE_BYTES 4096u
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)

/* Opens the pagemap. Returns a descriptor, which the caller closes, or a negative errno. */
int pagemap__open(pid_t pid);

/*
 * Returns the entry of the page that contains `address`; only the flags above are valid. 0: there is no
 * entry, or `fd` is negative.
 */
uint64_t pagemap__entry(int fd, uint64_t address);

#endif
