/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of a capture: what people call them, and the perf events that
 * each is a sum of. Names are looked up where nothing can be harmed by it
 * (daemon/graind/counter_names.h); what comes of that is passed on as text.
 */
#ifndef GRAIND_COUNTER_SET_H
#define GRAIND_COUNTER_SET_H

#include "bpf/ring_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct counter {
	char name[64];
	char absent[160]; /* why it cannot be had, "": it can */
};

/* See perf_event_open(2). What the kernel counts of each thread anyway is read there (the term's source). */
struct counter_event {
	struct ring_counter_term term;
	uint32_t type;
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hypervisor;
};

struct counter_set {
	size_t counter_count, event_count;
	size_t perf_count; /* of the events, which come first: RING_COUNTER_PERF */
	struct counter counters[RING_COUNTERS_MAX];
	struct counter_event events[RING_COUNTERS_MAX];
};

/* An event of CPUs or the kernel's own: none that traces, or tells of more than counts. */
bool counter_event__is_allowed(uint32_t type);

/* A line for each counter and each event. */
int counter_set__write(const struct counter_set *set, FILE *f);

/* -EBADMSG: it is no such text, or asks for more than events of CPUs and of the kernel's own counters. */
int counter_set__read(const char *text, struct counter_set *out);

/* The counter cannot be had, and so has no events. */
void counter_set__drop_events(struct counter_set *set, size_t counter);

/*
 * The perf events on every CPU that is online, whatever runs there. Counters of
 * which an event cannot be opened become absent; counters that can be had come
 * first in the set then.
 */
struct counter_fds;
int counter_fds__open(struct counter_set *set, unsigned int cpus, struct counter_fds **out);
/* The descriptor of an event on a CPU, -1: there is none. */
int counter_fds__get(const struct counter_fds *fds, size_t event, unsigned int cpu);
/* Which part of the time the event was counted, on all CPUs together: below 1 where others had the PMU; 1 of
 * those that are no perf events. */
double counter_fds__share(const struct counter_fds *fds, size_t event);
void counter_fds__free(struct counter_fds *fds); /* accepts NULL */

#endif
