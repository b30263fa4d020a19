/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture is a loaded set of BPF programs with its rings. It is attached to the planned points of one or
 * more runtime files, for one process, for several, or for all.
 *
 * open -> attach or add (any number) -> enable -> poll ... -> disable -> poll -> free.
 * Attaching many probes is not atomic, so nothing is recorded before enable and after disable. The kernel
 * undoes everything when the file descriptors are closed, so a killed daemon leaves nothing behind.
 */
#ifndef GRAIND_CAPTURE_H
#define GRAIND_CAPTURE_H

#include "bpf/abi/ring_abi.h"
#include "uprobes/counters/counter_set.h"
#include "uprobes/counters/memory_event.h"
#include "uprobes/plan/plan.h"

#include <sys/types.h>

enum capture_method {
	CAPTURE_AUTO,  /* CAPTURE_MULTI if the kernel has it, unless the environment variable GRAIND_ATTACH
			  says perf or multi */
	CAPTURE_MULTI, /* Linux >= 6.6 */
	CAPTURE_PERF,  /* perf-event uprobes: one file descriptor for each probe, slow to detach */
};

struct capture_opts {
	pid_t pid;	    /* the process to record; 0: every process */
	bool several;	    /* in place of `pid`: the processes that capture__add_process() adds */
	uid_t owner;	    /* the user for whom probes are set; probe_turns.h decides who goes first */
	unsigned int ready; /* bits 1 << enum probe_runtime: these programs are loaded at once, any other one
			       with the first of its points */
	enum capture_method method;
	bool whole_processes;		    /* also record scheduling of threads without OpenMP events */
	bool scheduler;			    /* record when threads with events lose and get a CPU */
	const struct counter_set *counters; /* needs `scheduler`; NULL: none */
	bool may_sample; /* load the program that samples, even if `sample_hz` is 0: capture__use() may start
			    it */
	unsigned int sample_hz; /* samples a second of the running code; 0: none */
	const struct memory_event
		*memory_event; /* the event whose samples have addresses of data; NULL: none */
	/*
	 * With `several`: the most threads that get perf events of their own. These events sample data
	 * addresses, and time unless `sample_cpus` is set. Only threads that exist at
	 * capture__sample_process() need their own events: later threads inherit them.
	 */
	size_t sampled_threads;
	bool sample_cpus;	/* time is sampled on each CPU, whatever runs there */
	uint32_t slots_per_cpu; /* a power of two; 0: the default */
};

struct capture;

/*
 * Opens a capture. Returns 0, or a negative errno with *err set; for -EPERM it names the missing capability.
 */
int capture__open(const struct capture_opts *opts, struct capture **out, struct uprobes_error *err);
/*
 * Does most of the work of opening ahead of time. Until capture__use() the loaded programs cost only their
 * memory in the kernel. `opts` must have `several` and `scheduler`, and `sample_hz` 0. -ENOTSUP: this kernel
 * cannot do that.
 */
int capture__load(const struct capture_opts *opts, struct capture **out, struct uprobes_error *err);
/*
 * Makes a loaded capture an open one, with the owner and the samples of time that `opts` names. It can sample
 * if it was loaded with `may_sample`. After a negative errno only capture__free() may follow.
 */
int capture__use(struct capture *capture, const struct capture_opts *opts, struct uprobes_error *err);
/* Returns how much memory of the kernel the rings of a capture with these options take. */
uint64_t capture__ring_bytes(const struct capture_opts *opts);
/*
 * Attaches all probes of the plan, or none. The caller must be able to open `path`, such as
 * /proc/PID/root/usr/lib/... Returns 0, or a negative errno with *err set.
 */
int capture__attach(struct capture *capture, const struct probe_plan *plan, const char *path,
		    struct uprobes_error *err);
/* The same for points that are in no plan. Their cookies are read as those of `runtime`. */
int capture__attach_points(struct capture *capture, enum probe_runtime runtime,
			   const struct probe_point *points, size_t count, const char *path,
			   struct uprobes_error *err);

/*
 * For a capture of several processes: every attached file is probed in every added process, and in the
 * programs that it executes later. Files and processes may come in any order. Adding a process takes less
 * than a millisecond.
 */
int capture__add_process(struct capture *capture, pid_t pid, struct uprobes_error *err);
/* For a capture of every process: records nothing of this one until it is accepted again. */
void capture__refuse_process(struct capture *capture, pid_t pid);
void capture__accept_process(struct capture *capture, pid_t pid);
/*
 * For a capture of several processes: begins to sample the threads of one. If a process of the capture forked
 * it, it has inherited the sampling; `forked_ns` (CLOCK_MONOTONIC) is when. 0: none forked it. If sampling
 * fails, capture__sampling() says why, and everything else goes on.
 */
