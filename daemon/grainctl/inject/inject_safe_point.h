/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether a library can be loaded on a thread at the place where it was stopped. This is not
 * possible while the thread may hold a lock of the allocator or the loader. The thread's frames decide, or
 * else the words on its stack. In doubt another thread or moment is tried.
 */
#ifndef GRAINCTL_INJECT_SAFE_POINT_H
#define GRAINCTL_INJECT_SAFE_POINT_H

#include "daemon/grainctl/inject/inject_thread.h"

/* NULL: a library can be loaded here; else the reason why not. */
const char *inject_safe_point__check(const struct inject_thread *thread);

#endif
