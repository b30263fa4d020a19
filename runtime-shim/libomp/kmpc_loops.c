// SPDX-License-Identifier: BSD-2-Clause
/* Worksharing loops at libomp's entry points. Sections, too: clang makes them loops over their numbers. */
#include "runtime-shim/libomp/kmpc.h"
#include "bpf/abi/runtime_codes.h"

/* The next loop that the thread begins is a doacross loop. */
static __thread bool doacross __attribute__((tls_model("initial-exec")));

/* The chunk size; 0: the program gave none. */
static int64_t size_of_chunks(int32_t code, int64_t chunk)
{
	uint32_t s = (uint32_t)code & 0xffff;

	if ((libomp_schedule((uint32_t)code) & RING_LOOP_SCHEDULE) >= RING_LOOP_AUTO || s == 34 || s == 66)
		return 0;
	return chunk;
}

/* This takes no struct for the loop: a struct would be written to memory each time a loop begins. */
static void put_loop(struct shim_local *local, const struct kmpc_location *loc, const void *caller,
		     uint32_t arg, uint64_t lower, uint64_t upper, int64_t step, int64_t chunk)
{
	bool sections = loc && loc->flags & KMPC_LOCATION_SECTIONS;

	if (loc)
		arg |= (sections ? RING_LOOP_IS_SECTIONS : 0) |
		       (loc->flags & KMPC_LOCATION_DISTRIBUTE ? RING_LOOP_DISTRIBUTE : 0);
	if (UNLIKELY(doacross))
		arg |= RING_LOOP_DOACROSS;
	doacross = false;
	SHIM_EVENT3(local, SHIM_LOOP_BEGIN,
		    shim__site(caller, sections ? SHIM_SITE_SECTIONS : SHIM_SITE_LOOP), 0, arg, lower, upper);
	SHIM_EVENT2(local, SHIM_LOOP_PARAMS, 0, 0, (uint64_t)step, (uint64_t)chunk);
}

static void put_chunk(struct shim_local *local, uint64_t lower, uint64_t upper)
{
	if (shim__is_short(lower, upper))
		shim__put(local, SHIM_WORD(SHIM_CHUNK_BEGIN, 0, SHIM_CHUNK_SHORT), 1,
			  shim__short_chunk(lower, upper), 0, 0);
	else
		shim__put(local, SHIM_WORD(SHIM_CHUNK_BEGIN, 0, 0), 2, lower, upper, 0);
}

/*
 * A static loop's first chunk, as the compiler's code will go through it. It follows from the bounds that
 * the runtime has left and from the loop's `last`.
 */
#define PUT_STATIC(lower, upper, last, stride, step, strided)                                                \
	do {                                                                                                 \
		bool up = (step) > 0;                                                                        \
                                                                                                             \
		if (up ? (upper) > (last) : (upper) < (last))                                                \
			(upper) = (last);                                                                    \
		if (up ? (lower) > (upper) : (lower) < (upper))                                              \
			break;                                                                               \
		put_chunk(local, (uint64_t)(lower), (uint64_t)(upper));                                      \
		if (strided)                                                                                 \
			SHIM_EVENT1(local, SHIM_CHUNK_STRIDE, 0, 0, (uint64_t)(int64_t)(stride));            \
	} while (0)

