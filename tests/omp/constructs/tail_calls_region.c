/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks whose last act is a region, and members whose last act is to make a task or to wait for some:
 * compilers make a jump of the call, which returns to the runtime.
 */
#include "expect.h"

/* libgomp defers tasks of a team of one thread, too. */
static int at_once(void)
{
#ifdef __clang__
	return omp_get_num_threads() == 1;
#else
	return 0;
#endif
}

/* The creation is the last act of what it is in. */
#define CREATES(in, clauses, undeferred_, ...)                                                               \
	do {                                                                                                 \
		struct truth *truth_in = (in), *t = truth__task(truth_in, __LINE__);                         \
		truth__created();                                                                            \
		TASK_PRAGMA(clauses)                                                                         \
		{                                                                                            \
			truth__begin(t);                                                                     \
			if (t)                                                                               \
				t->undeferred = undeferred_;                                                 \
			__VA_ARGS__;                                                                         \
			truth__end(t);                                                                       \
		}                                                                                            \
	} while (0)

static __attribute__((noinline)) void begins_region(struct truth *in)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region);

		TASK(member, , );
		CREATES(member, if (0), 1, TASK(t, , ));
	}
}

static __attribute__((noinline)) void begins_creating_region(struct truth *in)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region);

		CREATES(member, , at_once(), expect__spin(2000));
	}
}

static __attribute__((noinline)) void begins_serial_region(struct truth *in)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel if (0)
	{
		struct truth *member = truth__member(region);

		TASK(member, , );
		truth__taskwait(member);
#pragma omp taskwait
	}
}

/* A region with a task whose body ends with the call. */
static void ends_with(struct truth *initial, void (*last)(struct truth *in))
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct truth *t = truth__task(in, __LINE__ + 1);
#pragma omp task firstprivate(t)
			{
				truth__begin(t);
				truth__end(t);
				last(t);
			}
			truth__created();
		}
		truth__barrier(member);
	}
}

CONSTRUCT construct(struct truth *initial)
{
	omp_set_max_active_levels(2);
	begins_region(initial);
	begins_creating_region(initial);
	begins_serial_region(initial);
	ends_with(initial, begins_region);
	ends_with(initial, begins_creating_region);
	ends_with(initial, begins_serial_region);
}
