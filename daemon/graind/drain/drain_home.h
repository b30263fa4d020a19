/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the NUMA node on which a thread empties rings. */
#ifndef GRAIND_DRAIN_HOME_H
#define GRAIND_DRAIN_HOME_H

#include "uprobes/capture/capture.h"

#include <sched.h>

/*
 * Keeps the calling thread on the NUMA node from which most events come, because their rings are in that
 * node's memory. The thread's affinity is respected. Start with {.node = -1} and call drain_home__look()
 * after each poll; it acts once a second.
 */
struct drain_home {
	uint64_t looked_ns;
	int node;      /* -1: any node */
	cpu_set_t own; /* the thread's original affinity */
	bool known;
};
void drain_home__look(struct drain_home *home, struct capture *capture);

#endif
