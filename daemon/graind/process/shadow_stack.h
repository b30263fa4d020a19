/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes with a shadow stack (x86 CET), which checks their returns. If a breakpoint is on a call
 * instruction, the kernel emulates the call. Before Linux commit abf08854 (2026) it does not push the
 * return address on the shadow stack, so the function's return kills the process. Before 1713b63a (2024)
 * return probes killed it, too. An exact recording needs calls and returns, so processes with shadow stacks
 * are not probed on such kernels.
 */
#ifndef GRAIND_SHADOW_STACK_H
#define GRAIND_SHADOW_STACK_H

#include <stdbool.h>
#include <sys/types.h>

/* The known properties of this machine. Unknown properties count as false. */
struct shadow_stack_machine {
	bool user;    /* processes may have a shadow stack: processor and kernel support it */
	bool calls;   /* the kernel updates the shadow stack if a call instruction is probed */
	bool returns; /* the kernel updates the shadow stack if a function's return is probed */
};

/*
 * Whether processes may have a shadow stack, judged by the text of /proc/cpuinfo, where the kernel shows
 * it.
 */
bool shadow_stack__is_for_users(const char *cpuinfo);
/*
 * Whether a process with (`has`) or without a shadow stack may be probed. NULL: it may. Otherwise the
 * reason, which follows "process N " in a message.
 */
const char *shadow_stack__why_not(const struct shadow_stack_machine *machine, bool has);

/*
 * Examines this machine by a trial (shadow_trial.h) if processes may have shadow stacks, and logs the
 * result. Call this once, before there are other threads. The functions below use the result, and any
 * thread may call them.
 */
void shadow_stack__find_out(void);
/* Whether this machine may have processes that probes would kill. */
bool shadow_stack__is_lost(void);
/*
 * Like shadow_stack__why_not(), for a process in its present state: glibc enables the shadow stack while it
 * loads the program. A process that has ended may be probed.
 */
const char *shadow_stack__why_not_process(pid_t pid);

#endif
