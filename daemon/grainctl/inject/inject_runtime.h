/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds OpenMP runtimes in files of a process other than the runtimes' own libraries, for the message of a
 * refusal.
 */
#ifndef GRAINCTL_INJECT_RUNTIME_H
#define GRAINCTL_INJECT_RUNTIME_H

#include <sys/types.h>

enum inject_runtime {
	INJECT_RUNTIME_NONE,
	INJECT_RUNTIME_LOADING, /* the runtime's own library, not completely loaded yet */
	INJECT_RUNTIME_LINKED,	/* in the program or another library, into which it is linked */
};

enum inject_runtime inject_runtime__find(pid_t pid);

#endif
