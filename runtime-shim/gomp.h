/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libgomp's entry points (its ABI is what gcc's code calls): each file defines
 * those of one family under their own names and calls the runtime's.
 */
#ifndef GRAIND_SHIM_GOMP_H
#define GRAIND_SHIM_GOMP_H

#include "bpf/ring_abi.h"
#include "runtime-shim/hand_over.h"
#include "runtime-shim/runtimes.h"

/* No header declares what compilers call. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* Declares a pointer to the function of the caller's runtime, and `to`, how it was found. */
#define REAL(name, type, ...)                                                                                \
	static struct binding *bindings_##name;                                                              \
	const struct binding *to = runtime__bind(&bindings_##name, #name, CALLER);                           \
	type (*const real_##name)(__VA_ARGS__) = (type(*)(__VA_ARGS__))(uintptr_t)to->function

/* A call that waits, for tasks or for other threads. */
static inline void gomp__wait_begin(struct shim_local *local, uint32_t wait, const void *caller,
				    uint32_t site)
{
	if (local)
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, shim__site(caller, site), wait);
}

static inline void gomp__wait_end(struct shim_local *local, uint32_t wait)
{
	if (shim__goes_on(local))
		SHIM_EVENT(local, SHIM_WAIT_END, 0, wait);
}

/* Before a region's first event: whether what was loaded since calls the runtime, too. */
static inline void gomp__look(void)
{
	void (*look)(void) = __atomic_load_n(&shim_process.look, __ATOMIC_RELAXED);

	if (UNLIKELY(look))
		look();
}

/* The dependences that a call hands over, as libgomp's compilers pass them. */
void gomp__depends(struct shim_local *local, void *const *depend);

/* A loop with `ordered(loops)` begins: its waits have so many numbers. */
void gomp__doacross(unsigned loops);

#endif
