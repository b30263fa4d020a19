/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a program and stops it at its entry point, once: by then the dynamic
 * loader has mapped all libraries and main has not begun.
 */
#ifndef GRAINCTL_LAUNCH_H
#define GRAINCTL_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum launch_state {
	LAUNCH_AT_ENTRY, /* stopped; launch__release lets it go on */
	LAUNCH_RUNNING,	 /* could not be stopped; `why` says so */
	LAUNCH_ENDED,	 /* before its entry point; `wait_status` */
	LAUNCH_NO_EXEC,	 /* the program could not be executed; `exec_errno` */
};

struct launch {
	pid_t pid;
	enum launch_state state;
	int wait_status;
	int exec_errno;
	bool attachable; /* of a running one: attaching late makes sense */
	char why[256];
};

/*
 * Starts argv[0], searched in $PATH, with the signal mask `mask`. A signal
 * handler of the caller may use *pid from the moment that it is not 0.
 * Returns 0, or a negative errno when no process could be made.
 */
int launch__start(char *const argv[], const sigset_t *mask, volatile sig_atomic_t *pid, struct launch *out);
void launch__release(const struct launch *launch);

#endif
