/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes all child processes of graind. Until a child has executed its program, it has copies of the
 * descriptors of the thread that makes it. If a link of probes is closed in that time, the child has the
 * last copy of it. Then its exec waits until the kernel has removed the probes, for tenths of a second for
 * each link. So children are made by threads that have their own descriptor table, which never has a link.
 */
#ifndef GRAIND_SPAWNER_H
#define GRAIND_SPAWNER_H

#include <stddef.h>

/*
 * Call this once, before there is a link of probes, in the process that stays (after going to the
 * background). 0 or a negative errno.
 */
int spawner__start(void);

/*
 * Calls `make` in a thread that has none of the caller's descriptors, only copies of `fds` (at least one),
 * in the same order. The copies are closed on exec. Their numbers are above all of `fds` and above the
 * standard ones. They are closed afterwards. Returns what `make` returns; -ESRCH: there is no spawner.
 */
int spawner__run(int (*make)(void *ctx, const int *copies), void *ctx, const int *fds, size_t count);

#endif
