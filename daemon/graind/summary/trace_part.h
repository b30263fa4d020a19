/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a separate trace (TRACE_PART) from a part of a trace that is still being written. The size of the
 * part does not depend on the size of the trace. The part has what was written since the last part. If that
 * is too much, it has only the latest bytes, and for processes with words the latest words. Before these
 * come the lines from the beginning of the trace.
 */
#ifndef GRAIND_TRACE_PART_H
#define GRAIND_TRACE_PART_H

#include <stdint.h>

/*
 * Sizes for a process on this many CPUs: some thousand events of each CPU. With few CPUs their analysis
 * takes a tenth of a second.
 */
#define TRACE_PART_BYTES(cpus) ((UINT64_C(512) << 10) + (cpus) * (UINT64_C(16) << 10))
#define TRACE_PART_WORDS(cpus) ((UINT64_C(128) << 10) + (cpus) * (UINT64_C(4) << 10))

/*
 * *from: 0 at the first call; after that the value from the call before. `later`: the file with the events
 * that follow those of the trace (spool__later()); each call takes the latest of them; -1: there is none.
 * *out: a memory file, which the caller owns. -EAGAIN: there is nothing new; -EBADMSG: it is not a trace.
 */
int trace_part__make(int trace, int later, uint64_t cpus, uint64_t *from, int *out);

#endif
