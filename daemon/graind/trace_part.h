/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of a trace that is still being written, as a trace of its own, of a size that does not depend on
 * how much there is: what was written since the last part, of more than TRACE_PART_BYTES the latest. Of one
 * that its process writes by itself (words) the beginning, since what follows cannot be read without it.
 */
#ifndef GRAIND_TRACE_PART_H
#define GRAIND_TRACE_PART_H

#include <stdint.h>

#define TRACE_PART_BYTES (UINT64_C(1) << 20)

/*
 * *from: 0, then where the call before left it. *out: memory without a name, the caller's. -EAGAIN: there is
 * nothing new; -EBADMSG: it is no trace.
 */
int trace_part__make(int trace, uint64_t *from, int *out);

#endif
