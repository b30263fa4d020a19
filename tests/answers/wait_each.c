/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The creator waits for each task. The cure waits once.
 *
 * first: little_parallelism
 */
#include "answers.h"

int main(void)
{
	static double a[400];

	sink = 0;    /* HERE for gcc */
#pragma omp parallel /* HERE */
#pragma omp single
	for (int i = 0; i < 400; i++) { /* HERE */
#pragma omp task firstprivate(i)
		a[i] = work(1000);
#ifndef CURED
#pragma omp taskwait
#endif
	}
	sink = a[0];
	return 0;
}