/* T: the loop's type, S: the same type with a sign, bits: the bits of these loops in enum ring_loop. */
#define LOOPS(suffix, T, S, bits)                                                                            \
	EXPORT void __kmpc_for_static_init_##suffix(struct kmpc_location *loc, int32_t thread,               \
						    int32_t schedule, int32_t *is_last, T *lower, T *upper,  \
						    S *stride, S step, S chunk)                              \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		T last, first_upper;                                                                         \
		REAL(__kmpc_for_static_init_##suffix, void, struct kmpc_location *, int32_t, int32_t,        \
		     int32_t *, T *, T *, S *, S, S);                                                        \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		last = *upper;                                                                               \
		if (local)                                                                                   \
			put_loop(local, loc, CALLER, libomp_schedule((uint32_t)schedule) | (bits),           \
				 (uint64_t)*lower, (uint64_t)last, step,                                     \
				 libomp_is_strided((uint32_t)schedule) ? chunk : 0);                         \
		real___kmpc_for_static_init_##suffix(loc, thread, schedule, is_last, lower, upper, stride,   \
						     step, chunk);                                           \
		first_upper = *upper;                                                                        \
		if (local)                                                                                   \
			PUT_STATIC(*lower, first_upper, last, *stride, step,                                 \
				   libomp_is_strided((uint32_t)schedule));                                   \
	}                                                                                                    \
	EXPORT void __kmpc_dist_for_static_init_##suffix(struct kmpc_location *loc, int32_t thread,          \
							 int32_t schedule, int32_t *is_last, T *lower,       \
							 T *upper, T *upper_of_team, S *stride, S step,      \
							 S chunk)                                            \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		T last, first_upper;                                                                         \
		REAL(__kmpc_dist_for_static_init_##suffix, void, struct kmpc_location *, int32_t, int32_t,   \
		     int32_t *, T *, T *, T *, S *, S, S);                                                   \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		last = *upper;                                                                               \
		if (local)                                                                                   \
			put_loop(local, loc, CALLER, libomp_schedule((uint32_t)schedule) | (bits),           \
				 (uint64_t)*lower, (uint64_t)last, step,                                     \
				 libomp_is_strided((uint32_t)schedule) ? chunk : 0);                         \
		real___kmpc_dist_for_static_init_##suffix(loc, thread, schedule, is_last, lower, upper,      \
							  upper_of_team, stride, step, chunk);               \
		first_upper = *upper;                                                                        \
		if (local)                                                                                   \
			PUT_STATIC(*lower, first_upper, last, *stride, step,                                 \
				   libomp_is_strided((uint32_t)schedule));                                   \
	}                                                                                                    \
	EXPORT void __kmpc_team_static_init_##suffix(struct kmpc_location *loc, int32_t thread,              \
						     int32_t *is_last, T *lower, T *upper, S *stride,        \
						     S step, S chunk)                                        \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		T last, first_upper;                                                                         \
		REAL(__kmpc_team_static_init_##suffix, void, struct kmpc_location *, int32_t, int32_t *,     \
		     T *, T *, S *, S, S);                                                                   \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		last = *upper;                                                                               \
		if (local)                                                                                   \
			put_loop(local, loc, CALLER, RING_LOOP_STATIC | RING_LOOP_DISTRIBUTE | (bits),       \
				 (uint64_t)*lower, (uint64_t)last, step, chunk);                             \
		real___kmpc_team_static_init_##suffix(loc, thread, is_last, lower, upper, stride, step,      \
						      chunk);                                                \
		first_upper = *upper;                                                                        \
		if (local)                                                                                   \
			PUT_STATIC(*lower, first_upper, last, *stride, step, true);                          \
	}                                                                                                    \
	EXPORT void __kmpc_dispatch_init_##suffix(struct kmpc_location *loc, int32_t thread,                 \
						  int32_t schedule, T lower, T upper, S step, S chunk)       \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		REAL(__kmpc_dispatch_init_##suffix, void, struct kmpc_location *, int32_t, int32_t, T, T, S, \
		     S);                                                                                     \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		if (local)                                                                                   \
			put_loop(local, loc, CALLER, libomp_schedule((uint32_t)schedule) | (bits),           \
				 (uint64_t)lower, (uint64_t)upper, step, size_of_chunks(schedule, chunk));   \
		real___kmpc_dispatch_init_##suffix(loc, thread, schedule, lower, upper, step, chunk);        \
	}                                                                                                    \
	EXPORT void __kmpc_dist_dispatch_init_##suffix(struct kmpc_location *loc, int32_t thread,            \
						       int32_t schedule, int32_t *is_last, T lower, T upper, \
						       S step, S chunk)                                      \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		REAL(__kmpc_dist_dispatch_init_##suffix, void, struct kmpc_location *, int32_t, int32_t,     \
		     int32_t *, T, T, S, S);                                                                 \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		if (local)                                                                                   \
			put_loop(local, loc, CALLER, libomp_schedule((uint32_t)schedule) | (bits),           \
				 (uint64_t)lower, (uint64_t)upper, step, size_of_chunks(schedule, chunk));   \
		real___kmpc_dist_dispatch_init_##suffix(loc, thread, schedule, is_last, lower, upper, step,  \
							chunk);                                              \
	}                                                                                                    \
	EXPORT int32_t __kmpc_dispatch_next_##suffix(struct kmpc_location *loc, int32_t thread,              \
						     int32_t *is_last, T *lower, T *upper, S *stride)        \
	{                                                                                                    \
		struct shim_local *local;                                                                    \
		uint64_t asked;                                                                              \
		int32_t any;                                                                                 \
		REAL(__kmpc_dispatch_next_##suffix, int32_t, struct kmpc_location *, int32_t, int32_t *,     \
		     T *, T *, S *);                                                                         \
                                                                                                             \
		local = libomp__here(to);                                                                    \
		if (!local)                                                                                  \
			return real___kmpc_dispatch_next_##suffix(loc, thread, is_last, lower, upper,        \
								  stride);                                   \
		asked = shim__ticks();                                                                       \
		any = real___kmpc_dispatch_next_##suffix(loc, thread, is_last, lower, upper, stride);        \
		shim__put_answer(local, asked, any, 0, (uint64_t)*lower, (uint64_t)*upper);                  \
		return any;                                                                                  \
	}

LOOPS(4, int32_t, int32_t, 0)
LOOPS(4u, uint32_t, int32_t, 0)
LOOPS(8, int64_t, int64_t, 0)
LOOPS(8u, uint64_t, int64_t, RING_LOOP_UNSIGNED)

EXPORT void __kmpc_for_static_fini(struct kmpc_location *loc, int32_t thread)
{
	struct shim_local *local;
	REAL(__kmpc_for_static_fini, void, struct kmpc_location *, int32_t);

	local = libomp__here(to);
	if (local)
		SHIM_EVENT(local, SHIM_LOOP_END, 0, 0);
	real___kmpc_for_static_fini(loc, thread);
}

EXPORT void __kmpc_doacross_init(struct kmpc_location *loc, int32_t thread, int32_t dimensions,
				 const void *bounds)
{
	REAL(__kmpc_doacross_init, void, struct kmpc_location *, int32_t, int32_t, const void *);

	if (libomp__here(to))
		doacross = true;
	real___kmpc_doacross_init(loc, thread, dimensions, bounds);
}
