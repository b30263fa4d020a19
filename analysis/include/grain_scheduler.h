/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the operating system's scheduler did to a program: when and why threads were off their CPU,
 * migrations, and which processes ran instead. Available only if the capture recorded scheduling.
 */
#ifndef GRAIND_GRAIN_SCHEDULER_H
#define GRAIND_GRAIN_SCHEDULER_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL if scheduling was recorded, else why it was not. */
const char *grain_graph__scheduler_absent(const struct grain_graph *graph);

/* All times are parts of off_ns; the thread was blocked for off_ns - ready_ns. */
struct grain_scheduled {
	uint64_t off_ns;
	uint64_t ready_ns; /* the thread could run but had no CPU: it was preempted, or woken and not running
			      yet */
	uint64_t preempted_ns; /* the part of ready_ns after a preemption */
	uint64_t switches;     /* number of times that it left its CPU */
	uint64_t preemptions;  /* number of switches that were preemptions */
	uint64_t migrations;   /* number of times that it continued on another CPU */
};

/* What the scheduler did in a context's own fragments. */
void grain_graph__scheduled(const struct grain_graph *graph, uint32_t context, struct grain_scheduled *out);

/* A thread, from its first event to its last. */
struct grain_thread {
	uint32_t tid;
	uint64_t first_ns, last_ns;
	uint64_t cpu_ns; /* time on a CPU while it was recorded, as far as switches were reported */
	uint64_t unseen; /* switches that the kernel did not report but that other switches imply */
	uint64_t lost;	 /* lost records of switches; the other numbers do not include them */
	struct grain_scheduled scheduled;
};
size_t grain_graph__thread_count(const struct grain_graph *graph);
void grain_graph__thread(const struct grain_graph *graph, size_t index, struct grain_thread *out);

/*
 * Neighbours: processes of one command and control group that ran on a CPU instead of one of the program's
 * fragments.
 */
struct grain_neighbour {
	const char *command;
	const char *cgroup; /* "" if it was not read */
	int64_t pid;	    /* process id of one of them */
	uint64_t processes;
	bool own;	      /* these are threads of the program itself */
	bool measuring;	      /* these are the profiler's threads */
	uint64_t preemptions; /* number of fragments' preemptions */
	uint64_t taken_ns;    /* time that those fragments had to wait */
};
/* Sorted by taken_ns, the largest first. */
size_t grain_graph__neighbour_count(const struct grain_graph *graph);
void grain_graph__neighbour(const struct grain_graph *graph, size_t index, struct grain_neighbour *out);

#ifdef __cplusplus
}
#endif

#endif
