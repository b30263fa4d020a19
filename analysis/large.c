// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/large.h"

#include <stdint.h>
#include <sys/mman.h>

#define PAGE_MASK ((uintptr_t)4095)
#define HUGE ((uintptr_t)2 << 20)
/* Smaller arrays gain little; smaller pieces are not worth a call. */
#define LARGE (2 * HUGE)
#define PIECE (4 * HUGE)

/* Only time and memory are at stake when the kernel refuses either. */

void large__advise(void *memory, size_t bytes)
{
	/* All of its mapping: one that is half advised could not grow in place. */
	uintptr_t first = (uintptr_t)memory & ~PAGE_MASK,
		  last = ((uintptr_t)memory + bytes + PAGE_MASK) & ~PAGE_MASK;

	if (memory && bytes >= LARGE)
		(void)madvise((void *)first, last - first, MADV_HUGEPAGE);
}

void large__drop(char **done, const void *to)
{
	uintptr_t first = ((uintptr_t)*done + HUGE - 1) & ~(HUGE - 1), last = (uintptr_t)to & ~(HUGE - 1);

	if (last <= first || last - first < PIECE)
		return;
	(void)madvise((void *)first, last - first, MADV_DONTNEED);
	*done = (char *)last;
}
