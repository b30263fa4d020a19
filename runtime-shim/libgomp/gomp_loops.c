// SPDX-License-Identifier: BSD-2-Clause
/* Worksharing loops: their begin, each chunk, their end. */
#include "runtime-shim/libgomp/gomp.h"
#include "bpf/abi/runtime_codes.h"

typedef unsigned long long ull;

static void put_chunk(struct shim_local *local, uint64_t lower, uint64_t upper)
{
	if (shim__is_short(lower, upper))
		shim__put(local, SHIM_WORD(SHIM_CHUNK_BEGIN, 0, SHIM_CHUNK_EXCLUSIVE | SHIM_CHUNK_SHORT), 1,
			  shim__short_chunk(lower, upper), 0, 0);
	else
		shim__put(local, SHIM_WORD(SHIM_CHUNK_BEGIN, 0, SHIM_CHUNK_EXCLUSIVE), 2, lower, upper, 0);
}

/* This takes no struct for the loop: a struct would be written to memory each time a loop begins. */
static void put_loop(struct shim_local *local, const void *caller, uint32_t arg, uint64_t lower,
		     uint64_t upper, uint64_t step, uint64_t chunk)
{
	SHIM_EVENT3(local, SHIM_LOOP_BEGIN, shim__site(caller, SHIM_SITE_LOOP), 0,
		    arg | RING_LOOP_UPPER_EXCLUSIVE, lower, upper);
	SHIM_EVENT2(local, SHIM_LOOP_PARAMS, 0, 0, step, chunk);
}

/* took(): the thread got a chunk; over(): it got none. */
static inline bool took(struct shim_local *local, uint64_t lower, uint64_t upper)
{
	if (local)
		put_chunk(local, lower, upper);
	return true;
}

static inline bool over(struct shim_local *local)
{
	if (local)
		SHIM_EVENT(local, SHIM_LOOP_END, 0, 0);
	return false;
}

/* A construct with reductions over tasks opens a taskgroup, which ends with the construct. */
static void put_reductions(struct shim_local *local, const void *caller, const void *reductions)
{
	if (reductions)
		SHIM_EVENT(local, SHIM_GROUP_BEGIN, shim__site(caller, SHIM_SITE_TASKGROUP), 0);
}

/* The result of a runtime call. If there is a chunk, it is recorded first. */
#define GIVEN(any) ((any) ? took(local, (uint64_t)*lower, (uint64_t)*upper) : over(local))

/* One function serves all schedules: the functions of the schedules end with a jump to it. */
#define RECORDED_NEXT(T)                                                                                     \
	static __attribute__((noinline)) bool recorded_next_##T(struct shim_local *local,                    \
								bool (*const real)(T *, T *), T *lower,      \
								T *upper)                                    \
	{                                                                                                    \
		uint64_t asked = shim__ticks();                                                              \
		bool any = real(lower, upper);                                                               \
                                                                                                             \
		shim__put_answer(local, asked, any, SHIM_CHUNK_EXCLUSIVE, (uint64_t)*lower,                  \
				 (uint64_t)*upper);                                                          \
		return any;                                                                                  \
	}

RECORDED_NEXT(long)
RECORDED_NEXT(ull)

