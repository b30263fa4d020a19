/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Task bodies whose last act is a call of the runtime: compilers make a jump of it, so that the call has the
 * stack pointer of the frame around it; and functions that end in that way, called from a task.
 */
#include "expect.h"

/* The body's end is noted before its last call. */
#define LAST(in, clauses, last, ...)                                                                         \
	do {                                                                                                 \
		struct truth *truth_in = (in), *t = truth__task(truth_in, __LINE__);                         \
		TASK_PRAGMA(clauses)                                                                         \
		{                                                                                            \
			truth__begin(t);                                                                     \
			__VA_ARGS__;                                                                         \
			truth__end(t);                                                                       \
			last                                                                                 \
		}                                                                                            \
		truth__created();                                                                            \
	} while (0)
#define WAITS(in, clauses, ...) LAST(in, clauses, PRAGMA(omp taskwait), __VA_ARGS__; truth__taskwait(t))

static __attribute__((noinline)) void waits(struct truth *t)
{
	truth__taskwait(t);
#pragma omp taskwait
}

static __attribute__((noinline)) void yields(void)
{
#pragma omp taskyield
}

static __attribute__((noinline)) void ends_group(struct truth *in)
{
	truth__group_begin(in);
#pragma omp taskgroup
	{
		TASK(in, , TASK(t, , expect__spin(2000)));
		truth__group_end(in);
	}
}

static __attribute__((noinline)) void inner(struct truth *in)
{
	WAITS(in, if (0), TASK(t, , ));
}

static __attribute__((noinline)) void tree(struct truth *in, int depth)
{
	if (!depth)
		return;
	for (int i = 0; i < 2; i++)
		WAITS(in, if (depth % 2), tree(t, depth - 1));
	waits(in);
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			WAITS(in, if (0), TASK(t, , expect__spin(2000)));
			LAST(in, if (0), PRAGMA(omp taskyield), );
			WAITS(in, if (0), inner(t));
			LAST(in, if (0), waits(t);, TASK(t, if (0), ));
			LAST(in, , waits(t);, TASK(t, , ));
			LAST(in, , yields();, TASK(t, if (0), ));
			tree(in, 4);
			LAST(in, if (0), ends_group(t);, );
			LAST(in, , ends_group(t);, TASK(t, if (0), ));
			TASK(in, , );
		}
		truth__barrier(member);
	}
}
