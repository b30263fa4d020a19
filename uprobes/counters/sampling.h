/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf events that sample, at a set frequency, what runs or which memory it uses. They are either on
 * each CPU, whatever runs there, or in each thread of some processes, so that nobody else is interrupted.
 *
 * The kernel lets threads and processes inherit the event of the thread that makes them. A new thread's
 * first sample comes after a whole period of its own CPU time. So threads that live shorter have no
 * samples. If CPUs are sampled, such threads get their share.
 */
#ifndef GRAIND_SAMPLING_H
#define GRAIND_SAMPLING_H

#include "uprobes/counters/memory_event.h"
#include "uprobes/plan/uprobes_error.h"

#include <sys/types.h>

struct bpf_program;
struct bpf_map;
struct sampling;

/* The default frequency. It is not in step with other things that happen ten or a hundred times a second. */
#define SAMPLE_HZ 99
#define SAMPLE_HZ_MAX 10000
/* Threads are interrupted at least this often. Only as many interrupts become samples as are wanted. */
#define SAMPLE_HZ_OF_THREADS 1000

struct sampling_opts {
	const struct bpf_program *program; /* the kernel runs it at each sample */
	unsigned int hz;
	unsigned int cpus;
	const struct memory_event *memory_event; /* takes samples with data addresses, by frequency or by its
						    period; NULL: takes samples of time */
	size_t threads; /* the most threads that are sampled, each with a descriptor; 0: CPUs are sampled */
	const struct bpf_map *twofold; /* threads that may have two events (sample.bpf.h) */
	uint32_t *any_twofold;
};

/*
 * Starts sampling by the cycle counter, which does not interrupt idle CPUs. If there is no cycle counter,
 * samples by the clock. Threads are not sampled before sampling__add_process(). Returns 0, or -EPERM,
 * -ENODEV and so on with *err set.
 */
int sampling__start(const struct sampling_opts *opts, struct sampling **out, struct uprobes_error *err);

/*
 * Samples all threads of the process and their descendants. `forked_ns` (CLOCK_MONOTONIC): when a process
 * that was added forked this one, which then has inherited its event unless the fork came before the
 * adding; 0: it has no event yet. Does nothing if CPUs are sampled. -E2BIG, -EMFILE and so on with *err
 * set: some threads are not sampled.
 */
int sampling__add_process(struct sampling *sampling, pid_t pid, uint64_t forked_ns,
			  struct uprobes_error *err);

/* Pausing stops all interrupts until sampling is resumed. Both accept NULL. */
void sampling__pause(struct sampling *sampling);
void sampling__resume(struct sampling *sampling);

/* Returns the clock of time samples: "cycles" or "cpu-clock". */
const char *sampling__clock(const struct sampling *sampling);
/* Returns how many interrupts there are for one sample. */
unsigned int sampling__every(const struct sampling *sampling);
/* Whether threads are sampled instead of CPUs. */
bool sampling__is_of_threads(const struct sampling *sampling);
void sampling__stop(struct sampling *sampling); /* accepts NULL */

#endif
