/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks of a millisecond, enough of them.
 *
 * first: none
 */
#include "answers.h"

int main(void)
{
	static double a[400];

#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 400; i++) {
#pragma omp task firstprivate(i)
		a[i] = work(1000);
	}
	sink = a[0];
	return 0;
}
