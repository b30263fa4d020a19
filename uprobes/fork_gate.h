/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps making processes and detaching probes apart.
 *
 * The child of a thread holds copies of all descriptors until it has executed
 * its program. If the parent closes a link meanwhile, the child's copy is the
 * last one: the child waits in its exec until the kernel has detached the
 * probes, tenths of a second for each link. A fork waits for the link that is
 * being closed, and the other links wait for it.
 */
#ifndef GRAIND_FORK_GATE_H
#define GRAIND_FORK_GATE_H

/* Around fork, vfork or posix_spawn. */
void fork_gate__fork_begin(void);
void fork_gate__fork_end(void);

/* Around closing one link. */
void fork_gate__close_begin(void);
void fork_gate__close_end(void);

#endif
