// SPDX-License-Identifier: BSD-2-Clause
/* Sections, single constructs, scopes. */
#include "runtime-shim/libgomp/gomp.h"

static unsigned section(struct shim_local *local, unsigned number)
{
	if (local && number)
		SHIM_EVENT1(local, SHIM_SECTION_BEGIN, 0, 0, number - 1);
	else if (local)
		SHIM_EVENT(local, SHIM_SECTIONS_END, 0, 0);
	return number;
}

EXPORT unsigned GOMP_sections_start(unsigned count)
{
	REAL(GOMP_sections_start, unsigned, unsigned);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT1(local, SHIM_SECTIONS_BEGIN, shim__site(CALLER, SHIM_SITE_SECTIONS), 0, count);
	return section(local, real_GOMP_sections_start(count));
}

EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
	REAL(GOMP_sections2_start, unsigned, unsigned, uintptr_t *, void **);
	struct shim_local *local = runtime__here(to);

	if (local && reductions)
		SHIM_EVENT(local, SHIM_GROUP_BEGIN, shim__site(CALLER, SHIM_SITE_TASKGROUP), 0);
	if (local)
		SHIM_EVENT1(local, SHIM_SECTIONS_BEGIN, shim__site(CALLER, SHIM_SITE_SECTIONS), 0, count);
	return section(local, real_GOMP_sections2_start(count, reductions, memory));
}

EXPORT unsigned GOMP_sections_next(void)
{
	REAL(GOMP_sections_next, unsigned, void);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_SECTION_NEXT, 0, 0);
	return section(local, real_GOMP_sections_next());
}

EXPORT void GOMP_sections_end(void)
{
	REAL(GOMP_sections_end, void, void);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_SECTIONS_END, 0, 0);
	shim__wait_begin(local, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	real_GOMP_sections_end();
	shim__wait_end(local, RING_WAIT_BARRIER_IMPLICIT);
}

EXPORT bool GOMP_sections_end_cancel(void)
{
	REAL(GOMP_sections_end_cancel, bool, void);
	struct shim_local *local = runtime__here(to);
	bool cancelled;

	if (local)
		SHIM_EVENT(local, SHIM_SECTIONS_END, 0, 0);
	shim__wait_begin(local, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	cancelled = real_GOMP_sections_end_cancel();
	shim__wait_end(local, RING_WAIT_BARRIER_IMPLICIT);
	return cancelled;
}

EXPORT void GOMP_sections_end_nowait(void)
{
	REAL(GOMP_sections_end_nowait, void, void);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_SECTIONS_END, 0, 0);
	real_GOMP_sections_end_nowait();
}

EXPORT bool GOMP_single_start(void)
{
	REAL(GOMP_single_start, bool, void);
	struct shim_local *local = runtime__here(to);
	bool won;

	won = real_GOMP_single_start();
	if (local)
		SHIM_EVENT(local, SHIM_SINGLE, shim__site(CALLER, SHIM_SITE_SINGLE), won);
	return won;
}

/*
 * NULL: this thread executes the construct. The other threads wait in this call for the data of that
 * thread, and execute tasks meanwhile.
 */
EXPORT void *GOMP_single_copy_start(void)
{
	REAL(GOMP_single_copy_start, void *, void);
	struct shim_local *local = runtime__here(to);
	uint64_t since, single, wait;
	void *data;

	if (!local)
		return real_GOMP_single_copy_start();
	single = SHIM_WORD(SHIM_SINGLE, shim__site(CALLER, SHIM_SITE_SINGLE), 0);
	wait = SHIM_WORD(SHIM_WAIT_BEGIN, shim__site(CALLER, SHIM_SITE_BARRIER), RING_WAIT_BARRIER_IMPLICIT);
	since = shim__ticks();
	shim__hold(local, since, single, wait);
	data = real_GOMP_single_copy_start();
	if (!shim__release(local)) {
		SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_BARRIER_IMPLICIT);
	} else if (data) {
		shim__put_at(local, since, single);
		shim__put_at(local, since, wait);
		SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_BARRIER_IMPLICIT);
	} else {
		shim__put_at(local, since, single | SHIM_WORD(0, 0, 1));
	}
	return data;
}

EXPORT void GOMP_single_copy_end(void *data)
{
	REAL(GOMP_single_copy_end, void, void *);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_SINGLE_END, 0, 0);
	shim__wait_begin(local, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	real_GOMP_single_copy_end(data);
	shim__wait_end(local, RING_WAIT_BARRIER_IMPLICIT);
}

EXPORT void GOMP_scope_start(uintptr_t *reductions)
{
	REAL(GOMP_scope_start, void, uintptr_t *);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_GROUP_BEGIN, shim__site(CALLER, SHIM_SITE_TASKGROUP), 0);
	real_GOMP_scope_start(reductions);
}
