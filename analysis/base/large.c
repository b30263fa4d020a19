// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/base/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_MASK ((uintptr_t)4095)
#define HUGE ((uintptr_t)2 << 20)
/* Smaller pieces are not worth a call. */
#define PIECE (4 * HUGE)
/* Bytes of a mapping that malloc uses itself. */
#define HEAD ((size_t)32)

/* If the kernel refuses, this only costs time and memory. */

void large__advise(void *memory, size_t bytes)
{
	/* Advises the whole mapping: a mapping that is advised in part cannot grow in place. */
	uintptr_t first = (uintptr_t)memory & ~PAGE_MASK,
		  last = ((uintptr_t)memory + bytes + PAGE_MASK) & ~PAGE_MASK;

	if (memory && bytes >= LARGE_ARRAY)
		(void)madvise((void *)first, last - first, MADV_HUGEPAGE);
}

size_t large__room(size_t bytes)
{
	return bytes < LARGE_ARRAY ? bytes : ((bytes + HEAD + HUGE - 1) & ~(size_t)(HUGE - 1)) - HEAD;
}

void *large__new(size_t bytes)
{
	void *memory = malloc(bytes ? large__room(bytes) : 1);

	large__advise(memory, large__room(bytes));
	return memory;
}

void *large__zeroed(size_t bytes)
{
	void *memory = calloc(1, bytes ? large__room(bytes) : 1);

	large__advise(memory, large__room(bytes));
	return memory;
}

void *large__grown(void *memory, size_t bytes)
{
	void *grown = realloc(memory, bytes ? large__room(bytes) : 1);

	large__advise(grown, large__room(bytes));
	return grown;
}

void large__drop(char **done, const void *to)
{
	large__hand_on(done, to, NULL, NULL, NULL);
}

void large__hand_on(char **done, const void *to, char **next, const void *used, const void *end)
{
	uintptr_t first = ((uintptr_t)*done + HUGE - 1) & ~(HUGE - 1), last = (uintptr_t)to & ~(HUGE - 1),
		  target;

	if (last <= first || last - first < PIECE)
		return;
	*done = (char *)last;
	if (next) {
		target = (uintptr_t)used > (uintptr_t)*next ? (uintptr_t)used : (uintptr_t)*next;
		target = (target + HUGE - 1) & ~(HUGE - 1);
		if (target + (last - first) <= ((uintptr_t)end & ~(HUGE - 1)) &&
		    mremap((void *)first, last - first, last - first,
			   MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (void *)target) != MAP_FAILED) {
			*next = (char *)target + (last - first);
			return;
		}
	}
	(void)madvise((void *)first, last - first, MADV_DONTNEED);
}
