/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of which only some windows were recorded. Internal to analysis. */
#ifndef GRAIN_TRACE_WINDOWS_H
#define GRAIN_TRACE_WINDOWS_H

#include "analysis/resolve.h"

/*
 * What began in one window is not to be found in another: each has its own
 * threads, as if others had run there, and its own keys of objects, which the
 * runtime may have used again meanwhile. What a thread tells after a window's
 * end, because its call had begun before, is as of that end. The records are in
 * the order of time.
 */
int trace_windows__split(struct trace_content *content, const struct event_stream *stream,
			 struct budget *budget);

#endif
