// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/base/deadline.h"

#include <time.h>

#define SECOND_NS 1000000000u

void deadline__make(pthread_cond_t *changed)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void deadline__await(pthread_cond_t *changed, pthread_mutex_t *lock, uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / SECOND_NS),
				       .tv_nsec = (long)(until_ns % SECOND_NS)};

	if (until_ns == UINT64_MAX)
		pthread_cond_wait(changed, lock);
	else
		pthread_cond_timedwait(changed, lock, &until);
}
