/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop creates a task for each iteration of 0.2 us. The cure is a taskloop with a grain size.
 *
 * first: small_tasks creation_bottleneck
 */
#include "answers.h"

int main(void)
{
	static double a[64][8];

#pragma omp parallel
#pragma omp single
	{
#ifdef CURED
#pragma omp taskloop grainsize(1000)
		for (int i = 0; i < 600000; i++)
			a[omp_get_thread_num()][0] += work(0.2);
#else
		for (int i = 0; i < 600000; i++) {
#pragma omp task /* HERE */
			a[omp_get_thread_num()][0] += work(0.2); /* HERE */
		}
#endif
	}
	sink = a[0][0];
	return 0;
}
