/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop of equal iterations.
 *
 * first: none
 */
#include "answers.h"

int main(void)
{
	static double a[4000];

	for (int round = 0; round < 5; round++) {
#pragma omp parallel for schedule(static)
		for (int i = 0; i < 4000; i++)
			a[i] += work(20);
	}
	sink = a[0];
	return 0;
}
