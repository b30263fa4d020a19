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
 * What is in [from, to) of an array from malloc is not needed any more: its
 * whole pages go back to the system, their content is lost. *done is where the
 * call before ended, at first `from`; small steps wait until they are worth it.
 */
#define LARGE_STEP 4096 /* elements, after so many calling it is soon enough */
void large__drop(char **done, const void *to);

#endif
