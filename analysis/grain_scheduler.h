/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the operating system's scheduler did to a program: threads off their CPU
 * and why, moves between CPUs, and who ran instead. Only where the capture saw
 * the scheduler.
 */
#ifndef GRAIND_GRAIN_SCHEDULER_H
#define GRAIND_GRAIN_SCHEDULER_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL when the capture saw the scheduler; else why nothing of this is known. */
const char *grain_graph__scheduler_absent(const struct grain_graph *graph);

/* All times are parts of off_ns; off_ns - ready_ns it was blocked. */
struct grain_scheduled {
	uint64_t off_ns;
	uint64_t ready_ns;     /* it could have run but had no CPU: preempted, or woken and not yet put on */
	uint64_t preempted_ns; /* of that, after it was taken off although it could have gone on */
	uint64_t switches;     /* times that it was taken off */
	uint64_t preemptions;  /* of those, although it could have gone on */
	uint64_t migrations;   /* times that it was put on another CPU than it was taken off */
};

/* In a context's own fragments. */
void grain_graph__scheduled(const struct grain_graph *graph, uint32_t context, struct grain_scheduled *out);

/* Of a thread from its first event to its last, whatever it did. */
struct grain_thread {
	uint32_t tid;
	uint64_t first_ns, last_ns;
	uint64_t cpu_ns; /* that it was on a CPU while it was recorded, as far as switches were told */
	uint64_t unseen; /* switches that the kernel did not tell, of those that its others show */
	uint64_t lost;	 /* records of switches that were lost; the rest of these numbers is without them */
	struct grain_scheduled scheduled;
};
size_t grain_graph__thread_count(const struct grain_graph *graph);
void grain_graph__thread(const struct grain_graph *graph, size_t index, struct grain_thread *out);

/* Processes of one command and control group that ran on a CPU instead of one of the program's fragments. */
struct grain_neighbour {
	const char *command;
	const char *cgroup; /* "" when it was not read */
	int64_t pid;	    /* of one of them */
	uint64_t processes;
	bool own;	      /* threads of the program itself */
	uint64_t preemptions; /* of fragments */
	uint64_t taken_ns;    /* that those fragments had to wait */
};
/* By taken_ns, the largest first. */
size_t grain_graph__neighbour_count(const struct grain_graph *graph);
void grain_graph__neighbour(const struct grain_graph *graph, size_t index, struct grain_neighbour *out);

#ifdef __cplusplus
}
#endif

#endif
