/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large arrays. They use huge pages if the kernel has them. This saves most of the time for page faults and
 * TLB misses. The arrays can be given back piece by piece while they are read. Internal to analysis.
 */
#ifndef GRAIND_LARGE_H
#define GRAIND_LARGE_H

#include <stddef.h>

/*
 * Asks for huge pages for memory that malloc has just returned. Call it before the memory is touched. The
 * content does not change.
 */
void large__advise(void *memory, size_t bytes);

/*
 * As malloc, calloc and realloc; use free() to free. The mapping of a large array consists of huge pages
 * only: its length is a multiple of their size. So the kernel aligns it, also when it moves the mapping to
 * grow it.
 */
void *large__new(size_t bytes);
void *large__zeroed(size_t bytes);
void *large__grown(void *memory, size_t bytes);
/* Returns how many bytes these functions allocate for `bytes`. The caller may use all of them. */
size_t large__room(size_t bytes);

/*
 * Drops everything before `to` in an array from malloc: whole pages go back to the system, and their content
 * is lost. *done is where the last call ended; it starts at the array's begin. A small step is put off until
 * it is worth a system call.
 */
#define LARGE_ARRAY ((size_t)4 << 20) /* arrays of this many bytes are large */
#define LARGE_STEP 4096		      /* calling large__drop() once for this many elements is enough */
void large__drop(char **done, const void *to);
/*
 * As large__drop(), but moves the pages into another array instead of freeing them. To free pages, and to get
 * and clear new ones, takes longer than most work on them. The other array is used up to `used`, and gets the
 * pages behind that, up to `end`. *next is where the last call ended, and starts as NULL. The content of the
 * moved pages is undefined.
 */
void large__hand_on(char **done, const void *to, char **next, const void *used, const void *end);

#endif
