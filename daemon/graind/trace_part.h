/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of a trace that is still being written, as a trace of its own (TRACE_PART), of a size that does not
 * depend on how much there is: what was written since the last part, of more than so many bytes, or words
 * that a process writes by itself, the latest. Before it are the lines from the trace's begin.
 */
#ifndef GRAIND_TRACE_PART_H
#define GRAIND_TRACE_PART_H

#include <stdint.h>

/* For a process on so many CPUs: some thousand events of each, which takes a tenth of a second on few. */
#define TRACE_PART_BYTES(cpus) ((UINT64_C(512) << 10) + (cpus) * (UINT64_C(16) << 10))
#define TRACE_PART_WORDS(cpus) ((UINT64_C(128) << 10) + (cpus) * (UINT64_C(4) << 10))

/*
 * *from: 0, then where the call before left it. `later`: the file of the events that come after those of the
 * trace, of which the latest are taken each time; -1: there is none. *out: memory without a name, the
 * caller's. -EAGAIN: there is nothing new; -EBADMSG: it is no trace.
 */
int trace_part__make(int trace, int later, uint64_t cpus, uint64_t *from, int *out);

#endif
