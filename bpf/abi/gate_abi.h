/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the programs of many captures share one program that the kernel calls at each context switch
 * (gate_programs.bpf.h).
 */
#ifndef GRAIND_GATE_ABI_H
#define GRAIND_GATE_ABI_H

#define GATE_SLOTS 1024 /* the most captures; a power of two */
#define GATE_EACH 4	/* the most captures that follow one thread */
#define GATE_CALLS (2 * GATE_EACH)

/* A capture's number, which is never used again. Its lower bits are the slot. 0: none. */
#define GATE_SLOT(number) ((number) & (GATE_SLOTS - 1))

struct gate_followers {
	unsigned int number[GATE_EACH];
};

/* The captures whose programs must still be called for one event on one CPU. */
struct gate_turn {
	unsigned int count;
	unsigned int slot[GATE_CALLS];
};

/* The state of the gate, for all captures. */
struct gate_state {
	unsigned int follows_processes; /* gate_processes is not empty */
	unsigned int sole;		/* 1 + the slot of the only capture; 0: none or several */
};

enum gate_event { GATE_SWITCH = 0, GATE_WAKEUP = 1, GATE_EVENTS = 2 };

#endif
