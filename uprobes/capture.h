/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One capture: a loaded set of BPF programs with its rings, attached to the
 * planned points of one or more runtime files, for one process or for all.
 *
 * open -> attach or add (any number) -> enable -> poll ... -> disable -> poll -> free.
 * Nothing is recorded before enable and after disable, whatever is attached:
 * attaching a set of probes is not atomic. Everything is undone when the file
 * descriptors close, so a killed daemon leaves nothing behind.
 */
#ifndef GRAIND_CAPTURE_H
#define GRAIND_CAPTURE_H

#include "bpf/ring_abi.h"
#include "uprobes/counter_set.h"
#include "uprobes/memory_event.h"
#include "uprobes/plan.h"

#include <sys/types.h>

enum capture_method {
	CAPTURE_AUTO,  /* uprobe_multi where the kernel has it; GRAIND_ATTACH=perf|multi in the environment
			  decides otherwise */
	CAPTURE_MULTI, /* Linux >= 6.6 */
	CAPTURE_PERF,  /* perf-event uprobes: one file descriptor a probe, slow to detach */
};

struct capture_opts {
	pid_t pid;    /* thread group to record; 0 = every process */
	bool several; /* instead: the processes that capture__add_process adds */
	unsigned int
		ready; /* 1 << enum probe_runtime: loaded now, the others each with the first of its points */
	enum capture_method method;
	bool whole_processes;		    /* also of threads that give no events */
	bool scheduler;			    /* also when the threads that give events are off their CPUs */
	const struct counter_set *counters; /* NULL: none; needs the scheduler */
	unsigned int sample_hz;		    /* so often a second each CPU is asked where it is; 0: never */
	const struct memory_event *memory_event; /* and which memory it uses; NULL: not that */
	uint32_t slots_per_cpu;			 /* power of two; 0 = default */
};

struct capture;

/* -EPERM: *err names the missing capability. */
int capture__open(const struct capture_opts *opts, struct capture **out, struct uprobes_error *err);
/* `path` must be openable by the caller, e.g. /proc/PID/root/usr/lib/... */
int capture__attach(struct capture *capture, const struct probe_plan *plan, const char *path,
		    struct uprobes_error *err);
/* The same for points that are not of a plan; they are read as those of `runtime`. */
int capture__attach_points(struct capture *capture, enum probe_runtime runtime,
			   const struct probe_point *points, size_t count, const char *path,
			   struct uprobes_error *err);

/*
 * Of a capture of several processes: every attached file is probed in every
 * process added, whichever comes first, and in the programs that it executes.
 * Adding a process takes less than a millisecond.
 */
int capture__add_process(struct capture *capture, pid_t pid, struct uprobes_error *err);
/* Of a capture of every process: nothing of this one is recorded until it is accepted again. */
void capture__refuse_process(struct capture *capture, pid_t pid);
void capture__accept_process(struct capture *capture, pid_t pid);
/* Needed when another thread than the first has executed a program. */
int capture__renew_process(struct capture *capture, pid_t pid, struct uprobes_error *err);
void capture__drop_process(struct capture *capture, pid_t pid);

/*
 * Of a capture of several processes or of all, while it is disabled: no process has a
 * breakpoint until it resumes. Whether that is possible
 * here is known when a file is attached. Resuming reports what could not be
 * attached again; the rest goes on.
 */
bool capture__can_pause(const struct capture *capture);
/* The same of what capture__open() with CAPTURE_AUTO will open. */
bool capture__will_pause(void);
void capture__pause(struct capture *capture);
int capture__resume(struct capture *capture, struct uprobes_error *err);

/* Since the capture was opened: hits on this CPU that left no event; CPU time that pausing has taken so far.
 */
uint64_t capture__passed(const struct capture *capture, unsigned cpu);
uint64_t capture__pausing_ns(const struct capture *capture);

void capture__enable(struct capture *capture);
void capture__disable(struct capture *capture);
/* What is disabled goes on with its samples, if there are any. */
void capture__keep_sampling(struct capture *capture);
void capture__free(struct capture *capture);

const char *capture__method_name(const struct capture *capture); /* "uprobe_multi" or "perf" */

/* NULL when the scheduler is followed, else why it is not. */
const char *capture__scheduler_absent(const struct capture *capture);

struct capture_sampling {
	unsigned int hz;   /* 0: it was not asked for */
	const char *clock; /* "cycles" or "cpu-clock"; NULL: there are no samples */
	const char *why;   /* for that reason */
};
void capture__sampling(const struct capture *capture, struct capture_sampling *out);

struct capture_accesses {
	bool asked;
	const char *event; /* its name; NULL: there are no samples of addresses */
	const char *why;   /* for that reason */
};
void capture__accesses(const struct capture *capture, struct capture_accesses *out);

/* What became of those that were asked for; those that can be had come first, numbered as in RING_COUNTERS.
 */
const struct counter_set *capture__counters(const struct capture *capture);
/* Which part of the time the counter was on the PMU, the rest is estimated; 1 where it never shared it. */
double capture__counter_share(const struct capture *capture, size_t counter);

/*
 * Measured on this machine, once per method, with a probe of our own:
 * nanoseconds that one event costs the observed thread.
 */
int capture__calibrate(struct capture *capture, double *ns_per_event);

/*
 * Hands over what has arrived, CPU by CPU, in runs of consecutive slots that
 * are valid during the call. Returns the number of events, or the first
 * non-zero result of `on_events`. Never blocks, never allocates.
 */
typedef int (*capture_events_fn)(void *ctx, unsigned cpu, const struct ring_event *events, size_t count);
long capture__poll(struct capture *capture, capture_events_fn on_events, void *ctx);

/*
 * On a machine with several NUMA nodes the rings lie on the nodes of their CPUs: the node of a CPU's, and the
 * node from which most of the events came since the last call. -1: with one node, or none of them stands out.
 */
int capture__ring_node(const struct capture *capture, unsigned cpu);
int capture__busiest_node(struct capture *capture);

struct capture_losses {
	uint64_t ring_full, read_faults, storage, overwritten, bodies, samples, accesses; /* enum ring_loss */
};
void capture__losses(const struct capture *capture, struct capture_losses *out);
/*
 * Those of one process; with them those of which nobody knows whose they are. Nothing is known any more of a
 * process that was dropped, refused or forgotten.
 */
void capture__losses_of(const struct capture *capture, pid_t pid, struct capture_losses *out);
void capture__forget_losses(struct capture *capture, pid_t pid);

#endif
