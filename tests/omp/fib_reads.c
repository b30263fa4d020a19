/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fib, in which each task reads the processor's counter as often as a recorder in the process has to: with
 * libomp at the begin and end of its creation, of its body and of each wait; with libgomp, which runs most of
 * these tasks at once, at two of these fewer, and at one of a wait.
 */
#include <stdint.h>

#define ALL 1
#ifdef __clang__
#define LIBOMP 1
#else
#define LIBOMP 0
#endif
#define READS(when) ((void)((when) && read_counter()))

static inline int read_counter(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#endif
	return 1;
}

#include "fib.c"
