/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processor-dependent part of making a stopped thread of another process call a function: the thread's
 * registers, and a few instructions in the memory of the process. These instructions make the call, then
 * notify the tracer by a signal that is otherwise unused. If the tracer is gone, they restore the thread
 * themselves.
 */
#ifndef GRAINCTL_INJECT_ARCH_H
#define GRAINCTL_INJECT_ARCH_H

#include "daemon/grainctl/inject/inject_cfi.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__x86_64__)
#include <sys/user.h>
#else
struct user_regs_struct;
#endif

/* This signal is ignored if the program has no handler for it. */
#define INJECT_SIGNAL SIGURG
#define INJECT_TEXT_MAX 4096
/* Stack space that the call may need: for its data, and for loading a library. */
#define INJECT_STACK_ROOM (96u << 10)
#define INJECT_EXTENDED_MAX 16384

/* All registers that a program can use, and the thread's blocked signals. */
struct inject_registers {
#if defined(__x86_64__)
	struct user_regs_struct general;
	unsigned char extended[INJECT_EXTENDED_MAX] __attribute__((aligned(64)));
	size_t extended_size;
#endif
	uint64_t blocked;
};

struct inject_call {
	uint64_t function;
	uint64_t arguments[2];
	const char *text;    /* if not NULL, the first argument is a copy of it in the thread's memory */
	pid_t group, thread; /* ids in the pid namespace of the process */
	uint64_t scratch;    /* where the instructions are */
};

/* Whether --fast is supported for running programs on this processor. */
bool inject_arch__supported(void);

/* Saves the registers of a stopped thread. 0 or a negative errno. */
int inject_arch__save(pid_t tid, struct inject_registers *out);
int inject_arch__restore(pid_t tid, const struct inject_registers *saved);
uint64_t inject_arch__pc(const struct inject_registers *registers);
uint64_t inject_arch__sp(const struct inject_registers *registers);
/* Gets the registers by their DWARF numbers (inject_cfi.h). */
void inject_arch__frame(const struct inject_registers *registers, uint64_t out[INJECT_CFI_REGISTERS]);
bool inject_arch__in_system_call(const struct inject_registers *registers);

/*
 * Makes the thread call the function when it continues. *result is the address where the result will be. 0,
 * or a negative errno with the thread unchanged.
 */
int inject_arch__enter(pid_t tid, const struct inject_registers *saved, const struct inject_call *call,
		       uint64_t *result);
/* Returns the address of the futex for which the stopped thread waits. 0: it does not wait for a futex. */
uint64_t inject_arch__waits_for(pid_t tid);
/* Whether the called function has returned. Call this when INJECT_SIGNAL has stopped the thread. */
bool inject_arch__returned(pid_t tid, uint64_t scratch);

/* Whether the bytes before a return address are a call instruction. */
#define INJECT_CALL_BYTES 8
bool inject_arch__is_call(const unsigned char before[INJECT_CALL_BYTES]);
/* Returns the instructions to which a signal handler returns. NULL: they are not needed. */
const unsigned char *inject_arch__signal_return(size_t *length);

#endif
