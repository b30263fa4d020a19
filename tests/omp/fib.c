/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fib N CUTOFF ROUNDS: two tasks and a taskwait per call above depth CUTOFF,
 * serial below it. Every round is a region of its own; the first warms up and
 * does not count for the time of a task, which is that of the median round. After
 * the first it waits for the file WAITS_FOR of its environment.
 */
#include "truth.h"

/* Not in fib_reads.c. */
#ifndef READ_COUNTER
#define READ_COUNTER() ((void)0)
#endif

static long cutoff;

static unsigned long serial(int n)
{
	return n < 2 ? (unsigned long)n : serial(n - 1) + serial(n - 2);
}

static unsigned long fib(int n, int depth, struct truth *me)
{
	unsigned long x, y;
	struct truth *t;

	if (n < 2 || depth >= cutoff)
		return serial(n);
	READ_COUNTER();
	t = truth__task(me, __LINE__ + 1);
#pragma omp task shared(x) firstprivate(t)
	{
		READ_COUNTER();
		truth__begin(t);
		x = fib(n - 1, depth + 1, t);
		truth__end(t);
		READ_COUNTER();
	}
	truth__created();
	READ_COUNTER();
	READ_COUNTER();
	t = truth__task(me, __LINE__ + 1);
#pragma omp task shared(y) firstprivate(t)
	{
		READ_COUNTER();
		truth__begin(t);
		y = fib(n - 2, depth + 1, t);
		truth__end(t);
		READ_COUNTER();
	}
	truth__created();
	READ_COUNTER();
	READ_COUNTER();
#pragma omp taskwait
	truth__taskwait(me);
	READ_COUNTER();
	return x + y;
}

static unsigned long count(int n, int depth)
{
	return n < 2 || depth >= cutoff ? 0 : 2 + count(n - 1, depth + 1) + count(n - 2, depth + 1);
}

int main(int argc, char **argv)
{
	long arg[3] = {20, 8, 1};
	unsigned long long *ns, start = 0, median, whole;
	unsigned long per_round, expected, bad = 0;
	struct truth *initial;

	program__args(argc, argv, arg, 3);
	cutoff = arg[1];
	ns = calloc(arg[2] + 1, sizeof(*ns));
	if (!ns)
		return 2;
	initial = truth__initial();
	per_round = count(arg[0], 0);
	expected = serial(arg[0]);
	whole = now_ns();
	for (long r = 0; r < arg[2]; r++) {
		struct truth *region = truth__region(initial, __LINE__ + 3);
		unsigned long result = 0;

#pragma omp parallel
		{
			struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
			{
				start = now_ns();
				result = fib(arg[0], 0, in);
				ns[r] = now_ns() - start;
			}
			truth__barrier(member);
		}
		bad += result != expected;
		if (r == 0)
			program__wait();
	}
	whole = now_ns() - whole;
	median = arg[2] > 1 ? ns__median(ns + 1, arg[2] - 1) : ns[0];
	truth__write();
	printf("{\"program\":\"fib\",\"tasks\":%lu,\"rounds\":%ld,\"correct\":%s,\"threads\":%d,"
	       "\"ns_per_task\":%.1f,\"whole_ns\":%llu}\n",
	       per_round * arg[2], arg[2], bad ? "false" : "true", omp_get_max_threads(),
	       per_round ? (double)median / per_round : 0.0, whole);
	free(ns);
	return bad != 0;
}
