// SPDX-License-Identifier: BSD-2-Clause
/* Waits for locks: those that take longer than taking a free one does. */
#include "runtime-shim/gomp.h"

/* A free lock is got in less. */
#define FREE_LOCK_NS 1000

static uint64_t before(const struct shim_local *local)
{
	return local ? shim__ticks() : 0;
}

static void got(struct shim_local *local, uint64_t since, uint32_t kind, const void *lock, const void *caller,
		uint32_t site)
{
	uint64_t took;

	if (!local)
		return;
	took = shim__ticks() - since;
	if (took * 1000000 < FREE_LOCK_NS * (local->header->ticks_per_second / 1000))
		return;
	SHIM_EVENT2(local, SHIM_LOCK_WAIT, shim__site(caller, site), kind, (uint64_t)(uintptr_t)lock, took);
}

#define LOCK(name, parameters, arguments, lock, kind, site, ...)                                             \
	EXPORT void name parameters                                                                          \
	{                                                                                                    \
		struct shim_local *local = shim__here();                                                     \
		uint64_t since = before(local);                                                              \
		REAL(name, void, __VA_ARGS__);                                                               \
                                                                                                             \
		real_##name arguments;                                                                       \
		got(local, since, kind, lock, CALLER, site);                                                 \
	}

LOCK(GOMP_critical_start, (void), (), NULL, RING_LOCK_CRITICAL, SHIM_SITE_CRITICAL, void)
LOCK(GOMP_critical_name_start, (void **name), (name), name, RING_LOCK_CRITICAL, SHIM_SITE_CRITICAL, void **)
LOCK(GOMP_atomic_start, (void), (), NULL, RING_LOCK_ATOMIC, SHIM_SITE_ATOMIC, void)
LOCK(GOMP_ordered_start, (void), (), NULL, RING_LOCK_ORDERED, SHIM_SITE_ORDERED, void)
LOCK(omp_set_lock, (void *lock), (lock), lock, RING_LOCK_OMP, SHIM_SITE_LOCK, void *)
LOCK(omp_set_nest_lock, (void *lock), (lock), lock, RING_LOCK_OMP, SHIM_SITE_LOCK, void *)

EXPORT int omp_get_num_threads(void)
{
	struct shim_local *local = shim__here();
	REAL(omp_get_num_threads, int, void);

	if (local)
		SHIM_EVENT(local, SHIM_STATIC_SHARE, shim__site(CALLER, SHIM_SITE_SHARE), 0);
	return real_omp_get_num_threads();
}
