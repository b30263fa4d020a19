/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One iteration takes as long as all others together. The cure divides it.
 *
 * first: imbalance
 */
#include "answers.h"

#ifdef CURED
#define LONGEST 10
#else
#define LONGEST 0
#endif

int main(void)
{
	double sum = 0;

	for (int round = 0; round < 5; round++) {
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum) /* HERE */
		for (int i = 0; i < 100; i++) {			 /* HERE */
#if LONGEST
			sum += work(450 + 500);
#else
			sum += work(i == 99 ? 50000 : 450);
#endif
		}
	}
	sink = sum;
	return 0;
}
