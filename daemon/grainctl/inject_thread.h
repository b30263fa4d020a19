/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread of another process, stopped for as long as functions are called on
 * it. While they run its signals wait. A tracer that is killed meanwhile leaves
 * a thread that finishes the call and goes on where it was.
 */
#ifndef GRAINCTL_INJECT_THREAD_H
#define GRAINCTL_INJECT_THREAD_H

#include "daemon/grainctl/inject_arch.h"
#include "daemon/grainctl/inject_target.h"

struct inject_thread {
	pid_t tid, inner;
	const struct inject_target *target;
	struct inject_registers saved;
	bool changed;	 /* it is not where it was */
	int late_signal; /* came for the program meanwhile */
};

/*
 * 0; or -ESRCH it has ended, -EPERM not permitted, -EBUSY the process was
 * stopped (SIGSTOP), -ETIMEDOUT it did not stop, another negative errno. SIGCHLD must be blocked.
 */
int inject_thread__stop(const struct inject_target *target, pid_t tid, struct inject_thread *out);
/* Lets it go on where it was. */
void inject_thread__release(struct inject_thread *thread);

/*
 * The function's result in *result. 0; or -ESRCH the process has ended,
 * -EFAULT the function has failed, -ETIMEDOUT it was given up while it waited for a lock and had done
 * nothing, -EINPROGRESS it was left to end by itself, another negative errno.
 */
int inject_thread__call(struct inject_thread *thread, uint64_t function, const char *text,
			const uint64_t arguments[2], uint64_t *result);

/* NULL: a library can be loaded where the thread is; else why not. */
const char *inject_thread__unsafe(const struct inject_thread *thread);

#endif
