/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock for graind's times: CLOCK_MONOTONIC, which never goes back. */
#ifndef GRAIND_CLOCK_H
#define GRAIND_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
