// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits for locks and for earlier iterations. Only waits that take longer than taking a free lock are
 * recorded.
 */
#include "runtime-shim/libgomp/gomp.h"
#include "runtime-shim/runtimes/libomp_recording.h"

#include <stdarg.h>

/* It takes less time than this to take a free lock. */
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

/* Some of these functions also exist in libomp. */
static struct shim_local *here(const struct binding *to)
{
	struct shim_local *local = runtime__here(to);

	return local ? local : libomp__here_attached(to);
}

#define LOCK(name, parameters, arguments, lock, kind, site, ...)                                             \
	EXPORT void name parameters                                                                          \
	{                                                                                                    \
		REAL(name, void, __VA_ARGS__);                                                               \
		struct shim_local *local = here(to);                                                         \
		uint64_t since = before(local);                                                              \
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
/* Fortran's functions. The runtime's own code for them does not come through this library again. */
LOCK(omp_set_lock_, (void *lock), (lock), lock, RING_LOCK_OMP, SHIM_SITE_LOCK, void *)
LOCK(omp_set_nest_lock_, (void *lock), (lock), lock, RING_LOCK_OMP, SHIM_SITE_LOCK, void *)

/* The most loops of an `ordered(n)` so far. */
static unsigned deepest;

void gomp__doacross(unsigned loops)
{
	unsigned most = __atomic_load_n(&deepest, __ATOMIC_RELAXED);

	while (loops > most &&
	       !__atomic_compare_exchange_n(&deepest, &most, loops, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * The runtime takes as many numbers as the loop has. This call does not know how many; extra numbers do no
 * harm.
 */
#define FEW 8
#define MOST 64
#define EIGHT(a, i)                                                                                          \
	(a)[i], (a)[(i) + 1], (a)[(i) + 2], (a)[(i) + 3], (a)[(i) + 4], (a)[(i) + 5], (a)[(i) + 6],          \
		(a)[(i) + 7]

#define DOACROSS_WAIT(name, T)                                                                               \
	EXPORT __attribute__((no_sanitize_address)) void name(T first, ...)                                  \
	{                                                                                                    \
		REAL(name, void, T, ...);                                                                    \
		struct shim_local *local = runtime__here(to);                                                \
		unsigned loops = __atomic_load_n(&deepest, __ATOMIC_RELAXED);                                \
		uint64_t since = before(local);                                                              \
		T at[MOST];                                                                                  \
		va_list rest;                                                                                \
                                                                                                             \
		va_start(rest, first);                                                                       \
		at[0] = first;                                                                               \
		for (unsigned i = 1; i < (loops <= FEW ? FEW : MOST); i++)                                   \
			at[i] = i < FEW || i < loops ? va_arg(rest, T) : 0;                                  \
		va_end(rest);                                                                                \
		if (loops <= FEW)                                                                            \
			real_##name(EIGHT(at, 0));                                                           \
		else                                                                                         \
			real_##name(EIGHT(at, 0), EIGHT(at, 8), EIGHT(at, 16), EIGHT(at, 24), EIGHT(at, 32), \
				    EIGHT(at, 40), EIGHT(at, 48), EIGHT(at, 56));                            \
		got(local, since, RING_LOCK_DOACROSS, NULL, CALLER, SHIM_SITE_ORDERED);                      \
	}

DOACROSS_WAIT(GOMP_doacross_wait, long)
DOACROSS_WAIT(GOMP_doacross_ull_wait, unsigned long long)

EXPORT int omp_get_num_threads(void)
{
	REAL(omp_get_num_threads, int, void);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_STATIC_SHARE, shim__site(CALLER, SHIM_SITE_SHARE), 0);
	return real_omp_get_num_threads();
}
