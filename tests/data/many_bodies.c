/* SPDX-License-Identifier: BSD-2-Clause */
/* Twelve bodies of constructs, for tests/unit/test_program_bodies.c. */
#include <stdio.h>

static int counted;

static void count(int n)
{
	__atomic_fetch_add(&counted, n, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void tree(int depth)
{
	if (depth == 0)
		return;
#pragma omp task firstprivate(depth)
	tree(depth - 1);
#pragma omp task if (depth > 2)
	{
		count(depth);
		tree(depth - 1);
	}
#pragma omp taskwait
}

__attribute__((noinline)) static void loops(int n)
{
#pragma omp parallel for schedule(dynamic, 2)
	for (int i = 0; i < n; i++)
		count(i);
#pragma omp parallel for schedule(guided)
	for (int i = 0; i < n; i++)
		count(1);
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		count(2);
#pragma omp parallel sections
	{
#pragma omp section
		count(3);
#pragma omp section
		count(4);
	}
}

__attribute__((noinline)) static void taskloops(int n)
{
#pragma omp parallel
#pragma omp single
	{
#pragma omp taskloop grainsize(4)
		for (int i = 0; i < n; i++)
			count(i);
#pragma omp taskloop num_tasks(3)
		for (unsigned long long i = 0; i < (unsigned long long)n; i++)
			count(5);
	}
}

int main(void)
{
#pragma omp parallel
#pragma omp single
	tree(4);
	loops(20);
	taskloops(20);
#pragma omp teams num_teams(2)
	count(6);
#pragma omp parallel num_threads(2)
	{
		count(7);
	}
	printf("%d\n", counted);
	return 0;
}
