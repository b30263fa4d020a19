/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf event whose samples have the addresses of data: the processor's own where it has one, or one that
 * somebody names. Names other than the processor's are looked up where nothing can be harmed by it
 * (daemon/graind/counter_names.h); what comes of that is passed on as text.
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
	char absent[160]; /* why there is none, "": there is one */
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t period;  /* every so many'th; 0: so many samples a second */
	uint32_t precise; /* precise_ip */
	bool exclude_user, exclude_kernel, exclude_hypervisor;
	bool led; /* counts only beside the event `leader` of the same PMU */
	uint64_t leader;
};

/*
 * The processor's own of those in `devices`, a directory like MEMORY_EVENT_DEVICES: loads of Intel's
 * ("mem-loads"), what AMD's IBS samples ("ibs_op"). False: there is none, for the reason in out->absent.
 */
bool memory_event__find(const char *devices, struct memory_event *out);

/* NULL: it gives addresses, as far as the kernel does; else why not, in a few words. */
const char *memory_event__flaw(const struct memory_event *event);

/* One line; -EBADMSG: it is no such text, or asks for more than events of CPUs and of the kernel's own. */
int memory_event__write(const struct memory_event *event, FILE *f);
int memory_event__read(const char *text, struct memory_event *out);

#endif
