/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel functions in which samples were taken. Users may read their traces, but must not learn where
 * the kernel's code is in memory. So a trace has numbers instead of kernel addresses.
 */
#ifndef GRAIND_KERNEL_SYMBOLS_H
#define GRAIND_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool kernel_symbols__is_kernel(uint64_t address)
{
	return (int64_t)address < 0;
}

/* The number of every function, where names are not held. Reading them takes a tenth of a second. */
#define KERNEL_SYMBOLS_UNNAMED UINT64_C(0xffffffff00000000)

/* The names take some MB. The first hold reads the names, the last release frees them. */
void kernel_symbols__hold(void);
void kernel_symbols__release(void);

/* Returns the number for the function at this address. It stays the same while the names are held. */
uint64_t kernel_symbols__number(uint64_t address);

/* Returns the name of the function with this number, valid until the release; "": not known. */
const char *kernel_symbols__name(uint64_t number);

#endif
