/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs that do nothing but read the processor's counter where a recorder in the process has to: what
 * no such recorder can do without. Of them each has a twin whose READ_COUNTER() is nothing.
 */
#ifndef GRAIND_TESTS_READ_COUNTER_H
#define GRAIND_TESTS_READ_COUNTER_H

#include <stdint.h>

static inline void read_counter(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#endif
}
#define READ_COUNTER() read_counter()

#endif
