/* SPDX-License-Identifier: BSD-2-Clause */
/* mergesort LENGTH CUTOFF: a task per half down to CUTOFF elements, all in one single. */
#include "truth.h"

static long cutoff;

static void merge(int *a, int *scratch, long n, long half)
{
	long i = 0, j = half, k = 0;

	while (i < half && j < n)
		scratch[k++] = a[j] < a[i] ? a[j++] : a[i++];
	while (i < half)
		scratch[k++] = a[i++];
	while (j < n)
		scratch[k++] = a[j++];
	memcpy(a, scratch, n * sizeof(*a));
}

static void insertion_sort(int *a, long n)
{
	for (long i = 1; i < n; i++) {
		int v = a[i];
		long j = i;

		for (; j > 0 && a[j - 1] > v; j--)
			a[j] = a[j - 1];
		a[j] = v;
	}
}

static void sort(int *a, int *scratch, long n, struct truth *me)
{
	long half = n / 2;
	struct truth *t;

	if (n <= cutoff) {
		insertion_sort(a, n);
		return;
	}
	t = truth__task(me, __LINE__ + 1);
#pragma omp task firstprivate(t)
	{
		truth__begin(t);
		sort(a, scratch, half, t);
		truth__end(t);
	}
	truth__created();
	t = truth__task(me, __LINE__ + 1);
#pragma omp task firstprivate(t)
	{
		truth__begin(t);
		sort(a + half, scratch + half, n - half, t);
		truth__end(t);
	}
	truth__created();
#pragma omp taskwait
	truth__taskwait(me);
	merge(a, scratch, n, half);
}

static unsigned long count(long n)
{
	return n <= cutoff ? 0 : 2 + count(n / 2) + count(n - n / 2);
}

int main(int argc, char **argv)
{
	long arg[2] = {100000, 500}, n;
	struct truth *initial, *region;
	unsigned seed = 1, sum = 0;
	int *a, *scratch, bad = 0;

	program__args(argc, argv, arg, 2);
	n = arg[0];
	cutoff = arg[1] > 0 ? arg[1] : 1;
	a = malloc((n + 1) * sizeof(*a));
	scratch = malloc((n + 1) * sizeof(*scratch));
	if (!a || !scratch)
		return 2;
	for (long i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		a[i] = (int)(seed >> 4);
		sum += (unsigned)a[i];
	}
	initial = truth__initial();
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		sort(a, scratch, n, in);
		truth__barrier(member);
	}
	for (long i = 0; i < n; i++) {
		sum -= (unsigned)a[i];
		bad |= i > 0 && a[i - 1] > a[i];
	}
	bad |= sum != 0;
	truth__write();
	printf("{\"program\":\"mergesort\",\"tasks\":%lu,\"correct\":%s,\"threads\":%d}\n", count(n),
	       bad ? "false" : "true", omp_get_max_threads());
	free(a);
	free(scratch);
	return bad;
}
