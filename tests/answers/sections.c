/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One section takes four times as long as the other. The cure divides it.
 *
 * first: imbalance
 */
#include "answers.h"

int main(void)
{ /* HERE for gcc */
	static double a, b;

	for (int round = 0; round < 10; round++) {
#pragma omp parallel sections /* HERE */
		{	      /* HERE */
#pragma omp section
#ifdef CURED
			a += work(20000);
#pragma omp section
			a += work(20000);
#else
			a += work(32000);
#pragma omp section
			b += work(8000);
#endif
		}
	}
	sink = a + b;
	return 0;
}
