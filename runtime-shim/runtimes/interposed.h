/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by all interposed entry points. Each is defined under the runtime's name, records, and calls the
 * function of the caller's runtime.
 */
#ifndef GRAIND_SHIM_INTERPOSED_H
#define GRAIND_SHIM_INTERPOSED_H

#include "bpf/abi/ring_abi.h"
#include "runtime-shim/ring/tsan_hand_over.h"
#include "runtime-shim/runtimes/runtimes.h"

/* Compilers call these functions; no header declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* Declares a pointer to the function of the caller's runtime, and `to`, the binding that led to it. */
#define REAL(name, type, ...)                                                                                \
	static struct binding *bindings_##name;                                                              \
	const struct binding *to = runtime__bind(&bindings_##name, #name, CALLER);                           \
	type (*const real_##name)(__VA_ARGS__) = (type(*)(__VA_ARGS__))(uintptr_t)to->function

/* A call that waits, for tasks or for other threads. */
static inline void shim__wait_begin(struct shim_local *local, uint32_t wait, const void *caller,
				    uint32_t site)
{
	if (local)
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, shim__site(caller, site), wait);
}

static inline void shim__wait_end(struct shim_local *local, uint32_t wait)
{
	if (shim__goes_on(local))
		SHIM_EVENT(local, SHIM_WAIT_END, 0, wait);
}

/*
 * Call it before a region's first event. Checks whether objects that were loaded since the last check call
 * the runtime, too.
 */
static inline void shim__look(void)
{
	void (*look)(void) = __atomic_load_n(&shim_process.look, __ATOMIC_RELAXED);

	if (UNLIKELY(look))
		look();
}

#endif
