/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buffer between the rings of a capture and the thread that processes events. A separate thread moves
 * events from the rings into memory when the processing thread has not done so for a while. This separate
 * thread does nothing else and waits for no lock of other threads.
 */
#ifndef GRAIND_EVENT_BUFFER_H
#define GRAIND_EVENT_BUFFER_H

#include "daemon/graind/drain/drain_home.h"
#include "uprobes/capture/capture.h"

struct event_buffer;

/*
 * Sizes, in events of 64 bytes. The kernel allocates only pages that are used. A session's buffer holds the
 * events of two busy CPUs for two seconds. A job's buffer holds them for half a second, as a user may have
 * many jobs.
 */
#define EVENT_BUFFER_OF_SESSION (UINT32_C(1) << 20)
#define EVENT_BUFFER_OF_JOB (UINT32_C(1) << 18)

/*
 * From now on only the buffer may read the capture's rings. `slots` is a power of two. -ENOMEM, or the
 * error of pthread_create().
 */
int event_buffer__new(struct capture *capture, uint32_t slots, struct event_buffer **out);
void event_buffer__free(struct event_buffer *buffer); /* accepts NULL */

/* Moves the events of the rings into the buffer. False: the buffer had no room for all of them. */
bool event_buffer__fill(struct event_buffer *buffer);
/* Like capture__poll(), but gives the events in the buffer first, then those in the rings. */
long event_buffer__empty(struct event_buffer *buffer, capture_events_fn on_events, void *ctx);

/* Calls drain_home__look() for the calling thread. */
void event_buffer__look_home(struct event_buffer *buffer, struct drain_home *home);

#endif
