/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libgomp's entry points (its ABI is what gcc's code calls): each file defines
 * those of one family under their own names and calls the runtime's.
 */
#ifndef GRAIND_SHIM_GOMP_H
#define GRAIND_SHIM_GOMP_H

#include "bpf/ring_abi.h"
#include "runtime-shim/ring.h"

/* No header declares what compilers call. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* The runtime's own function of that name; aborts with a line when there is none. */
void *gomp__find(const char *name);
/* omp_get_thread_num(), omp_get_level() and so on, of the runtime. */
unsigned gomp__thread_number(void);
unsigned gomp__level(void);
bool gomp__in_final(void);
unsigned gomp__threads(void);
unsigned gomp__teams(void);
unsigned gomp__team_number(void);

/* Declares a pointer to the runtime's function, looked up at its first use. */
#define REAL(name, type, ...)                                                                                \
	static type (*real_##name)(__VA_ARGS__);                                                             \
	if (UNLIKELY(!real_##name))                                                                          \
	real_##name = (type(*)(__VA_ARGS__))(uintptr_t)gomp__find(#name)

/* A call that waits, for tasks or for other threads. */
static inline void gomp__wait_begin(struct shim_local *local, uint32_t wait, const void *caller,
				    uint32_t site)
{
	if (local)
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, shim__site(caller, site), wait);
}

static inline void gomp__wait_end(struct shim_local *local, uint32_t wait)
{
	if (local)
		SHIM_EVENT(local, SHIM_WAIT_END, 0, wait);
}

/* The dependences that a call hands over, as libgomp's compilers pass them. */
void gomp__depends(struct shim_local *local, void *const *depend);

#endif
