/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gate: one program that the kernel calls at each context switch and wakeup, for all captures of some
 * processes (bpf/gate_programs.bpf.h). So the number of captures does not slow down threads that no capture
 * follows.
 */
#ifndef GRAIND_SWITCH_GATE_H
#define GRAIND_SWITCH_GATE_H

#include <stdint.h>
#include <sys/types.h>

struct openmp_bpf;
struct switch_gate;

/*
 * Call it before the skeleton is loaded. The skeleton gets a number and the gate's maps. The first skeleton
 * brings the maps and the gate's programs, so the kernel's types are read only once. Waits while another
 * skeleton with the gate is being loaded. Returns 0 or a negative errno.
 */
int switch_gate__enter(const struct openmp_bpf *skeleton, struct switch_gate **out);
/* Call it in place of switch_gate__enter() if the skeleton does not use the gate. */
int switch_gate__do_without(const struct openmp_bpf *skeleton);
/*
 * Call it after the skeleton is loaded. Other skeletons may enter from now on. After a negative errno, only
 * switch_gate__leave() may follow.
 */
int switch_gate__loaded(struct switch_gate *place, const struct openmp_bpf *skeleton);
/*
 * Call it after switch_gate__loaded(). From now on, the gate calls the programs for the threads that the
 * skeleton follows. The kernel calls the gate only while at least one skeleton is open. After a negative
 * errno, only switch_gate__leave() may follow.
 */
int switch_gate__open(struct switch_gate *place, const struct openmp_bpf *skeleton);
/* Makes the gate call the programs also for all threads of the process. */
int switch_gate__add_process(struct switch_gate *place, pid_t pid);
void switch_gate__drop_process(struct switch_gate *place, pid_t pid);
/* Call it before the skeleton is destroyed; accepts NULL. */
void switch_gate__leave(struct switch_gate *place);

#endif
