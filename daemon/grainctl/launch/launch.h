/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a program and stops it once, at its entry point. At that moment the dynamic loader has mapped all
 * libraries, and main has not begun.
 */
#ifndef GRAINCTL_LAUNCH_H
#define GRAINCTL_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum launch_state {
	LAUNCH_AT_ENTRY, /* it is stopped; launch__release lets it run */
	LAUNCH_RUNNING,	 /* it runs and could not be stopped; `why` is the reason */
	LAUNCH_ENDED,	 /* it ended before its entry point, with `wait_status` */
	LAUNCH_NO_EXEC,	 /* it could not be executed; `exec_errno` is the reason */
};

struct launch {
	pid_t pid;
	enum launch_state state;
	int wait_status;
	int exec_errno;
	bool attachable; /* with LAUNCH_RUNNING: the caller can still attach to it, late */
	char why[256];
};

/*
 * Starts argv[0], which is searched in $PATH, with the signal mask `mask`. *pid is for the caller's signal
 * handler: it is the process number while the process exists, and 0 otherwise. Returns 0, or a negative
 * errno if no process could be made.
 */
int launch__start(char *const argv[], const sigset_t *mask, volatile sig_atomic_t *pid, struct launch *out);
/* Lets the program run if it is stopped at its entry point. */
void launch__release(const struct launch *launch);

#endif