#define NEXT(name, T)                                                                                        \
	EXPORT bool GOMP_loop_##name##_next(T *lower, T *upper)                                              \
	{                                                                                                    \
		REAL(GOMP_loop_##name##_next, bool, T *, T *);                                               \
		struct shim_local *local = runtime__here(to);                                                \
                                                                                                             \
		return local ? recorded_next_##T(local, real_GOMP_loop_##name##_next, lower, upper)          \
			     : real_GOMP_loop_##name##_next(lower, upper);                                   \
	}

#define START(name, arg)                                                                                     \
	EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long *lower,       \
					     long *upper)                                                    \
	{                                                                                                    \
		REAL(GOMP_loop_##name##_start, bool, long, long, long, long, long *, long *);                \
		struct shim_local *local = runtime__here(to);                                                \
                                                                                                             \
		if (local)                                                                                   \
			put_loop(local, CALLER, arg, (uint64_t)start, (uint64_t)end, (uint64_t)step,         \
				 (uint64_t)chunk);                                                           \
		return GIVEN(real_GOMP_loop_##name##_start(start, end, step, chunk, lower, upper));          \
	}                                                                                                    \
	EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull start, ull end, ull step, ull chunk,           \
						 ull *lower, ull *upper)                                     \
	{                                                                                                    \
		REAL(GOMP_loop_ull_##name##_start, bool, bool, ull, ull, ull, ull, ull *, ull *);            \
		struct shim_local *local = runtime__here(to);                                                \
                                                                                                             \
		if (local)                                                                                   \
			put_loop(local, CALLER, (arg) | RING_LOOP_UNSIGNED, start, end, step, chunk);        \
		return GIVEN(real_GOMP_loop_ull_##name##_start(up, start, end, step, chunk, lower, upper));  \
	}                                                                                                    \
	NEXT(name, long)                                                                                     \
	NEXT(ull_##name, ull)

#define RUNTIME_START(name, arg)                                                                             \
	EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long *lower, long *upper)      \
	{                                                                                                    \
		REAL(GOMP_loop_##name##_start, bool, long, long, long, long *, long *);                      \
		struct shim_local *local = runtime__here(to);                                                \
                                                                                                             \
		if (local)                                                                                   \
			put_loop(local, CALLER, RING_LOOP_RUNTIME | (arg), (uint64_t)start, (uint64_t)end,   \
				 (uint64_t)step, 0);                                                         \
		return GIVEN(real_GOMP_loop_##name##_start(start, end, step, lower, upper));                 \
	}                                                                                                    \
	EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull start, ull end, ull step, ull *lower,          \
						 ull *upper)                                                 \
	{                                                                                                    \
		REAL(GOMP_loop_ull_##name##_start, bool, bool, ull, ull, ull, ull *, ull *);                 \
		struct shim_local *local = runtime__here(to);                                                \
                                                                                                             \
		if (local)                                                                                   \
			put_loop(local, CALLER, RING_LOOP_RUNTIME | RING_LOOP_UNSIGNED | (arg), start, end,  \
				 step, 0);                                                                   \
		return GIVEN(real_GOMP_loop_ull_##name##_start(up, start, end, step, lower, upper));         \
	}                                                                                                    \
	NEXT(name, long)                                                                                     \
	NEXT(ull_##name, ull)

START(static, RING_LOOP_STATIC)
START(dynamic, RING_LOOP_DYNAMIC)
START(guided, RING_LOOP_GUIDED)
START(nonmonotonic_dynamic, RING_LOOP_DYNAMIC | RING_LOOP_NONMONOTONIC)
START(nonmonotonic_guided, RING_LOOP_GUIDED | RING_LOOP_NONMONOTONIC)
START(ordered_static, RING_LOOP_STATIC | RING_LOOP_ORDERED)
START(ordered_dynamic, RING_LOOP_DYNAMIC | RING_LOOP_ORDERED)
START(ordered_guided, RING_LOOP_GUIDED | RING_LOOP_ORDERED)
RUNTIME_START(runtime, 0)
RUNTIME_START(nonmonotonic_runtime, RING_LOOP_NONMONOTONIC)
RUNTIME_START(maybe_nonmonotonic_runtime, 0)
RUNTIME_START(ordered_runtime, RING_LOOP_ORDERED)

/*
 * Without a place for bounds, the call only prepares reductions for a loop that the compiler divides
 * itself.
 */
#define GENERAL_START(name, arg)                                                                             \
	EXPORT bool GOMP_loop_##name(long start, long end, long step, long schedule, long chunk,             \
				     long *lower, long *upper, uintptr_t *reductions, void **memory)         \
	{                                                                                                    \
		REAL(GOMP_loop_##name, bool, long, long, long, long, long, long *, long *, uintptr_t *,      \
		     void **);                                                                               \
		struct shim_local *local = runtime__here(to);                                                \
		bool any;                                                                                    \
                                                                                                             \
		if (local)                                                                                   \
			put_reductions(local, CALLER, reductions);                                           \
		if (local && lower)                                                                          \
			put_loop(local, CALLER, libgomp_schedule((uint64_t)schedule) | (arg),                \
				 (uint64_t)start, (uint64_t)end, (uint64_t)step, (uint64_t)chunk);           \
		any = real_GOMP_loop_##name(start, end, step, schedule, chunk, lower, upper, reductions,     \
					    memory);                                                         \
		return lower ? GIVEN(any) : any;                                                             \
	}                                                                                                    \
	EXPORT bool GOMP_loop_ull_##name(bool up, ull start, ull end, ull step, long schedule, ull chunk,    \
					 ull *lower, ull *upper, uintptr_t *reductions, void **memory)       \
	{                                                                                                    \
		REAL(GOMP_loop_ull_##name, bool, bool, ull, ull, ull, long, ull, ull *, ull *, uintptr_t *,  \
		     void **);                                                                               \
		struct shim_local *local = runtime__here(to);                                                \
		bool any;                                                                                    \
                                                                                                             \
		if (local)                                                                                   \
			put_reductions(local, CALLER, reductions);                                           \
		if (local && lower)                                                                          \
			put_loop(local, CALLER,                                                              \
				 libgomp_schedule((uint64_t)schedule) | RING_LOOP_UNSIGNED | (arg), start,   \
				 end, step, chunk);                                                          \
		any = real_GOMP_loop_ull_##name(up, start, end, step, schedule, chunk, lower, upper,         \
						reductions, memory);                                         \
		return lower ? GIVEN(any) : any;                                                             \
	}

GENERAL_START(start, 0)
GENERAL_START(ordered_start, RING_LOOP_ORDERED)

#define DOACROSS(prefix, name, T, arg)                                                                       \
	EXPORT bool GOMP_loop_##prefix##doacross_##name##_start(unsigned count, T *counts, T chunk,          \
								T *lower, T *upper)                          \
	{                                                                                                    \
		REAL(GOMP_loop_##prefix##doacross_##name##_start, bool, unsigned, T *, T, T *, T *);         \
		struct shim_local *local = runtime__here(to);                                                \
                                                                                                             \
		gomp__doacross(count);                                                                       \
		if (local)                                                                                   \
			put_loop(local, CALLER, RING_LOOP_DOACROSS | (arg), 0, (uint64_t)counts[0], 1,       \
				 (uint64_t)chunk);                                                           \
		return GIVEN(real_GOMP_loop_##prefix##doacross_##name##_start(count, counts, chunk, lower,   \
									      upper));                       \
	}

DOACROSS(, static, long, RING_LOOP_STATIC)
DOACROSS(, dynamic, long, RING_LOOP_DYNAMIC)
DOACROSS(, guided, long, RING_LOOP_GUIDED)
DOACROSS(ull_, static, ull, RING_LOOP_STATIC | RING_LOOP_UNSIGNED)
DOACROSS(ull_, dynamic, ull, RING_LOOP_DYNAMIC | RING_LOOP_UNSIGNED)
DOACROSS(ull_, guided, ull, RING_LOOP_GUIDED | RING_LOOP_UNSIGNED)

#define GENERAL_DOACROSS(prefix, T, arg)                                                                     \
	EXPORT bool GOMP_loop_##prefix##doacross_runtime_start(unsigned count, T *counts, T *lower,          \
							       T *upper)                                     \
	{                                                                                                    \
		REAL(GOMP_loop_##prefix##doacross_runtime_start, bool, unsigned, T *, T *, T *);             \
		struct shim_local *local = runtime__here(to);                                                \
                                                                                                             \
		gomp__doacross(count);                                                                       \
		if (local)                                                                                   \
			put_loop(local, CALLER, RING_LOOP_RUNTIME | RING_LOOP_DOACROSS | (arg), 0,           \
				 (uint64_t)counts[0], 1, 0);                                                 \
		return GIVEN(real_GOMP_loop_##prefix##doacross_runtime_start(count, counts, lower, upper));  \
	}                                                                                                    \
	EXPORT bool GOMP_loop_##prefix##doacross_start(unsigned count, T *counts, long schedule, T chunk,    \
						       T *lower, T *upper, uintptr_t *reductions,            \
						       void **memory)                                        \
	{                                                                                                    \
		REAL(GOMP_loop_##prefix##doacross_start, bool, unsigned, T *, long, T, T *, T *,             \
		     uintptr_t *, void **);                                                                  \
		struct shim_local *local = runtime__here(to);                                                \
		bool any;                                                                                    \
                                                                                                             \
		gomp__doacross(count);                                                                       \
		if (local)                                                                                   \
			put_reductions(local, CALLER, reductions);                                           \
		if (local && lower)                                                                          \
			put_loop(local, CALLER,                                                              \
				 libgomp_schedule((uint64_t)schedule) | RING_LOOP_DOACROSS | (arg), 0,       \
				 (uint64_t)counts[0], 1, (uint64_t)chunk);                                   \
		any = real_GOMP_loop_##prefix##doacross_start(count, counts, schedule, chunk, lower, upper,  \
							      reductions, memory);                           \
		return lower ? GIVEN(any) : any;                                                             \
	}

GENERAL_DOACROSS(, long, 0)
GENERAL_DOACROSS(ull_, ull, RING_LOOP_UNSIGNED)

EXPORT void GOMP_loop_end(void)
{
	REAL(GOMP_loop_end, void, void);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_LOOP_END, 0, 0);
	shim__wait_begin(local, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	real_GOMP_loop_end();
	shim__wait_end(local, RING_WAIT_BARRIER_IMPLICIT);
}

EXPORT bool GOMP_loop_end_cancel(void)
{
	REAL(GOMP_loop_end_cancel, bool, void);
	struct shim_local *local = runtime__here(to);
	bool cancelled;

	if (local)
		SHIM_EVENT(local, SHIM_LOOP_END, 0, 0);
	shim__wait_begin(local, RING_WAIT_BARRIER_IMPLICIT, CALLER, SHIM_SITE_BARRIER);
	cancelled = real_GOMP_loop_end_cancel();
	shim__wait_end(local, RING_WAIT_BARRIER_IMPLICIT);
	return cancelled;
}

EXPORT void GOMP_loop_end_nowait(void)
{
	REAL(GOMP_loop_end_nowait, void, void);
	struct shim_local *local = runtime__here(to);

	if (local)
		SHIM_EVENT(local, SHIM_LOOP_END, 0, 0);
	real_GOMP_loop_end_nowait();
}
