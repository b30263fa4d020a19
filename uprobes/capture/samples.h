/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples of one capture: samples of time (what runs) and samples of memory (data addresses). If there
 * are none, the reason is kept as text.
 */
#ifndef GRAIND_SAMPLES_H
#define GRAIND_SAMPLES_H

#include "uprobes/capture/capture.h"
#include "uprobes/counters/sampling.h"

struct openmp_bpf;

struct samples {
	unsigned int hz; /* 0: none were asked for */
	bool possible;	 /* the program that samples is loaded */
	size_t threads;	 /* sampled_threads of capture_opts; 0: CPUs are sampled */
	bool cpus;
	struct sampling *time; /* NULL: there are no samples of time */
	char time_absent[256];
	bool memory_asked;
	struct memory_event memory_event;
	struct sampling *memory;
	char memory_absent[256];
};

void samples__ask(struct samples *samples, const struct capture_opts *opts);
/* Chooses the programs of the skeleton that are loaded. */
void samples__choose(const struct samples *samples, struct openmp_bpf *skeleton);
void samples__start(struct samples *samples, struct openmp_bpf *skeleton, unsigned int cpus);
void samples__add_process(struct samples *samples, pid_t pid, uint64_t forked_ns);
void samples__pause(struct samples *samples);
void samples__resume(struct samples *samples);
void samples__stop(struct samples *samples);
void samples__describe_time(const struct samples *samples, struct capture_sampling *out);
void samples__describe_memory(const struct samples *samples, struct capture_accesses *out);

#endif
