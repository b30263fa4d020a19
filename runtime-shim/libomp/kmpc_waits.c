// SPDX-License-Identifier: BSD-2-Clause
/* Waits for dependences, yielding, cancellation, singles and ordered loops at libomp's entry points. */
#include "runtime-shim/libomp/kmpc.h"
#include "bpf/abi/runtime_codes.h"

void kmpc__depends(struct shim_local *local, const struct kmpc_depend *list, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		SHIM_EVENT1(local, SHIM_DEPEND, 0, libomp_depend_kind(list[i].flags), list[i].address);
}

static void begin_wait(struct shim_local *local, const void *caller, const struct kmpc_depend *list,
		       int32_t count, const struct kmpc_depend *list2, int32_t count2)
{
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_WAIT_BEGIN, shim__site(caller, SHIM_SITE_TASKWAIT), RING_WAIT_TASKWAIT_DEPEND);
	kmpc__depends(local, list, count);
	kmpc__depends(local, list2, count2);
}

#define WAIT_DEPENDS(name, parameters, arguments, ...)                                                       \
	EXPORT void name parameters                                                                          \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		REAL(name, void, __VA_ARGS__);                                                               \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		if (local)                                                                                   \
			begin_wait(local, CALLER, list, count, list2, count2);                               \
		real_##name arguments;                                                                       \
		if (local)                                                                                   \
			SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_TASKWAIT_DEPEND);                      \
	}

WAIT_DEPENDS(__kmpc_omp_wait_deps,
	     (struct kmpc_location * loc, int32_t thread, int32_t count, struct kmpc_depend *list,
	      int32_t count2, struct kmpc_depend *list2),
	     (loc, thread, count, list, count2, list2), struct kmpc_location *, int32_t, int32_t,
	     struct kmpc_depend *, int32_t, struct kmpc_depend *)
WAIT_DEPENDS(__kmpc_omp_taskwait_deps_51,
	     (struct kmpc_location * loc, int32_t thread, int32_t count, struct kmpc_depend *list,
	      int32_t count2, struct kmpc_depend *list2, int32_t no_wait),
	     (loc, thread, count, list, count2, list2, no_wait), struct kmpc_location *, int32_t, int32_t,
	     struct kmpc_depend *, int32_t, struct kmpc_depend *, int32_t)

EXPORT int32_t __kmpc_omp_taskyield(struct kmpc_location *loc, int32_t thread, int32_t part)
{
	struct shim_local *local;
	int32_t result;
	REAL(__kmpc_omp_taskyield, int32_t, struct kmpc_location *, int32_t, int32_t);

	local = libomp__here(to);
	shim__wait_begin(local, RING_WAIT_TASKYIELD, CALLER, SHIM_SITE_TASKYIELD);
	result = real___kmpc_omp_taskyield(loc, thread, part);
	shim__wait_end(local, RING_WAIT_TASKYIELD);
	return result;
}

/* Only actual cancellations are recorded. */
static int32_t put_cancel(struct shim_local *local, int32_t cancelled, int32_t what, uint32_t point,
			  const void *caller)
{
	static const uint32_t kinds[] = {0, RING_CANCEL_PARALLEL, RING_CANCEL_LOOP, RING_CANCEL_SECTIONS,
					 RING_CANCEL_TASKGROUP};

	if (local && cancelled && what > 0 && what < (int32_t)(sizeof(kinds) / sizeof(kinds[0])))
		SHIM_EVENT(local, SHIM_CANCEL, shim__site(caller, SHIM_SITE_CANCEL), kinds[what] | point);
	return cancelled;
}

EXPORT int32_t __kmpc_cancel(struct kmpc_location *loc, int32_t thread, int32_t what)
{
	REAL(__kmpc_cancel, int32_t, struct kmpc_location *, int32_t, int32_t);

	return put_cancel(libomp__here(to), real___kmpc_cancel(loc, thread, what), what, 0, CALLER);
}

EXPORT int32_t __kmpc_cancellationpoint(struct kmpc_location *loc, int32_t thread, int32_t what)
{
	REAL(__kmpc_cancellationpoint, int32_t, struct kmpc_location *, int32_t, int32_t);

	return put_cancel(libomp__here(to), real___kmpc_cancellationpoint(loc, thread, what), what,
			  RING_CANCEL_POINT, CALLER);
}

EXPORT int32_t __kmpc_single(struct kmpc_location *loc, int32_t thread)
{
	struct shim_local *local;
	int32_t won;
	REAL(__kmpc_single, int32_t, struct kmpc_location *, int32_t);

	won = real___kmpc_single(loc, thread);
	local = libomp__here(to);
	if (local)
		SHIM_EVENT(local, SHIM_SINGLE, shim__site(CALLER, SHIM_SITE_SINGLE), won != 0);
	return won;
}

EXPORT void __kmpc_end_single(struct kmpc_location *loc, int32_t thread)
{
	struct shim_local *local;
	REAL(__kmpc_end_single, void, struct kmpc_location *, int32_t);

	local = libomp__here(to);
	if (local)
		SHIM_EVENT(local, SHIM_SINGLE_END, 0, 0);
	real___kmpc_end_single(loc, thread);
}

EXPORT void __kmpc_doacross_wait(struct kmpc_location *loc, int32_t thread, const int64_t *iteration)
{
	struct shim_local *local;
	uint64_t began;
	REAL(__kmpc_doacross_wait, void, struct kmpc_location *, int32_t, const int64_t *);

	local = libomp__here(to);
	began = local ? shim__ticks() : 0;
	real___kmpc_doacross_wait(loc, thread, iteration);
	if (local)
		kmpc__got_lock(local, began, RING_LOCK_DOACROSS, 0, CALLER, SHIM_SITE_ORDERED);
}
