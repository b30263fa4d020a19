/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Later iterations take longer, and each thread gets the same number of them.
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
	double sum = 0;

	for (int round = 0; round < 10; round++) {
#pragma omp parallel for SCHEDULE reduction(+ : sum) /* HERE */
		for (int i = 0; i < 400; i++)	     /* HERE */
			sum += work(i);
	}
	sink = sum;
	return 0;
}
