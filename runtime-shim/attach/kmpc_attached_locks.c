// SPDX-License-Identifier: BSD-2-Clause
/* Waits for locks in a libomp that is recorded only at its entry points. */
#include "runtime-shim/attach/kmpc_attached.h"

#define LOCK(name, parameters, arguments, lock, kind, site, ...)                                             \
	static void attached_##name parameters                                                               \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		uint64_t began;                                                                              \
		REAL(name, void, __VA_ARGS__);                                                               \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		began = local ? shim__ticks() : 0;                                                           \
		real_##name arguments;                                                                       \
		if (local)                                                                                   \
			kmpc__got_lock(local, began, kind, (uint64_t)(uintptr_t)(lock), CALLER, site);       \
	}

LOCK(__kmpc_critical, (struct kmpc_location * loc, int32_t thread, void *name), (loc, thread, name), name,
     RING_LOCK_CRITICAL, SHIM_SITE_CRITICAL, struct kmpc_location *, int32_t, void *)
LOCK(__kmpc_critical_with_hint, (struct kmpc_location * loc, int32_t thread, void *name, uint32_t hint),
     (loc, thread, name, hint), name, RING_LOCK_CRITICAL, SHIM_SITE_CRITICAL, struct kmpc_location *, int32_t,
     void *, uint32_t)
LOCK(__kmpc_set_lock, (struct kmpc_location * loc, int32_t thread, void **lock), (loc, thread, lock), lock,
     RING_LOCK_OMP, SHIM_SITE_LOCK, struct kmpc_location *, int32_t, void **)
LOCK(__kmpc_set_nest_lock, (struct kmpc_location * loc, int32_t thread, void **lock), (loc, thread, lock),
     lock, RING_LOCK_OMP, SHIM_SITE_LOCK, struct kmpc_location *, int32_t, void **)
LOCK(__kmpc_ordered, (struct kmpc_location * loc, int32_t thread), (loc, thread), NULL, RING_LOCK_ORDERED,
     SHIM_SITE_ORDERED, struct kmpc_location *, int32_t)
LOCK(__kmpc_atomic_start, (void), (), NULL, RING_LOCK_ATOMIC, SHIM_SITE_ATOMIC, void)

const struct kmpc_entry kmpc_attached_locks[] = {
	KMPC_ENTRY(__kmpc_critical),
	KMPC_ENTRY(__kmpc_critical_with_hint),
	KMPC_ENTRY(__kmpc_set_lock),
	KMPC_ENTRY(__kmpc_set_nest_lock),
	KMPC_ENTRY(__kmpc_ordered),
	KMPC_ENTRY(__kmpc_atomic_start),
	{NULL, NULL},
};
