/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime passes our memory from one thread to another. It synchronizes in ways that ThreadSanitizer
 * does not see. Its build is told about exactly these hand-overs. In other builds this does nothing.
 */
#ifndef GRAIND_SHIM_TSAN_HAND_OVER_H
#define GRAIND_SHIM_TSAN_HAND_OVER_H

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
/* HAND_OVER: the thread has written the memory, or read it for the last time. */
#define HAND_OVER(memory) __tsan_release((void *)(memory))
#else
#define HAND_OVER(memory) ((void)(memory))
#endif

/*
 * TAKE_OVER: the thread that has the memory now comes after all that have handed it over. With
 * HAND_OVER_UNSAID it does nothing, to test that its absence is noticed.
 */
#if defined(__SANITIZE_THREAD__) && !defined(HAND_OVER_UNSAID)
#define TAKE_OVER(memory) __tsan_acquire((void *)(memory))
#else
#define TAKE_OVER(memory) ((void)(memory))
#endif

#endif
