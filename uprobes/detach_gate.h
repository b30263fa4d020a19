/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detaching probes makes way for what cannot wait:
 *
 * Making processes. The child of a thread holds copies of all descriptors until
 * it has executed its program. If the parent closes a link meanwhile, the
 * child's copy is the last one: the child waits in its exec until the kernel has
 * detached the probes, tenths of a second for each link.
 *
 * Attaching perf-event uprobes. The kernel attaches and detaches them one after
 * another, a tenth of a second for each that is detached: behind those of the job
 * before, the next job would wait for minutes.
 *
 * Both wait for the links that are being closed, and further links wait for both.
 */
#ifndef GRAIND_DETACH_GATE_H
#define GRAIND_DETACH_GATE_H

/* Around fork, vfork or posix_spawn, or attaching; closes no link in between. */
void detach_gate__hold(void);
void detach_gate__release(void);

/* Around closing one link; waits while `at_once` are being closed. */
void detach_gate__enter(unsigned int at_once);
void detach_gate__leave(void);

#endif
