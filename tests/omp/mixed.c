/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mixed REPEAT: every way of making a task that has a rule of its own in the
 * grain graph, each in a region or a serial stretch of its own. The number of
 * tasks does not depend on the number of threads.
 */
#include "truth.h"

/* Runs `body` as the next task of `in`; inside, `t` is its truth. */
#define TASK(in, clauses, body)                                                                              \
	do {                                                                                                 \
		struct truth *truth_in = (in), *t = truth__task(truth_in, __LINE__);                         \
		TASK_PRAGMA(clauses)                                                                         \
		{                                                                                            \
			truth__begin(t);                                                                     \
			ran();                                                                               \
			body;                                                                                \
			truth__end(t);                                                                       \
		}                                                                                            \
		truth__created();                                                                            \
	} while (0)
#define PRAGMA(x) _Pragma(#x)
#define TASK_PRAGMA(clauses) PRAGMA(omp task firstprivate(t) clauses)
#define WAIT(in)                                                                                             \
	do {                                                                                                 \
		_Pragma("omp taskwait") truth__taskwait(in);                                                 \
	} while (0)
/* What is inlined into main has main's lines in places. */
#define CONSTRUCT static __attribute__((noinline)) unsigned long

static unsigned long executed;

static void ran(void)
{
	__atomic_fetch_add(&executed, 1, __ATOMIC_RELAXED);
}

/* 6 tasks, without any team. */
CONSTRUCT outside(struct truth *in)
{
	TASK(in, , TASK(t, , ); TASK(t, if (0), ));
	TASK(in, if (0), );
	TASK(in, final(1), TASK(t, , ));
	WAIT(in);
	return 6;
}

/* Undeferred tasks, also inside each other; 9 tasks. */
CONSTRUCT undeferred(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			TASK(in, if (0), TASK(t, if (0), TASK(t, if (0), )));
			TASK(in, if (0), TASK(t, , ); TASK(t, , ); WAIT(t));
			TASK(in, final(1) mergeable, TASK(t, , TASK(t, , )));
			WAIT(in);
		}
		truth__barrier(member);
	}
	return 9;
}

static void group_of_one(struct truth *in)
{
	truth__group_begin(in);
#pragma omp taskgroup
	TASK(in, , );
	truth__group_end(in);
}

/*
 * Groups in groups, with grandchildren that only the group waits for, and
 * siblings that it must not wait for; 13 tasks.
 */
CONSTRUCT groups(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			TASK(in, , );
			truth__group_begin(in);
#pragma omp taskgroup
			{
				TASK(in, , TASK(t, , TASK(t, , )); TASK(t, , ));
				truth__group_begin(in);
#pragma omp taskgroup
				TASK(in, , TASK(t, , ));
				truth__group_end(in);
				TASK(in, , TASK(t, , ); WAIT(t); TASK(t, , ));
			}
			truth__group_end(in);
			TASK(in, , group_of_one(t));
			TASK(in, , );
			WAIT(in);
		}
		truth__barrier(member);
	}
	return 13;
}

static void tree(int depth, struct truth *me)
{
	if (depth == 0)
		return;
	TASK(me, , tree(depth - 1, t));
	TASK(me, untied, tree(depth - 1, t));
	WAIT(me);
	TASK(me, , tree(depth - 1, t));
	WAIT(me);
}

/* Two waits per call, three children: 3 + 9 + 27 + 81 = 120 tasks. */
CONSTRUCT nested_waits(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		tree(4, in);
		truth__barrier(member);
	}
	return 120;
}

static void left(int depth, struct truth *me)
{
	if (depth == 0)
		return;
	TASK(me, , left(depth - 1, t));
	TASK(me, mergeable, left(depth - 1, t));
}

/* Nobody waits but the barriers; two singles and what follows each; 14 + 3 + 1 tasks. */
CONSTRUCT left_to_barriers(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		left(3, in);
		truth__barrier(member);
		in = truth__single(member);
#pragma omp single
		{
			for (int i = 0; i < 3; i++)
				TASK(in, , );
		}
		truth__barrier(member);
#pragma omp master
		TASK(member, , );
	}
	return 18;
}

