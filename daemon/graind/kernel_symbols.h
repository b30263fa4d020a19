/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the kernel that samples were taken in. Users may read their
 * traces, and must not learn from them where the kernel's code lies: a trace
 * has numbers instead of its addresses.
 */
#ifndef GRAIND_KERNEL_SYMBOLS_H
#define GRAIND_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool kernel_symbols__is_kernel(uint64_t address)
{
	return (int64_t)address < 0;
}

/* The names take some MB: they are read when the first holds them, and kept as long as anybody holds them.
 */
void kernel_symbols__hold(void);
void kernel_symbols__release(void);

/* What stands for the function that has the address; while they are held it stays the same. */
uint64_t kernel_symbols__number(uint64_t address);

/* Of such a number: the function's name, until they are released; "" when it is not known. */
const char *kernel_symbols__name(uint64_t number);

#endif
