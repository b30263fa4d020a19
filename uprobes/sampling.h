/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf events that ask each CPU, a set number of times a second, what runs there, or which memory it
 * uses. */
#ifndef GRAIND_SAMPLING_H
#define GRAIND_SAMPLING_H

#include "uprobes/memory_event.h"
#include "uprobes/plan.h"

struct bpf_program;
struct sampling;

/* Where nobody says how often: not a whole number of times in what else happens ten or a hundred times a
 * second. */
#define SAMPLE_HZ 99
#define SAMPLE_HZ_MAX 10000

/*
 * Runs `program` at each of `hz` samples a second of every CPU that is online: by its cycle counter, so that
 * a CPU that is idle is not asked, else by its clock. -EPERM, -ENODEV and so on with *err set.
 */
int sampling__start(const struct bpf_program *program, unsigned int hz, unsigned int cpus,
		    struct sampling **out, struct uprobes_error *err);
/* The same by that event, whose samples have addresses: as often, or at every so many'th as its period says.
 */
int sampling__start_memory(const struct bpf_program *program, const struct memory_event *event,
			   unsigned int hz, unsigned int cpus, struct sampling **out,
			   struct uprobes_error *err);
const char *
sampling__clock(const struct sampling *sampling); /* of sampling__start: "cycles" or "cpu-clock" */
void sampling__stop(struct sampling *sampling);	  /* accepts NULL */

#endif
