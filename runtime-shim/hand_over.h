/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime hands memory of ours from one thread to another, and waits by
 * means that ThreadSanitizer does not see. In its build it is told of exactly
 * that; in all others nothing is said.
 */
#ifndef GRAIND_SHIM_HAND_OVER_H
#define GRAIND_SHIM_HAND_OVER_H

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
/* The thread has written, or read for the last time, what is at `memory`; */
#define HAND_OVER(memory) __tsan_release((void *)(memory))
#else
#define HAND_OVER(memory) ((void)(memory))
#endif

/* and the one that has it now comes after all who have handed it over. UNSAID: to see that it is missed. */
#if defined(__SANITIZE_THREAD__) && !defined(HAND_OVER_UNSAID)
#define TAKE_OVER(memory) __tsan_acquire((void *)(memory))
#else
#define TAKE_OVER(memory) ((void)(memory))
#endif

#endif
