/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder of one process. It turns data from the rings into a trace file. Only one thread at a time
 * may use it.
 */
#ifndef GRAIND_RECORDER_H
#define GRAIND_RECORDER_H

#include "daemon/common/trace/trace_writer.h"
#include "daemon/graind/recorder/live.h"
#include "daemon/graind/process/modules.h"
#include "daemon/graind/process/process.h"
#include "daemon/graind/recorder/ring_to_trace.h"
#include "uprobes/capture/capture.h"

struct recorder;

/*
 * Creates the trace in the directory `dirfd` and describes the machine in it. `dirfd` must stay open as long
 * as the recorder exists. The files of the trace take at most max_bytes. Returns 0 or a negative errno.
 */
int recorder__new(int dirfd, const struct process *process, uint64_t max_bytes, struct recorder **out);

struct recorder_capture {
	const char *runtime, *method; /* "libgomp", "libomp" or "libgomp+libomp"; "uprobe_multi" */
	double ns_per_event;	      /* 0: unknown */
	uint64_t attach_ns;	      /* when recording began */
	bool late;		      /* the program began before that */
	const char *scheduler_absent; /* why scheduling is not recorded; NULL: it is recorded */
	const struct counter_set *counters;
	struct capture_sampling sampling;
	bool no_kernel_names; /* of samples: all functions of the kernel are one, without a name */
	struct capture_accesses accesses;
	const char *source; /* "uprobes", "shim" or "samples" */
};

/*
 * Describes the process and the capture in the trace. Call this before the first event. Returns 0 or a
 * negative errno.
 */
int recorder__begin(struct recorder *recorder, const struct recorder_capture *capture);

/*
 * Describes the counters that libgrainshim reads in the process. Call this before its first words.
 * recorder__begin() has described the counters of the capture.
 */
void recorder__counters(struct recorder *recorder, const struct counter_set *set);

/* Another runtime was loaded: `runtime` replaces recorder_capture.runtime. */
void recorder__runtime(struct recorder *recorder, const char *runtime);

/*
 * Takes over mappings and files that are already known, and empties *modules. Call this before
 * recorder__begin().
 */
void recorder__take_modules(struct recorder *recorder, struct module_table *modules);

/*
 * Takes over further mappings, and empties *modules. The recorder may know some of them. Call this after
 * recorder__begin().
 */
void recorder__add_modules(struct recorder *recorder, struct module_table *modules);

/* Whether the process had more than MODULES_MAX mappings. Functions in the missing ones have no names. */
bool recorder__is_crowded(const struct recorder *recorder);

/*
 * Tells the recorder that libgrainshim records the process from inside from now on. Then the rings have
 * only the scheduling and the samples of its threads.
 */
void recorder__by_itself(struct recorder *recorder, bool by_itself);

/*
 * Sets what happens when the files have no room for events. If `waits` is not NULL, the recorder calls it
 * every millisecond and waits as long as it returns true. If it is NULL, the recorder drops events at once
 * and counts them: a slow worker must not delay other processes.
 */
void recorder__waits(struct recorder *recorder, bool (*waits)(void *ctx), void *ctx);
/* Whether the files have room for more events. */
bool recorder__has_room(const struct recorder *recorder);

/*
 * Tells the recorder that all rings were read, and that the reading began at `ns`. Everything that the
 * process did before has been fed.
 */
void recorder__fed(struct recorder *recorder, uint64_t ns);
/* Writes events from the ring of one CPU into the trace. Leaves out events of other processes. */
void recorder__feed(struct recorder *recorder, unsigned int cpu, const struct ring_event *events,
		    size_t count);

/*
 * These functions take what libgrainshim has written. recorder__words() takes words of one thread and fills
 * in head->sites. Before words use the number of a site, recorder__word_site() must have told it.
 */
void recorder__word_site(struct recorder *recorder, uint32_t number, uint64_t address, const char *kind,
			 bool is_return, bool is_share);
void recorder__words(struct recorder *recorder, const struct trace_words_head *head, const uint64_t *words);

/* Tells the recorder what the process itself reports about its words so far. */
void recorder__inside(struct recorder *recorder, const struct inside_counts *counts);

/* Tells the recorder what an event costs the process. Call this as soon as the cost is known. */
void recorder__cost(struct recorder *recorder, double ns_per_event);

/* A window is a time in which the process was recorded. Between windows nothing was recorded. */
struct recorder_window {
	uint64_t begin_ns, end_ns; /* end_ns 0: the window has just begun */
	uint64_t cost_ns;	   /* the time that probes took, on the CPU where this was most */
};
void recorder__window(struct recorder *recorder, const struct recorder_window *window);
/* Whether there were windows. */
bool recorder__is_parted(const struct recorder *recorder);

/* Reads what has changed in the process. With `flush`, also writes the trace to its file. */
void recorder__tick(struct recorder *recorder, bool flush);

const struct ring_counts *recorder__counts(const struct recorder *recorder);
/* Computes averages of what the threads do, over the time so far. */
void recorder__live(const struct recorder *recorder, struct live_measures *out);
/*
 * Returns the file with the events for which the trace has no room, like spool__later(). For reading only;
 * the recorder owns it.
 */
int recorder__later(const struct recorder *recorder);
/* Number of events that did not fit into the files. */
uint64_t recorder__dropped(const struct recorder *recorder);

/*
 * Tells that the counter counted only for this share of the time (0 to 1; 1 writes nothing). Call this
 * before the end.
 */
void recorder__share(struct recorder *recorder, size_t counter, double share);

/*
 * Tells the numbers of samples, and of samples of data addresses, for which the ring had no room. Call this
 * before the end.
 */
void recorder__lost_samples(struct recorder *recorder, uint64_t count, uint64_t addresses);

struct recorder_loss {
	const char *cause;
	uint64_t count;
};

/*
 * Writes sources, losses (`count` causes; zeros are left out) and the end of the trace, and frees the
 * recorder. *unnamed: a negative errno if sources are named only by module and offset; 0: they have names.
 * Returns 0 or a negative errno.
 */
int recorder__finish(struct recorder *recorder, const char *reason, const struct recorder_loss *losses,
		     size_t count, unsigned int symbolize_seconds, int *unnamed);

/* Closes the unfinished trace and frees the recorder. Accepts NULL. */
void recorder__free(struct recorder *recorder);

#endif