void capture__sample_process(struct capture *capture, pid_t pid, uint64_t forked_ns);
/*
 * Call it after a thread other than the first has executed a program. The kernel follows a process by its
 * first thread, which is a different one then.
 */
int capture__renew_process(struct capture *capture, pid_t pid, struct uprobes_error *err);
void capture__drop_process(struct capture *capture, pid_t pid);

/*
 * For a capture of several processes or of all, while it is disabled. Pausing removes the breakpoints from
 * all processes, resuming sets them again. Whether this kernel can do it is known only after a file is
 * attached. If capture__resume() cannot attach something again, it reports that and goes on with the rest.
 */
bool capture__can_pause(const struct capture *capture);
/* Whether a capture that will be opened with CAPTURE_AUTO can pause. */
bool capture__will_pause(void);
void capture__pause(struct capture *capture);
int capture__resume(struct capture *capture, struct uprobes_error *err);

/* Returns how many hits of probes on this CPU wrote no event, since the capture was opened. */
uint64_t capture__passed(const struct capture *capture, unsigned cpu);
/* Returns how often this CPU was interrupted for samples, since the capture was opened. */
uint64_t capture__asked(const struct capture *capture, unsigned cpu);
/* Returns the CPU time that pausing has taken since the capture was opened, in ns. */
uint64_t capture__pausing_ns(const struct capture *capture);

void capture__enable(struct capture *capture);
void capture__disable(struct capture *capture);
/* Goes on with the samples of a disabled capture, if it has any. */
void capture__keep_sampling(struct capture *capture);
void capture__free(struct capture *capture);

const char *capture__method_name(const struct capture *capture); /* "uprobe_multi" or "perf" */

/* Returns why scheduling is not recorded. NULL: it is recorded. */
const char *capture__scheduler_absent(const struct capture *capture);

struct capture_sampling {
	unsigned int hz;   /* 0: samples were not asked for */
	const char *clock; /* "cycles" or "cpu-clock"; NULL: there are no samples */
	const char *why;   /* why there are no samples */
};
void capture__sampling(const struct capture *capture, struct capture_sampling *out);

struct capture_accesses {
	bool asked;
	const char *event; /* name of the event; NULL: there are no samples of addresses */
	const char *why;   /* why there are no samples of addresses */
};
void capture__accesses(const struct capture *capture, struct capture_accesses *out);

/* The counters that were asked for. The available ones come first, numbered as in RING_COUNTERS. */
const struct counter_set *capture__counters(const struct capture *capture);
/*
 * The part of the time for which the counter was on the PMU, 0 to 1. Counts are scaled up for the rest of
 * the time.
 */
double capture__counter_share(const struct capture *capture, size_t counter);

/*
 * Measures what one event costs the observed thread on this machine, in ns. It measures once for each
 * method, with a probe in graind itself.
 */
int capture__calibrate(const struct capture *capture, double *ns_per_event);
/* The same for captures by perf events instead of uprobe_multi, or for captures with scheduling. */
int capture__calibrate_like(bool perf, bool scheduler, double *ns_per_event);
/* Whether capture__calibrate() already knows the cost and returns at once. */
bool capture__is_calibrated(const struct capture *capture);

/*
 * Calls `on_events` for the events that have arrived, CPU by CPU, in runs of consecutive slots that are valid
 * during the call. Returns the number of events, or the first non-zero result of `on_events`. Never blocks or
 * allocates.
 */
typedef int (*capture_events_fn)(void *ctx, unsigned cpu, const struct ring_event *events, size_t count);
long capture__poll(struct capture *capture, capture_events_fn on_events, void *ctx);

/*
 * On a machine with several NUMA nodes, each ring is in the memory of its CPU's node. Returns the node that
 * most of the events since the last call came from. -1: the machine has one node, or no node stands out.
 */
int capture__busiest_node(struct capture *capture);

struct capture_losses {
	uint64_t ring_full, read_faults, storage, overwritten, bodies, samples, accesses; /* enum ring_loss */
};
void capture__losses(const struct capture *capture, struct capture_losses *out);
/*
 * The losses of one process, including those that belong to no known process. They are forgotten when the
 * process is dropped, refused or forgotten.
 */
void capture__losses_of(const struct capture *capture, pid_t pid, struct capture_losses *out);
void capture__forget_losses(struct capture *capture, pid_t pid);

#endif
