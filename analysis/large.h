/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large arrays: in huge pages where the kernel gives them, which saves most of
 * the time that first touching and random access otherwise take, and given
 * back piece by piece while they are used up. Internal to analysis.
 */
#ifndef GRAIND_LARGE_H
#define GRAIND_LARGE_H

#include <stddef.h>

/* Asks for huge pages under what malloc has just returned; best before it is
 * touched. Changes no content. */
void large__advise(void *memory, size_t bytes);

/*
 * As malloc, calloc and realloc, and freed by free. Of large ones the whole
 * mapping is in huge pages: its length is a multiple of theirs, so that the
 * kernel aligns it, also where it moves it to grow.
 */
void *large__new(size_t bytes);
void *large__zeroed(size_t bytes);
void *large__grown(void *memory, size_t bytes);
/* So many bytes these take instead of `bytes`: what is more can be used as well. */
size_t large__room(size_t bytes);

/*
 * What is in [from, to) of an array from malloc is not needed any more: its
 * whole pages go back to the system, their content is lost. *done is where the
 * call before ended, at first `from`; small steps wait until they are worth it.
 */
#define LARGE_ARRAY ((size_t)4 << 20) /* bytes from which on an array is large */
#define LARGE_STEP 4096		      /* elements, after so many calling it is soon enough */
void large__drop(char **done, const void *to);
/*
 * The same, but the pages become those of another array: of its part up to
 * `end` that nothing has been written to yet. That saves giving them back and
 * getting and clearing others, which takes longer than most of what is done
 * with them. Up to `used` the array is in use; *next is where the pages of the
 * call before ended, at first NULL. What they contain there is arbitrary.
 */
void large__hand_on(char **done, const void *to, char **next, const void *used, const void *end);

#endif
