/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each task depends on the one before. The cure drops what is not needed.
 *
 * first: little_parallelism
 */
#include "answers.h"

int main(void)
{
	static double a[400], last;

	sink = 0;    /* HERE for gcc */
#pragma omp parallel /* HERE */
#pragma omp single
	for (int i = 0; i < 400; i++) { /* HERE */
#ifdef CURED
#pragma omp task firstprivate(i)
#else
#pragma omp task firstprivate(i) depend(inout : last)
#endif
		a[i] = work(1000);
	}
	sink = a[0] + last;
	return 0;
}
