/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf event whose samples have data addresses: the processor's own event, or one that the user names.
 * Other names than the processor's are looked up in a process without privileges
 * (daemon/graind/worker/counter_names.h), which passes the result on as text.
 */
#ifndef GRAIND_MEMORY_EVENT_H
#define GRAIND_MEMORY_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MEMORY_EVENT_DEVICES "/sys/bus/event_source/devices"

/* See perf_event_open(2). */
struct memory_event {
	char name[64];
	char absent[160]; /* why it is not available; "": it is */
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t period;  /* one sample per this many events; 0: a number of samples per second */
	uint32_t precise; /* precise_ip */
	bool exclude_user, exclude_kernel, exclude_hypervisor;
	bool led; /* counts only in a group with the event `leader` of the same PMU */
	uint64_t leader;
};

/*
 * Finds the processor's own event in `devices`, a directory like MEMORY_EVENT_DEVICES: Intel's loads
 * ("mem-loads") or AMD's IBS ("ibs_op"). False: there is none, for the reason in out->absent.
 */
bool memory_event__find(const char *devices, struct memory_event *out);

/*
 * Says why samples of the event have no addresses, in a few words. NULL: they have addresses, unless the
 * kernel leaves them out.
 */
const char *memory_event__flaw(const struct memory_event *event);

/*
 * The event as one line of text. -EBADMSG: the text is not such a line, or the event is not allowed
 * (counter_event__is_allowed()).
 */
int memory_event__write(const struct memory_event *event, FILE *f);
int memory_event__read(const char *text, struct memory_event *out);

#endif
