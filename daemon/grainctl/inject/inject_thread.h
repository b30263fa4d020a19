/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stopped thread of another process, on which functions are called. Its signals wait meanwhile. If the
 * tracer is killed, the thread finishes the call and continues where it was.
 */
#ifndef GRAINCTL_INJECT_THREAD_H
#define GRAINCTL_INJECT_THREAD_H

#include "daemon/grainctl/inject/inject_arch.h"
#include "daemon/grainctl/inject/inject_target.h"

struct inject_thread {
	pid_t tid, inner;
	const struct inject_target *target;
	struct inject_registers saved;
	bool changed;	   /* its registers differ from those at the stop */
	int late_signal;   /* a signal for the program that arrived meanwhile */
	const char *unfit; /* the reason for -EPROTO */
	uint64_t until_ns; /* of CLOCK_MONOTONIC: how long it may take to stop, and a call to work */
	uint64_t lock;	   /* with -ETIMEDOUT of a call: the address of the lock that it waited for */
};

/*
 * Stops the thread. 0 or a negative errno: -ESRCH: it has ended, -EPERM: not permitted, -EBUSY: the process
 * was already stopped (SIGSTOP), -ETIMEDOUT: it did not stop until out->until_ns, -ESTALE: it does not have
 * the inspected identity any more, -EPROTO: no function can be called on it (out->unfit says why). SIGCHLD
 * must be blocked.
 */
int inject_thread__stop(const struct inject_target *target, pid_t tid, struct inject_thread *out);
/* Lets the thread continue where it was. */
void inject_thread__release(struct inject_thread *thread);

/*
 * Calls a function on the thread; *result is its result. 0; -ESRCH: the process has ended; -EFAULT: the
 * function failed; -ETIMEDOUT: the function only waited for a lock, and the call was given up;
 * -EINPROGRESS: the thread was left to finish the call by itself; or another negative errno.
 */
int inject_thread__call(struct inject_thread *thread, uint64_t function, const char *text,
			const uint64_t arguments[2], uint64_t *result);

#endif
