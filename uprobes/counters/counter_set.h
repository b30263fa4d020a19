/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of a capture: their names, and the perf events whose sum each of them is. Names are looked
 * up in a process without privileges (daemon/graind/worker/counter_names.h), which passes the result on as
 * text.
 */
#ifndef GRAIND_COUNTER_SET_H
#define GRAIND_COUNTER_SET_H

#include "bpf/abi/ring_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct counter {
	char name[64];
	char absent[160]; /* why it is not available; "": it is */
};

/*
 * See perf_event_open(2). If the kernel keeps a count for each thread anyway, that count is read (the
 * term's source).
 */
struct counter_event {
	struct ring_counter_term term;
	uint32_t type;
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hypervisor;
};

struct counter_set {
	size_t counter_count, event_count;
	size_t perf_count; /* number of RING_COUNTER_PERF events; they come first */
	struct counter counters[RING_COUNTERS_MAX];
	struct counter_event events[RING_COUNTERS_MAX];
};

/*
 * Whether events of this type are allowed: CPU events and the kernel's software events, which only count.
 * Tracing events reveal more.
 */
bool counter_event__is_allowed(uint32_t type);

/* Writes one line for each counter and each event. */
int counter_set__write(const struct counter_set *set, FILE *f);

/* Reads that text. -EBADMSG: it is not such a text, or it has an event that is not allowed. */
int counter_set__read(const char *text, struct counter_set *out);

/* Removes the events of a counter that is not available. */
void counter_set__drop_events(struct counter_set *set, size_t counter);

/*
 * Opens the perf events of the set on every online CPU, whatever runs there. If an event cannot be opened,
 * its counter becomes absent. Afterwards the available counters come first in the set.
 */
struct counter_fds;
int counter_fds__open(struct counter_set *set, unsigned int cpus, struct counter_fds **out);
/* The descriptor of an event on a CPU; the set still owns it. -1: there is none. */
int counter_fds__get(const struct counter_fds *fds, size_t event, unsigned int cpu);
/*
 * The part of the time for which the event was counted, over all CPUs. It is below 1 if others used the
 * PMU, and 1 for events that are no perf events.
 */
double counter_fds__share(const struct counter_fds *fds, size_t event);
void counter_fds__free(struct counter_fds *fds); /* accepts NULL */

#endif