/* Each of exactly two members makes its own tasks, before and after a barrier; 2 * 11 tasks. */
CONSTRUCT every_member(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region);

		for (int i = 0; i < 3; i++)
			TASK(member, , TASK(t, , ));
#pragma omp barrier
		truth__barrier(member);
		for (int i = 0; i < 5; i++)
			TASK(member, , );
	}
	return 22;
}

/* Task creation by member 0 alone while the others wait in the barrier; 6 tasks. */
CONSTRUCT masked(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region);

#pragma omp masked
		for (int i = 0; i < 4; i++)
			TASK(member, , );
#pragma omp barrier
		truth__barrier(member);
#pragma omp master
		for (int i = 0; i < 2; i++)
			TASK(member, , );
	}
	return 6;
}

struct big {
	unsigned char bytes[16384];
};

/* Copies that the runtime makes by itself and, for the array of variable length, by a function; 24 tasks. */
CONSTRUCT big_copies(struct truth *initial, int length)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct big big;
			unsigned char variable[length];

			memset(&big, 1, sizeof(big));
			memset(variable, 2, length);
			for (int i = 0; i < 8; i++) {
				TASK(in, firstprivate(big, i), big.bytes[i] = i);
				TASK(in, firstprivate(variable, i), variable[i] = i);
				TASK(in, firstprivate(variable, i) if (0), variable[i] = i);
			}
			WAIT(in);
		}
		truth__barrier(member);
	}
	return 24;
}

/* More than the runtime keeps deferred for one thread: it runs the rest at once; 300 tasks. */
CONSTRUCT throttled(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		for (int i = 0; i < 300; i++)
			TASK(in, , );
		truth__barrier(member);
	}
	return 300;
}

/* A chain by dependences, and an undeferred task that waits for it; 7 tasks. */
CONSTRUCT depends(struct truth *initial)
{
	static int x;
	struct truth *region;

	x = 0;
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 6; i++)
				TASK(in, depend(inout : x), x++);
			TASK(in, depend(in : x) if (0), );
			WAIT(in);
		}
		truth__barrier(member);
	}
	return x == 6 ? 7 : 0;
}

static __attribute__((noinline)) void region_of_one(struct truth *in)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel num_threads(1)
	{
		struct truth *member = truth__member(region);

		TASK(member, , );
		TASK(member, , TASK(t, , ));
		WAIT(member);
	}
}

/* Regions inside tasks and inside a member, with one thread and with two; 2 + 6 + 4 tasks. */
CONSTRUCT nested_regions(struct truth *initial)
{
	struct truth *region;

	omp_set_max_active_levels(1);
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 2; i++)
				TASK(in, , region_of_one(t));
		}
		truth__barrier(member);
	}
	omp_set_max_active_levels(2);
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region);
		struct truth *inner = truth__region(member, __LINE__ + 1);
#pragma omp parallel num_threads(2)
		{
			struct truth *m = truth__member(inner);

			TASK(m, , );
		}
	}
	omp_set_max_active_levels(1);
	return 12;
}

int main(int argc, char **argv)
{
	long arg[1] = {1};
	unsigned long tasks = 0;
	struct truth *initial;

	program__args(argc, argv, arg, 1);
	initial = truth__initial();
	for (long i = 0; i < arg[0]; i++) {
		tasks += outside(initial);
		tasks += undeferred(initial);
		tasks += groups(initial);
		tasks += nested_waits(initial);
		tasks += left_to_barriers(initial);
		tasks += every_member(initial);
		tasks += masked(initial);
		tasks += big_copies(initial, 3000 + (int)i);
		tasks += throttled(initial);
		tasks += depends(initial);
		tasks += nested_regions(initial);
		tasks += outside(initial);
	}
	truth__write();
	printf("{\"program\":\"mixed\",\"tasks\":%lu,\"correct\":%s,\"threads\":%d}\n", tasks,
	       executed == tasks ? "true" : "false", omp_get_max_threads());
	return executed != tasks;
}
