/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second of two loops of a region is uneven.
 *
 * first: imbalance
 */
#include "answers.h"

#ifdef CURED
#define SCHEDULE schedule(dynamic, 4)
#else
#define SCHEDULE schedule(static)
#endif

int main(void)
{
	static double a[1000], b[400];

	for (int round = 0; round < 6; round++) {
#pragma omp parallel
		{
#pragma omp for schedule(static)
			for (int i = 0; i < 1000; i++)
				a[i] = work(20);
#pragma omp for SCHEDULE			      /* HERE */
			for (int i = 0; i < 400; i++) /* HERE */
				b[i] = work(i);
		}
	}
	sink = a[0] + b[0];
	return 0;
}
