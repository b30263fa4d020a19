// SPDX-License-Identifier: BSD-2-Clause
/* Parallel regions, their members, the regions of combined loops and sections, leagues on the host. */
#include "runtime-shim/runtimes/began_before.h"
#include "runtime-shim/libgomp/gomp_team.h"

/* Multiples of 64, as addresses of teams would be. */
static uint64_t next_team(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 64, __ATOMIC_RELAXED);
}

void gomp__begin_member(struct shim_local *local, const struct region *region, unsigned number)
{
	SHIM_EVENT2(local, SHIM_MEMBER_BEGIN,
		    shim__site((const void *)(uintptr_t)region->fn, SHIM_SITE_MEMBER_BODY), 0, region->team,
		    number);
}

void gomp__member(void *argument)
{
	const struct region *region = argument;
	const struct runtime *outer = runtime_thread.running;
	struct shim_local *local = shim__here();

	TAKE_OVER(region);
	if (local)
		gomp__begin_member(local, region, runtime__ask(region->runtime, RUNTIME_THREAD_NUMBER));
	runtime_thread.running = region->runtime;
	region->fn(region->data);
	runtime_thread.running = outer;
	HAND_OVER(region);
	if (shim__goes_on(local))
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
}

struct shim_local *gomp__begin_region(struct region *region, const struct binding *to, body_fn fn, void *data,
				      unsigned threads, const void *caller)
{
	struct shim_local *local = runtime__here(to);
	uint32_t outermost;

	if (!local)
		return NULL;
	shim__look();
	*region = (struct region){.fn = fn, .data = data, .runtime = to->runtime, .team = next_team()};
	outermost = began_before__tell(local, to->runtime);
	/* The body's address has a number even if the team has no worker that records it. */
	shim__site((const void *)(uintptr_t)fn, SHIM_SITE_MEMBER_BODY);
	SHIM_EVENT2(local, SHIM_REGION_BEGIN, shim__site(caller, SHIM_SITE_PARALLEL), 0,
		    (threads & RING_REGION_THREADS) | outermost, (uint64_t)(uintptr_t)fn);
	HAND_OVER(region);
	return local;
}

void gomp__end_region(const struct region *region, struct shim_local *local)
{
	TAKE_OVER(region);
	if (!shim__goes_on(local))
		return;
	SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_REGION_END);
	SHIM_EVENT(local, SHIM_REGION_END, 0, 0);
}

EXPORT void GOMP_parallel(body_fn fn, void *data, unsigned threads, unsigned flags)
{
	REAL(GOMP_parallel, void, body_fn, void *, unsigned, unsigned);
	struct region region;
	struct shim_local *local = gomp__begin_region(&region, to, fn, data, threads, CALLER);

	if (!local) {
		real_GOMP_parallel(fn, data, threads, flags);
		return;
	}
	real_GOMP_parallel(gomp__member, &region, threads, flags);
	gomp__end_region(&region, local);
}

EXPORT unsigned GOMP_parallel_reductions(body_fn fn, void *data, unsigned threads, unsigned flags)
{
	REAL(GOMP_parallel_reductions, unsigned, body_fn, void *, unsigned, unsigned);
	struct region region;
	struct shim_local *local = gomp__begin_region(&region, to, fn, data, threads, CALLER);

	if (!local)
		return real_GOMP_parallel_reductions(fn, data, threads, flags);
	region.reductions = *(void **)data;
	threads = real_GOMP_parallel_reductions(gomp__member, &region, threads, flags);
	gomp__end_region(&region, local);
	return threads;
}

void gomp__put_region_loop(uint32_t schedule, long start, long end, long step, long chunk)
{
	struct shim_local *local = shim__here();

	if (!local)
		return;
	SHIM_EVENT3(local, SHIM_LOOP_BEGIN, 0, 0, schedule | RING_LOOP_OF_REGION | RING_LOOP_UPPER_EXCLUSIVE,
		    (uint64_t)start, (uint64_t)end);
	SHIM_EVENT2(local, SHIM_LOOP_PARAMS, 0, 0, (uint64_t)step, (uint64_t)chunk);
}

void gomp__put_region_sections(const void *caller, unsigned count)
{
	struct shim_local *local = shim__here();

	if (local)
		SHIM_EVENT1(local, SHIM_SECTIONS_BEGIN, shim__site(caller, SHIM_SITE_SECTIONS), 0,
			    count | RING_SECTIONS_OF_REGION);
}

