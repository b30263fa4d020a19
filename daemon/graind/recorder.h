/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The record of one process: its trace file from the first line to the last,
 * fed with what the rings hold. Belongs to one thread at a time.
 */
#ifndef GRAIND_RECORDER_H
#define GRAIND_RECORDER_H

#include "daemon/common/trace_writer.h"
#include "daemon/graind/live.h"
#include "daemon/graind/modules.h"
#include "daemon/graind/process.h"
#include "daemon/graind/ring_to_trace.h"
#include "uprobes/capture.h"

struct recorder;

/*
 * Creates the trace in `dirfd`, which stays open for as long as the recorder, with what is known of the
 * machine. Its files take max_bytes at most.
 */
int recorder__new(int dirfd, const struct process *process, uint64_t max_bytes, struct recorder **out);

struct recorder_capture {
	const char *runtime, *method; /* "libgomp", "libomp" or "libgomp+libomp"; "uprobe_multi" */
	double ns_per_event;	      /* 0 = unknown */
	uint64_t attach_ns;	      /* when recording began */
	bool late;		      /* the program ran already */
	const char *scheduler_absent; /* why the scheduler is not followed; NULL: it is */
	const struct counter_set *counters;
	struct capture_sampling sampling;
	struct capture_accesses accesses;
	const char *source; /* "uprobes", "shim" or "samples" */
};

/* Tells of the process and the capture; before the first event. */
int recorder__begin(struct recorder *recorder, const struct recorder_capture *capture);

/* Those of a process that reads them by itself, before the first words; of a capture they are told at the
 * begin. */
void recorder__counters(struct recorder *recorder, const struct counter_set *set);

/* Another runtime was loaded later: what recorder_capture.runtime would be now. */
void recorder__runtime(struct recorder *recorder, const char *runtime);

/* Before the begin: mappings and files that are known already; *modules is empty then. */
void recorder__take_modules(struct recorder *recorder, struct module_table *modules);

/* Mappings that it may not know; *modules is empty then. After the begin. */
void recorder__add_modules(struct recorder *recorder, struct module_table *modules);

/* From now on the process tells by itself what its threads do; rings have their switches and samples. */
void recorder__by_itself(struct recorder *recorder, bool by_itself);

/* All rings were read, and this is when that began: what the process did before was fed. */
void recorder__fed(struct recorder *recorder, uint64_t ns);
/* Events of other processes are left out. */
void recorder__feed(struct recorder *recorder, unsigned int cpu, const struct ring_event *events,
		    size_t count);

/*
 * From inside of the process: a site's number before the first words that name
 * it, and words of one thread; head->sites is filled in.
 */
void recorder__word_site(struct recorder *recorder, uint32_t number, uint64_t address, const char *kind,
			 bool is_return, bool is_share);
void recorder__words(struct recorder *recorder, const struct trace_words_head *head, const uint64_t *words);

/* What its process says of the words so far. */
void recorder__inside(struct recorder *recorder, const struct inside_counts *counts);

/* What an event costs the process, once that is known. */
void recorder__cost(struct recorder *recorder, double ns_per_event);

/* A part of the time in which the process was recorded; between them nothing was. */
struct recorder_window {
	uint64_t begin_ns, end_ns; /* end 0: it begins */
	uint64_t cost_ns;	   /* that its probes took from the busiest CPU */
};
void recorder__window(struct recorder *recorder, const struct recorder_window *window);
/* Whether there were any. */
bool recorder__is_parted(const struct recorder *recorder);

/* Looks at what is new, and puts the trace into its file when `flush`. */
void recorder__tick(struct recorder *recorder, bool flush);

const struct ring_counts *recorder__counts(const struct recorder *recorder);
/* What its threads do, so far. */
void recorder__live(const struct recorder *recorder, struct live_measures *out);
/* Where events go that the trace has no room for, to be read, the recorder's: spool__later(). */
int recorder__later(const struct recorder *recorder);
/* Events that did not fit into the file. */
uint64_t recorder__dropped(const struct recorder *recorder);

/* Which part of the time the counter was counted, before the end; of 1 nothing is said. */
void recorder__share(struct recorder *recorder, size_t counter, double share);

/* Samples, and those of addresses, that did not fit into the ring; before the end. */
void recorder__lost_samples(struct recorder *recorder, uint64_t count, uint64_t addresses);

struct recorder_loss {
	const char *cause;
	uint64_t count;
};

/*
 * Sources, losses (of `count` causes; zero ones are left out) and the end; frees the recorder.
 * *unnamed: 0, or why the sources have no more than module and offset.
 */
int recorder__finish(struct recorder *recorder, const char *reason, const struct recorder_loss *losses,
		     size_t count, unsigned int symbolize_seconds, int *unnamed);

/* Closes the trace as it is. Accepts NULL. */
void recorder__free(struct recorder *recorder);

#endif
