// SPDX-License-Identifier: BSD-2-Clause
/* Parallel regions, their members, the regions of combined loops and sections, leagues on the host. */
#include "runtime-shim/gomp.h"

typedef void (*body_fn)(void *);

/* Handed to the members instead of the program's data, whose first word says what is reduced. */
struct region {
	void *reductions;
	body_fn fn;
	void *data;
	uint64_t team;
};

/* Multiples of 64, as addresses of teams would be. */
static uint64_t next_team(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 64, __ATOMIC_RELAXED);
}

static void member(void *argument)
{
	const struct region *region = argument;
	struct shim_local *local = shim__here();

	if (local)
		SHIM_EVENT2(local, SHIM_MEMBER_BEGIN,
			    shim__site((const void *)(uintptr_t)region->fn, SHIM_SITE_MEMBER_BODY), 0,
			    region->team, gomp__thread_number());
	region->fn(region->data);
	if (local)
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
}

static struct shim_local *begin(struct region *region, body_fn fn, void *data, unsigned threads,
				const void *caller)
{
	struct shim_local *local = shim__here();
	uint32_t outermost;

	if (!local)
		return NULL;
	*region = (struct region){.fn = fn, .data = data, .team = next_team()};
	outermost = gomp__level() ? 0 : RING_REGION_OUTERMOST;
	SHIM_EVENT2(local, SHIM_REGION_BEGIN, shim__site(caller, SHIM_SITE_PARALLEL), 0,
		    (threads & RING_REGION_THREADS) | outermost, (uint64_t)(uintptr_t)fn);
	return local;
}

static void end(struct shim_local *local)
{
	SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_REGION_END);
	SHIM_EVENT(local, SHIM_REGION_END, 0, 0);
}

EXPORT void GOMP_parallel(body_fn fn, void *data, unsigned threads, unsigned flags)
{
	struct region region;
	struct shim_local *local = begin(&region, fn, data, threads, CALLER);
	REAL(GOMP_parallel, void, body_fn, void *, unsigned, unsigned);

	if (!local) {
		real_GOMP_parallel(fn, data, threads, flags);
		return;
	}
	real_GOMP_parallel(member, &region, threads, flags);
	end(local);
}

EXPORT unsigned GOMP_parallel_reductions(body_fn fn, void *data, unsigned threads, unsigned flags)
{
	struct region region;
	struct shim_local *local = begin(&region, fn, data, threads, CALLER);
	REAL(GOMP_parallel_reductions, unsigned, body_fn, void *, unsigned, unsigned);

	if (!local)
		return real_GOMP_parallel_reductions(fn, data, threads, flags);
	region.reductions = *(void **)data;
	threads = real_GOMP_parallel_reductions(member, &region, threads, flags);
	end(local);
	return threads;
}

static void put_loop(struct shim_local *local, uint32_t schedule, long start, long end, long step, long chunk)
{
	SHIM_EVENT3(local, SHIM_LOOP_BEGIN, 0, 0, schedule | RING_LOOP_OF_REGION | RING_LOOP_UPPER_EXCLUSIVE,
		    (uint64_t)start, (uint64_t)end);
	SHIM_EVENT2(local, SHIM_LOOP_PARAMS, 0, 0, (uint64_t)step, (uint64_t)chunk);
}

#define PARALLEL_LOOP(name, schedule)                                                                        \
	EXPORT void GOMP_parallel_loop_##name(body_fn fn, void *data, unsigned threads, long start,          \
					      long end_, long step, long chunk, unsigned flags)              \
	{                                                                                                    \
		struct region region;                                                                        \
		struct shim_local *local = begin(&region, fn, data, threads, CALLER);                        \
		REAL(GOMP_parallel_loop_##name, void, body_fn, void *, unsigned, long, long, long, long,     \
		     unsigned);                                                                              \
                                                                                                             \
		if (!local) {                                                                                \
			real_GOMP_parallel_loop_##name(fn, data, threads, start, end_, step, chunk, flags);  \
			return;                                                                              \
		}                                                                                            \
		put_loop(local, schedule, start, end_, step, chunk);                                         \
		real_GOMP_parallel_loop_##name(member, &region, threads, start, end_, step, chunk, flags);   \
		end(local);                                                                                  \
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
		struct region region;                                                                        \
		struct shim_local *local = begin(&region, fn, data, threads, CALLER);                        \
		REAL(GOMP_parallel_loop_##name, void, body_fn, void *, unsigned, long, long, long,           \
		     unsigned);                                                                              \
                                                                                                             \
		if (!local) {                                                                                \
			real_GOMP_parallel_loop_##name(fn, data, threads, start, end_, step, flags);         \
			return;                                                                              \
		}                                                                                            \
		put_loop(local, RING_LOOP_RUNTIME | (bits), start, end_, step, 0);                           \
		real_GOMP_parallel_loop_##name(member, &region, threads, start, end_, step, flags);          \
		end(local);                                                                                  \
	}

PARALLEL_RUNTIME_LOOP(runtime, 0)
PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime, RING_LOOP_NONMONOTONIC)
PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime, 0)

EXPORT void GOMP_parallel_sections(body_fn fn, void *data, unsigned threads, unsigned count, unsigned flags)
{
	struct region region;
	struct shim_local *local = begin(&region, fn, data, threads, CALLER);
	REAL(GOMP_parallel_sections, void, body_fn, void *, unsigned, unsigned, unsigned);

	if (!local) {
		real_GOMP_parallel_sections(fn, data, threads, count, flags);
		return;
	}
	SHIM_EVENT1(local, SHIM_SECTIONS_BEGIN, shim__site(CALLER, SHIM_SITE_SECTIONS), 0,
		    count | RING_SECTIONS_OF_REGION);
	real_GOMP_parallel_sections(member, &region, threads, count, flags);
	end(local);
}

/* A league on the host: its teams take turns on the thread. */
struct league {
	body_fn fn;
	void *data;
	uint64_t number;
	bool begun;
};

static void team(void *argument)
{
	struct league *league = argument;
	struct shim_local *local = shim__here();

	if (local && !league->begun) {
		SHIM_EVENT2(local, SHIM_TEAM_START, 0, 0, league->number, gomp__teams());
		league->begun = true;
	}
	if (local)
		SHIM_EVENT1(local, SHIM_TEAM_STARTED, 0, 0, gomp__team_number());
	league->fn(league->data);
	if (!local)
		return;
	SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
	SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_REGION_END);
}

EXPORT void GOMP_teams_reg(body_fn fn, void *data, unsigned teams, unsigned limit, unsigned flags)
{
	struct shim_local *local = shim__here();
	struct league league = {.fn = fn, .data = data};
	REAL(GOMP_teams_reg, void, body_fn, void *, unsigned, unsigned, unsigned);

	if (!local) {
		real_GOMP_teams_reg(fn, data, teams, limit, flags);
		return;
	}
	league.number = next_team();
	SHIM_EVENT2(local, SHIM_REGION_BEGIN, shim__site(CALLER, SHIM_SITE_TEAMS), 0,
		    (teams & RING_REGION_THREADS) | RING_REGION_TEAMS, (uint64_t)(uintptr_t)fn);
	real_GOMP_teams_reg(team, &league, teams, limit, flags);
	SHIM_EVENT(local, SHIM_REGION_END, 0, 0);
}
