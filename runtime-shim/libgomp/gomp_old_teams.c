// SPDX-License-Identifier: BSD-2-Clause
/*
 * Regions of code from GCC before 4.9. It makes two calls for a region and runs the body itself between
 * them. libgomp still has these functions.
 */
#include "runtime-shim/libgomp/gomp_team.h"

#include <stdlib.h>

/* Regions that the thread has begun and not ended, innermost first. */
struct open_region {
	struct region region;
	struct open_region *outer;
	unsigned unseen; /* number of further regions inside it that are not recorded */
};

static __thread struct open_region *open_regions __attribute__((tls_model("initial-exec")));

/* NULL: nothing is recorded. */
static struct open_region *begin(const struct binding *to, body_fn fn, void *data, unsigned threads,
				 const void *caller)
{
	struct open_region *open = runtime__here(to) ? malloc(sizeof(*open)) : NULL;

	if (!open || !gomp__begin_region(&open->region, to, fn, data, threads, caller)) {
		free(open);
		if (open_regions)
			open_regions->unseen++;
		return NULL;
	}
	open->outer = open_regions;
	open->unseen = 0;
	open_regions = open;
	return open;
}

/* The caller is the first member. No stand-in function begins it. */
static void begin_member(const struct open_region *open)
{
	struct shim_local *local = shim__here();

	if (local)
		gomp__begin_member(local, &open->region, 0);
}

EXPORT void GOMP_parallel_start(body_fn fn, void *data, unsigned threads)
{
	REAL(GOMP_parallel_start, void, body_fn, void *, unsigned);
	struct open_region *open = begin(to, fn, data, threads, CALLER);

	if (!open) {
		real_GOMP_parallel_start(fn, data, threads);
		return;
	}
	real_GOMP_parallel_start(gomp__member, &open->region, threads);
	begin_member(open);
}

#define LOOP_START(name, schedule)                                                                           \
	EXPORT void GOMP_parallel_loop_##name##_start(body_fn fn, void *data, unsigned threads, long start,  \
						      long end, long step, long chunk)                       \
	{                                                                                                    \
		REAL(GOMP_parallel_loop_##name##_start, void, body_fn, void *, unsigned, long, long, long,   \
		     long);                                                                                  \
		struct open_region *open = begin(to, fn, data, threads, CALLER);                             \
                                                                                                             \
		if (!open) {                                                                                 \
			real_GOMP_parallel_loop_##name##_start(fn, data, threads, start, end, step, chunk);  \
			return;                                                                              \
		}                                                                                            \
		gomp__put_region_loop(schedule, start, end, step, chunk);                                    \
		real_GOMP_parallel_loop_##name##_start(gomp__member, &open->region, threads, start, end,     \
						       step, chunk);                                         \
		begin_member(open);                                                                          \
	}

LOOP_START(static, RING_LOOP_STATIC)
LOOP_START(dynamic, RING_LOOP_DYNAMIC)
LOOP_START(guided, RING_LOOP_GUIDED)

EXPORT void GOMP_parallel_loop_runtime_start(body_fn fn, void *data, unsigned threads, long start, long end,
					     long step)
{
	REAL(GOMP_parallel_loop_runtime_start, void, body_fn, void *, unsigned, long, long, long);
	struct open_region *open = begin(to, fn, data, threads, CALLER);

	if (!open) {
		real_GOMP_parallel_loop_runtime_start(fn, data, threads, start, end, step);
		return;
	}
	gomp__put_region_loop(RING_LOOP_RUNTIME, start, end, step, 0);
	real_GOMP_parallel_loop_runtime_start(gomp__member, &open->region, threads, start, end, step);
	begin_member(open);
}

EXPORT void GOMP_parallel_sections_start(body_fn fn, void *data, unsigned threads, unsigned count)
{
	REAL(GOMP_parallel_sections_start, void, body_fn, void *, unsigned, unsigned);
	struct open_region *open = begin(to, fn, data, threads, CALLER);

	if (!open) {
		real_GOMP_parallel_sections_start(fn, data, threads, count);
		return;
	}
	gomp__put_region_sections(CALLER, count);
	real_GOMP_parallel_sections_start(gomp__member, &open->region, threads, count);
	begin_member(open);
}

EXPORT void GOMP_parallel_end(void)
{
	REAL(GOMP_parallel_end, void, void);
	struct open_region *open = open_regions;
	struct shim_local *local;

	if (!open || open->unseen) {
		if (open)
			open->unseen--;
		real_GOMP_parallel_end();
		return;
	}
	open_regions = open->outer;
	local = shim__here();
	if (local)
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
	real_GOMP_parallel_end();
	if (local)
		gomp__end_region(&open->region, local);
	free(open);
}
