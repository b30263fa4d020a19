/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library does on its own in the middle of a call of the runtime's is
 * not to be seen: errno stays, and a thread that is to be cancelled is not yet,
 * where neither the program nor the runtime reckons with it.
 */
#ifndef GRAIND_SHIM_ASIDE_H
#define GRAIND_SHIM_ASIDE_H

#include <errno.h>
#include <pthread.h>

struct aside {
	int error, cancel;
};

static inline struct aside aside__step(void)
{
	struct aside aside = {.error = errno};

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &aside.cancel);
	return aside;
}

static inline void aside__back(struct aside aside)
{
	pthread_setcancelstate(aside.cancel, NULL);
	errno = aside.error;
}

#endif
