/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every iteration enters a critical section. The cure is a reduction.
 *
 * first: lock_waiting
 */
#include "answers.h"

int main(void)
{
	long sum = 0;

#ifdef CURED
#pragma omp parallel for schedule(static) reduction(+ : sum)
#else
#pragma omp parallel for schedule(static)
#endif
	for (int i = 0; i < 1500000; i++) {
		double x = work(0.02);
#ifndef CURED
#pragma omp critical /* HERE */
#endif
		sum += x > 0;
	}
	sink = (double)sum;
	return 0;
}
