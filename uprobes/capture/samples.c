// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/capture/samples.h"

#include "bpf/openmp.skel.h"

#include <errno.h>
#include <stdio.h>

#define REASON sizeof(((struct samples *)0)->time_absent)

static void keep_reason(char absent[REASON], const char *why)
{
	snprintf(absent, REASON, "%.*s", (int)REASON - 1, why);
}

void samples__ask(struct samples *samples, const struct capture_opts *opts)
{
	samples->hz = opts->sample_hz;
	samples->possible = opts->may_sample || opts->sample_hz;
	samples->threads = opts->several ? opts->sampled_threads : 0;
	samples->cpus = opts->sample_cpus || !samples->threads;
	samples->memory_asked = opts->sample_hz && opts->memory_event;
	if (samples->memory_asked)
		samples->memory_event = *opts->memory_event;
}

void samples__choose(const struct samples *samples, struct openmp_bpf *skeleton)
{
	bpf_program__set_autoload(skeleton->progs.sample, samples->possible);
	bpf_program__set_autoload(skeleton->progs.access,
				  samples->memory_asked && !samples->memory_event.absent[0]);
	skeleton->rodata->access_limit = SAMPLE_HZ_MAX;
}

static void start_memory(struct samples *samples, struct sampling_opts *opts,
			 const struct openmp_bpf *skeleton)
{
	struct uprobes_error why;
	int error;

	if (samples->memory_event.absent[0]) {
		keep_reason(samples->memory_absent, samples->memory_event.absent);
		return;
	}
	opts->program = skeleton->progs.access;
	opts->memory_event = &samples->memory_event;
	opts->threads = samples->threads;
	error = sampling__start(opts, &samples->memory, &why);
	/*
	 * Some processors sample addresses only of whole CPUs, where few samples may come from the process.
	 */
	if (error && opts->threads && samples->cpus) {
		opts->threads = 0;
		error = sampling__start(opts, &samples->memory, &why);
	}
	if (error)
		keep_reason(samples->memory_absent, why.text);
}

void samples__start(struct samples *samples, struct openmp_bpf *skeleton, unsigned int cpus)
{
	struct sampling_opts opts = {.program = skeleton->progs.sample,
				     .hz = samples->hz,
				     .cpus = cpus,
				     .threads = samples->cpus ? 0 : samples->threads,
				     .twofold = skeleton->maps.twofold,
				     .any_twofold = &skeleton->bss->any_twofold};
	struct uprobes_error why;

	if (!samples->hz)
		return;
	if (sampling__start(&opts, &samples->time, &why))
		keep_reason(samples->time_absent, why.text);
	else
		skeleton->bss->sample_every = sampling__every(samples->time);
	if (samples->memory_asked)
		start_memory(samples, &opts, skeleton);
}

static void add(struct sampling **sampling, pid_t pid, uint64_t forked_ns, char absent[REASON])
{
	struct uprobes_error why;

	if (!*sampling || !sampling__add_process(*sampling, pid, forked_ns, &why) || forked_ns)
		return;
	/* Samples of only some of its threads would be misleading. */
	keep_reason(absent, why.text);
	sampling__stop(*sampling);
	*sampling = NULL;
}

void samples__add_process(struct samples *samples, pid_t pid, uint64_t forked_ns)
{
	add(&samples->time, pid, forked_ns, samples->time_absent);
	add(&samples->memory, pid, forked_ns, samples->memory_absent);
}

void samples__pause(struct samples *samples)
{
	sampling__pause(samples->time);
	sampling__pause(samples->memory);
}

void samples__resume(struct samples *samples)
{
	sampling__resume(samples->time);
	sampling__resume(samples->memory);
}

void samples__stop(struct samples *samples)
{
	sampling__stop(samples->time);
	sampling__stop(samples->memory);
	samples->time = samples->memory = NULL;
}

void samples__describe_time(const struct samples *samples, struct capture_sampling *out)
{
	*out = (struct capture_sampling){
		.hz = samples->hz,
		.clock = samples->time ? sampling__clock(samples->time) : NULL,
		.why = samples->time_absent,
	};
}

void samples__describe_memory(const struct samples *samples, struct capture_accesses *out)
{
	*out = (struct capture_accesses){
		.asked = samples->memory_asked,
		.event = samples->memory ? samples->memory_event.name : NULL,
		.why = samples->memory_absent,
	};
}
