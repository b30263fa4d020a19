/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between processors when a stopped thread of another process is
 * made to call a function: its registers, and a few instructions in its memory
 * that call, tell the tracer by a signal that nobody else needs, and without a
 * tracer bring the thread back to where it was by themselves.
 */
#ifndef GRAINCTL_INJECT_ARCH_H
#define GRAINCTL_INJECT_ARCH_H

#include "daemon/grainctl/inject_cfi.h"

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

/* Ignored by whoever has no handler for it. */
#define INJECT_SIGNAL SIGURG
#define INJECT_TEXT_MAX 4096
/* Of a stack that is not to overflow: for what is put there and for loading a library. */
#define INJECT_STACK_ROOM (96u << 10)
#define INJECT_EXTENDED_MAX 16384

/* All that a thread's program can have in registers, and the signals that it blocks. */
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
	const char *text;    /* not NULL: a copy of it in the thread's memory is the first argument */
	pid_t group, thread; /* as the process sees them */
	uint64_t scratch;    /* where the instructions are */
};

/* Is --fast there for running programs on this processor? */
bool inject_arch__supported(void);

/* Of a stopped thread; 0 or a negative errno. */
int inject_arch__save(pid_t tid, struct inject_registers *out);
int inject_arch__restore(pid_t tid, const struct inject_registers *saved);
uint64_t inject_arch__pc(const struct inject_registers *registers);
uint64_t inject_arch__sp(const struct inject_registers *registers);
/* By DWARF's numbers (inject_cfi.h). */
void inject_arch__frame(const struct inject_registers *registers, uint64_t out[INJECT_CFI_REGISTERS]);
bool inject_arch__in_system_call(const struct inject_registers *registers);

/*
 * Has the thread call when it goes on; *result is where the function's result
 * will be. 0 or a negative errno, the thread is as it was then.
 */
int inject_arch__enter(pid_t tid, const struct inject_registers *saved, const struct inject_call *call,
		       uint64_t *result);
/* The address of what the stopped thread waits for (futex); 0: it does something else. */
uint64_t inject_arch__waits_for(pid_t tid);
/* Has it returned? Asked when it has stopped by INJECT_SIGNAL. */
bool inject_arch__returned(pid_t tid, uint64_t scratch);

/* Whether the bytes that end where a function returns to are those of a call. */
#define INJECT_CALL_BYTES 8
bool inject_arch__is_call(const unsigned char before[INJECT_CALL_BYTES]);
/* The instructions that a signal handler returns to; NULL: not needed. */
const unsigned char *inject_arch__signal_return(size_t *length);

#endif
