/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the rings of a capture and the thread that takes events apart: a thread that does nothing else, and
 * waits for nobody, moves what is in the rings into memory whenever the other one has not done so for a
 * while.
 */
#ifndef GRAIND_RESERVOIR_H
#define GRAIND_RESERVOIR_H

#include "daemon/graind/drain.h"
#include "uprobes/capture.h"

struct reservoir;

/* The rings of the capture are the reservoir's from now on. -ENOMEM; what pthread_create() says. */
int reservoir__new(struct capture *capture, struct reservoir **out);
void reservoir__free(struct reservoir *reservoir); /* accepts NULL */

/* Moves what is in the rings by now, as far as there is room; false: there was none for all. */
bool reservoir__fill(struct reservoir *reservoir);
/* As capture__poll, with all that is in it. */
long reservoir__empty(struct reservoir *reservoir, capture_events_fn on_events, void *ctx);

/* drain_home__look for the calling thread. */
void reservoir__look_home(struct reservoir *reservoir, struct drain_home *home);

#endif