#define PARALLEL_LOOP(name, schedule)                                                                        \
	EXPORT void GOMP_parallel_loop_##name(body_fn fn, void *data, unsigned threads, long start,          \
					      long end_, long step, long chunk, unsigned flags)              \
	{                                                                                                    \
		REAL(GOMP_parallel_loop_##name, void, body_fn, void *, unsigned, long, long, long, long,     \
		     unsigned);                                                                              \
		struct region region;                                                                        \
		struct shim_local *local = gomp__begin_region(&region, to, fn, data, threads, CALLER);       \
                                                                                                             \
		if (!local) {                                                                                \
			real_GOMP_parallel_loop_##name(fn, data, threads, start, end_, step, chunk, flags);  \
			return;                                                                              \
		}                                                                                            \
		gomp__put_region_loop(schedule, start, end_, step, chunk);                                   \
		real_GOMP_parallel_loop_##name(gomp__member, &region, threads, start, end_, step, chunk,     \
					       flags);                                                       \
		gomp__end_region(&region, local);                                                            \
	}

PARALLEL_LOOP(static, RING_LOOP_STATIC)
PARALLEL_LOOP(dynamic, RING_LOOP_DYNAMIC)
PARALLEL_LOOP(guided, RING_LOOP_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, RING_LOOP_DYNAMIC | RING_LOOP_NONMONOTONIC)
PARALLEL_LOOP(nonmonotonic_guided, RING_LOOP_GUIDED | RING_LOOP_NONMONOTONIC)

#define PARALLEL_RUNTIME_LOOP(name, bits)                                                                    \
	EXPORT void GOMP_parallel_loop_##name(body_fn fn, void *data, unsigned threads, long start,          \
					      long end_, long step, unsigned flags)                          \
	{                                                                                                    \
		REAL(GOMP_parallel_loop_##name, void, body_fn, void *, unsigned, long, long, long,           \
		     unsigned);                                                                              \
		struct region region;                                                                        \
		struct shim_local *local = gomp__begin_region(&region, to, fn, data, threads, CALLER);       \
                                                                                                             \
		if (!local) {                                                                                \
			real_GOMP_parallel_loop_##name(fn, data, threads, start, end_, step, flags);         \
			return;                                                                              \
		}                                                                                            \
		gomp__put_region_loop(RING_LOOP_RUNTIME | (bits), start, end_, step, 0);                     \
		real_GOMP_parallel_loop_##name(gomp__member, &region, threads, start, end_, step, flags);    \
		gomp__end_region(&region, local);                                                            \
	}

PARALLEL_RUNTIME_LOOP(runtime, 0)
PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime, RING_LOOP_NONMONOTONIC)
PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime, 0)

EXPORT void GOMP_parallel_sections(body_fn fn, void *data, unsigned threads, unsigned count, unsigned flags)
{
	REAL(GOMP_parallel_sections, void, body_fn, void *, unsigned, unsigned, unsigned);
	struct region region;
	struct shim_local *local = gomp__begin_region(&region, to, fn, data, threads, CALLER);

	if (!local) {
		real_GOMP_parallel_sections(fn, data, threads, count, flags);
		return;
	}
	gomp__put_region_sections(CALLER, count);
	real_GOMP_parallel_sections(gomp__member, &region, threads, count, flags);
	gomp__end_region(&region, local);
}

/* A league on the host: its teams take turns on the thread. */
struct league {
	body_fn fn;
	void *data;
	const struct runtime *runtime;
	uint64_t number;
	bool begun;
};

static void team(void *argument)
{
	struct league *league = argument;
	struct shim_local *local = shim__here();

	if (local && !league->begun) {
		SHIM_EVENT2(local, SHIM_TEAM_START, 0, 0, league->number,
			    runtime__ask(league->runtime, RUNTIME_TEAMS));
		league->begun = true;
	}
	if (local)
		SHIM_EVENT1(local, SHIM_TEAM_STARTED, 0, 0,
			    runtime__ask(league->runtime, RUNTIME_TEAM_NUMBER));
	runtime_thread.open_leagues++;
	league->fn(league->data);
	runtime_thread.open_leagues--;
	if (!local)
		return;
	SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
	SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_REGION_END);
}

EXPORT void GOMP_teams_reg(body_fn fn, void *data, unsigned teams, unsigned limit, unsigned flags)
{
	REAL(GOMP_teams_reg, void, body_fn, void *, unsigned, unsigned, unsigned);
	struct shim_local *local = runtime__here(to);
	struct league league = {.fn = fn, .data = data, .runtime = to->runtime};

	if (!local) {
		real_GOMP_teams_reg(fn, data, teams, limit, flags);
		return;
	}
	shim__look();
	began_before__tell_league(local, to->runtime);
	league.number = next_team();
	SHIM_EVENT2(local, SHIM_REGION_BEGIN, shim__site(CALLER, SHIM_SITE_TEAMS), 0,
		    (teams & RING_REGION_THREADS) | RING_REGION_TEAMS | RING_REGION_OUTERMOST,
		    (uint64_t)(uintptr_t)fn);
	real_GOMP_teams_reg(team, &league, teams, limit, flags);
	SHIM_EVENT(local, SHIM_REGION_END, 0, 0);
}
