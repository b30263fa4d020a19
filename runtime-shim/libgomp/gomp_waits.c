// SPDX-License-Identifier: BSD-2-Clause
/* Where a thread waits for tasks or for its team; cancellation. */
#include "runtime-shim/libgomp/gomp.h"

EXPORT void GOMP_taskwait(void)
{
	REAL(GOMP_taskwait, void, void);
	struct shim_local *local = runtime__here(to);
	uint64_t now;

	/* Without children the call returns at once: its begin and its end have the same time. */
	if (LIKELY(local && !local->children)) {
		real_GOMP_taskwait();
		now = shim__ticks();
		shim__put_pair(local, now,
			       SHIM_WORD(SHIM_WAIT_BEGIN, shim__site(CALLER, SHIM_SITE_TASKWAIT),
					 RING_WAIT_TASKWAIT),
			       now, SHIM_WORD(SHIM_WAIT_END, 0, RING_WAIT_TASKWAIT), 0, 0, 0);
		return;
	}
	shim__wait_begin(local, RING_WAIT_TASKWAIT, CALLER, SHIM_SITE_TASKWAIT);
	real_GOMP_taskwait();
	shim__wait_end(local, RING_WAIT_TASKWAIT);
	if (local)
		local->children = false;
}

EXPORT void GOMP_taskwait_depend(void **depend)
{
	REAL(GOMP_taskwait_depend, void, void **);
	struct shim_local *local = runtime__here(to);

	shim__wait_begin(local, RING_WAIT_TASKWAIT_DEPEND, CALLER, SHIM_SITE_TASKWAIT);
	if (local)
		gomp__depends(local, depend);
	real_GOMP_taskwait_depend(depend);
	shim__wait_end(local, RING_WAIT_TASKWAIT_DEPEND);
}

EXPORT void GOMP_taskyield(void)
{
	REAL(GOMP_taskyield, void, void);
	struct shim_local *local = runtime__here(to);

	shim__wait_begin(local, RING_WAIT_TASKYIELD, CALLER, SHIM_SITE_TASKYIELD);
	real_GOMP_taskyield();
	shim__wait_end(local, RING_WAIT_TASKYIELD);
}

EXPORT void GOMP_taskgroup_start(void)
{
	REAL(GOMP_taskgroup_start, void, void);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_GROUP_BEGIN, shim__site(CALLER, SHIM_SITE_TASKGROUP), 0);
	real_GOMP_taskgroup_start();
}

EXPORT void GOMP_taskgroup_end(void)
{
	REAL(GOMP_taskgroup_end, void, void);
	struct shim_local *local = runtime__here(to);

	shim__wait_begin(local, RING_WAIT_TASKGROUP, CALLER, SHIM_SITE_TASKGROUP);
	real_GOMP_taskgroup_end();
	shim__wait_end(local, RING_WAIT_TASKGROUP);
}

EXPORT void GOMP_barrier(void)
{
	REAL(GOMP_barrier, void, void);
	struct shim_local *local = runtime__here(to);

	shim__wait_begin(local, RING_WAIT_BARRIER, CALLER, SHIM_SITE_BARRIER);
	real_GOMP_barrier();
	shim__wait_end(local, RING_WAIT_BARRIER);
}

EXPORT bool GOMP_barrier_cancel(void)
{
	REAL(GOMP_barrier_cancel, bool, void);
	struct shim_local *local = runtime__here(to);
	bool cancelled;

	shim__wait_begin(local, RING_WAIT_BARRIER, CALLER, SHIM_SITE_BARRIER);
	cancelled = real_GOMP_barrier_cancel();
	shim__wait_end(local, RING_WAIT_BARRIER);
	return cancelled;
}

/* Only actual cancellations are recorded. */
static bool put_cancel(const struct binding *to, bool cancelled, unsigned what, const void *caller)
{
	struct shim_local *local = cancelled ? runtime__here(to) : NULL;

	if (local)
		SHIM_EVENT(local, SHIM_CANCEL, shim__site(caller, SHIM_SITE_CANCEL), what);
	return cancelled;
}

EXPORT bool GOMP_cancel(int what, bool wanted)
{
	REAL(GOMP_cancel, bool, int, bool);

	return put_cancel(to, real_GOMP_cancel(what, wanted),
			  (unsigned)what | (wanted ? 0 : RING_CANCEL_POINT), CALLER);
}

EXPORT bool GOMP_cancellation_point(int what)
{
	REAL(GOMP_cancellation_point, bool, int);

	return put_cancel(to, real_GOMP_cancellation_point(what), (unsigned)what | RING_CANCEL_POINT, CALLER);
}
