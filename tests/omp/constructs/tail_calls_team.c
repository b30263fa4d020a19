/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of a region, and functions that they call, whose last act is a call of the runtime that all of them
 * make: compilers make a jump of it, which returns to the runtime or to where the function was called.
 */
#include "expect.h"

static __attribute__((noinline)) void barrier(struct truth *member)
{
	truth__barrier(member);
#pragma omp barrier
}

static __attribute__((noinline)) void loop(struct truth *member)
{
	struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "dynamic", 0, 1, 40);

#pragma omp for schedule(dynamic, 2) nowait
	for (long i = 0; i < 40; i++)
		expect__ran(loop, i);
}

static __attribute__((noinline)) void waiting_loop(struct truth *member)
{
	struct expect_loop *loop = expect__loop(member, __LINE__ + 3, "guided", 0, 1, 40);

	truth__barrier(member);
#pragma omp for schedule(guided)
	for (long i = 0; i < 40; i++)
		expect__ran(loop, i);
}

static __attribute__((noinline)) void sections(struct truth *member)
{
	struct expect_loop *sections = expect__sections(member, __LINE__ + 2, 2);

#pragma omp sections nowait
	{
#pragma omp section
		expect__ran(sections, 0);
#pragma omp section
		expect__ran(sections, 1);
	}
}

static __attribute__((noinline)) void waiting_sections(struct truth *member)
{
	struct expect_loop *sections = expect__sections(member, __LINE__ + 3, 2);

	truth__barrier(member);
#pragma omp sections
	{
#pragma omp section
		expect__ran(sections, 0);
#pragma omp section
		expect__ran(sections, 1);
	}
}

static __attribute__((noinline)) void single(struct truth *member)
{
	truth__single(member);
#pragma omp single nowait
	expect__single_won(__LINE__ - 1);
}

static __attribute__((noinline)) void waiting_single(struct truth *member)
{
	truth__single(member);
	truth__barrier(member);
#pragma omp single
	expect__single_won(__LINE__ - 1);
}

/* The bounds of GCC's static loops are not observable. */
static __attribute__((noinline)) void static_loop(struct truth *member)
{
#ifdef __clang__
	struct expect_loop *loop = expect__loop(member, __LINE__ + 2, "static", 0, 1, 40);

#pragma omp for schedule(static) nowait
	for (long i = 0; i < 40; i++)
		expect__ran(loop, i);
#else
	(void)member;
#endif
}

/* A region whose members end with a call of `last`. */
#define ENDS_WITH(last)                                                                                      \
	do {                                                                                                 \
		struct truth *region = truth__region(initial, __LINE__);                                     \
		PRAGMA(omp parallel)                                                                         \
		{                                                                                            \
			struct truth *member = truth__member(region);                                        \
                                                                                                             \
			TASK(member, , );                                                                    \
			last(member);                                                                        \
		}                                                                                            \
	} while (0)

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

		loop(member);
		static_loop(member);
		waiting_loop(member);
		single(member);
		waiting_single(member);
		TASK(member, , );
		barrier(member);
	}
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

		sections(member);
		waiting_sections(member);
		TASK(member, , );
		barrier(member);
	}
	ENDS_WITH(barrier);
	ENDS_WITH(loop);
	ENDS_WITH(waiting_loop);
	ENDS_WITH(sections);
	ENDS_WITH(waiting_sections);
	ENDS_WITH(single);
	ENDS_WITH(waiting_single);
	ENDS_WITH(static_loop);
}
