/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces that were recorded in windows. Internal to analysis. */
#ifndef GRAIN_TRACE_WINDOWS_H
#define GRAIN_TRACE_WINDOWS_H

#include "analysis/trace/trace_content.h"

/*
 * Separates the windows. What began in one window must not be matched with events of another. So each window
 * has its own threads, as if other threads had run there. It also has its own keys of runtime objects,
 * because the runtime may have reused the objects in between. If a call began before the end of a window, its
 * thread may record the event after that end. Such an event gets the time of the end. The records must be
 * sorted by time. Returns 0, -ENOMEM or -E2BIG.
 */
int trace_windows__split(struct trace_content *content, const struct event_stream *stream,
			 struct budget *budget);

#endif
