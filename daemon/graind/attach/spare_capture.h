/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture that is loaded before a job asks for it: the kernel's check of a capture's programs takes
 * longer than everything else in a short job. It is of the kind that most jobs need: processes with probes
 * and scheduling, with samples of time or without, and without counters.
 *
 * It takes kernel memory for its rings, so it is not loaded where that would be much memory. It takes no
 * CPU time until a job uses it. Each capture is used only once, so that nothing from an earlier recording
 * is left in its maps. The next one is loaded when no such job runs, so that loading disturbs no program;
 * and for some seconds after a job found none, as one user's jobs must not slow what others begin. If
 * several accounts begin jobs, each takes one in turn.
 */
#ifndef GRAIND_SPARE_CAPTURE_H
#define GRAIND_SPARE_CAPTURE_H

#include "uprobes/capture/capture.h"

#include <stdbool.h>

/*
 * Loads the first capture in the background, then measures what an event costs. `once`: loads no further
 * one, as this graind ends with its last job, and measures only when a job asks for the cost. If memory or
 * threads are short, there is no capture.
 */
void spare_capture__start(bool once);
/* Frees the capture. Waits for the thread that loads. */
void spare_capture__stop(void);

/*
 * Whether the cost of an event is being measured or will be measured. `wanted`: a job records and needs the
 * cost.
 */
bool spare_capture__measures(bool wanted);

/*
 * Returns a capture like that of capture__open(), or NULL. One caller may wait for a capture that is being
 * loaded.
 */
struct capture *spare_capture__take(const struct capture_opts *opts);

/* Call these two before and after a job of processes records. */
void spare_capture__begin(void);
void spare_capture__end(void);

#endif
