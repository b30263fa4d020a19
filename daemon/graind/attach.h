/* SPDX-License-Identifier: BSD-2-Clause */
/* From a process to a capture with probes in all its runtimes. */
#ifndef GRAIND_ATTACH_H
#define GRAIND_ATTACH_H

#include "daemon/graind/job.h"
#include "daemon/graind/jobs.h"
#include "daemon/graind/recorder.h"
#include "uprobes/capture.h"
#include "uprobes/runtime_find.h"

#define ATTACH_MAX_RUNTIMES 8

struct attachment {
	struct capture *capture;
	double ns_per_event; /* 0 = unknown */
};

/* Runtimes in the process: 0 none yet, or -1 with *failure set. */
int attach__find(pid_t pid, struct runtime_file runtimes[ATTACH_MAX_RUNTIMES], struct failure *failure);

/* "libgomp", "libomp" or "libgomp+libomp", as the process has mapped them. */
const char *attach__name(const struct runtime_file *runtimes, int count);

/* The libraries that this system's loader would take, at most two; their number. */
int attach__system(struct runtime_file runtimes[2]);

/*
 * A capture without files and processes, for several processes or for every
 * one, of what the job asks for. 0, or -1 with *failure set.
 */
int attach__open(bool several, const struct job *job, struct attachment *out, struct failure *failure);

/* What a record says of its capture: that of the runtime and of times is the caller's. */
void attach__describe(const struct capture *capture, struct recorder_capture *out);

/*
 * One more file for an open capture: plans and attaches. `bodies` becomes true when its
 * bodies have to be observed in the programs (program_bodies.h).
 */
int attach__add(struct capture *capture, const struct runtime_file *runtime, bool *bodies,
		struct failure *failure);

/* Tells the record which counters had the PMU for a part of the time only; before its end. */
void attach__tell_shares(const struct capture *capture, struct recorder *recorder);

#endif
