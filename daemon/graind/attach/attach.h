/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the OpenMP runtimes of a process and opens a capture with probes in all of them. */
#ifndef GRAIND_ATTACH_H
#define GRAIND_ATTACH_H

#include "daemon/graind/limits/budget.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/jobs/jobs.h"
#include "daemon/graind/recorder/recorder.h"
#include "uprobes/capture/capture.h"
#include "uprobes/runtime/runtime_find.h"

#define ATTACH_MAX_RUNTIMES 8

struct attachment {
	struct capture *capture;
	bool one_of_several; /* it is of a job of processes, which spare_capture.h counts */
	struct budget_share share;
};

/*
 * Finds the runtimes that the process has mapped. Returns their number, 0 when there is none yet, or -1 with
 * *failure set.
 */
int attach__find(pid_t pid, struct runtime_file runtimes[ATTACH_MAX_RUNTIMES], struct failure *failure);

/* Returns which runtimes these are: "libgomp", "libomp" or "libgomp+libomp". */
const char *attach__name(const struct runtime_file *runtimes, int count);

/*
 * Finds the runtime libraries that this system's dynamic linker would load, at most two. Returns their
 * number.
 */
int attach__system(struct runtime_file runtimes[2]);

/*
 * Opens a capture for what the job asks for, without probes and processes yet. It counts in the budget of
 * the user who asked for the job. `several`: the capture is for several processes or for the whole machine.
 * Returns 0, or -1 with *failure set.
 */
int attach__open(bool several, struct job *job, struct attachment *out, struct failure *failure);
/*
 * Returns what an event costs the observed thread, in ns; 0: unknown. The first call on this machine
 * measures it, which takes as long as opening a capture.
 */
double attach__ns_per_event(const struct attachment *attachment);
/*
 * Whether attach__ns_per_event() is measured in the background, so that a later call does not wait.
 * `wanted`: a process is recorded, so the cost is needed soon.
 */
bool attach__measures(const struct attachment *attachment, bool wanted);
/* Closes the capture and gives back its part of the budget. */
void attach__close(struct attachment *attachment);

/* Describes the capture for the recorder; the caller fills in runtime and times. */
void attach__describe(const struct capture *capture, struct recorder_capture *out);

/*
 * Whether the plan's breakpoints may kill a process with a shadow stack (shadow_stack.h). `unseen`: a
 * process may get the breakpoints before graind has checked it for a shadow stack. This happens if the
 * capture is of every process, or if a followed process maps the file later.
 */
bool attach__may_kill(const struct capture *capture, const struct probe_plan *plan, bool unseen);

/*
 * Plans one more runtime file and attaches its probes to an open capture. Attaches none if
 * attach__may_kill(), and sets *lost. Sets *bodies if libgomp does not show its calls of bodies; then the
 * bodies must be probed in the programs (program_bodies.h). Returns 0, or -1 with *failure set.
 */
int attach__add(struct capture *capture, const struct runtime_file *runtime, bool unseen, bool *lost,
		bool *bodies, struct failure *failure);

/*
 * Tells the recorder which counters shared the PMU and so counted only for a part of the time. Call this
 * before the trace ends.
 */
void attach__tell_shares(const struct capture *capture, struct recorder *recorder);

#endif
