/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three equal tasks for two threads. The cure makes more of them.
 *
 * first: few_grains
 */
#include "answers.h"

#ifdef CURED
#define PARTS 20
#else
#define PARTS 1
#endif

int main(void)
{
	static double a[3 * PARTS];

	sink = 0;    /* HERE for gcc */
#pragma omp parallel /* HERE */
#pragma omp single
	for (int i = 0; i < 3 * PARTS; i++) { /* HERE */
#pragma omp task firstprivate(i)
		a[i] = work(100000. / PARTS);
	}
	sink = a[0];
	return 0;
}
