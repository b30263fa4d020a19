// SPDX-License-Identifier: BSD-2-Clause
/* Records the waits for locks that libomp reports. A thread that takes a free lock has not waited. */
#include "runtime-shim/libomp/kmpc.h"

/* It takes less time than this to take a free lock. */
#define FREE_LOCK_NS 1000

static __thread uint64_t since __attribute__((tls_model("initial-exec")));

static const struct {
	uint32_t lock, site;
} kinds[] = {[OMPT_MUTEX_LOCK] = {RING_LOCK_OMP, SHIM_SITE_LOCK},
	     [OMPT_MUTEX_NEST_LOCK] = {RING_LOCK_OMP, SHIM_SITE_LOCK},
	     [OMPT_MUTEX_CRITICAL] = {RING_LOCK_CRITICAL, SHIM_SITE_CRITICAL},
	     [OMPT_MUTEX_ATOMIC] = {RING_LOCK_ATOMIC, SHIM_SITE_ATOMIC},
	     [OMPT_MUTEX_ORDERED] = {RING_LOCK_ORDERED, SHIM_SITE_ORDERED}};

void kmpc__got_lock(struct shim_local *local, uint64_t began, uint32_t kind, uint64_t lock,
		    const void *caller, uint32_t site)
{
	uint64_t took = shim__ticks() - began;

	if (took * 1000000 >= FREE_LOCK_NS * (local->header->ticks_per_second / 1000))
		SHIM_EVENT2(local, SHIM_LOCK_WAIT, shim__site(caller, site), kind, lock, took);
}

static void on_acquire(int kind, unsigned hint, unsigned implementation, uint64_t lock, const void *code)
{
	(void)kind, (void)hint, (void)implementation, (void)lock, (void)code;
	since = shim__here() ? shim__ticks() : 0;
}

static void on_acquired(int kind, uint64_t lock, const void *code)
{
	struct shim_local *local = since ? shim__here() : NULL;
	uint64_t began = since;

	since = 0;
	if (local && kind >= 0 && (size_t)kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].lock)
		kmpc__got_lock(local, began, kinds[kind].lock, lock, ompt__site(code), kinds[kind].site);
}

void ompt_locks__set(ompt_set_callback set)
{
	set(OMPT_MUTEX_ACQUIRE, (ompt_function)(uintptr_t)on_acquire);
	set(OMPT_MUTEX_ACQUIRED, (ompt_function)(uintptr_t)on_acquired);
}
