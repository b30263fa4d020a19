/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hides what the library does in the middle of a runtime's call. errno is restored, and cancellation of the
 * thread is put off: neither the program nor the runtime expects it there.
 */
#ifndef GRAIND_SHIM_CALLER_STATE_H
#define GRAIND_SHIM_CALLER_STATE_H

#include <errno.h>
#include <pthread.h>

struct caller_state {
	int error, cancel;
};

static inline struct caller_state caller_state__save(void)
{
	struct caller_state callers = {.error = errno};

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &callers.cancel);
	return callers;
}

static inline void caller_state__restore(struct caller_state callers)
{
	pthread_setcancelstate(callers.cancel, NULL);
	errno = callers.error;
}

#endif
