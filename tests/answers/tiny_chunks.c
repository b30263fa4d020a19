/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chunks of one iteration of 50 ns. The cure is larger chunks.
 *
 * first: small_chunks
 */
#include "answers.h"

#ifdef CURED
#define SIZE 1000
#else
#define SIZE 1
#endif

int main(void)
{
	double sum = 0;

#pragma omp parallel for schedule(dynamic, SIZE) reduction(+ : sum) /* HERE */
	for (int i = 0; i < 2000000; i++)			    /* HERE */
		sum += work(0.05);
	sink = sum;
	return 0;
}
