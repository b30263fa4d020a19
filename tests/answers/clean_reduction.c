/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A parallel loop with a reduction and a reasonable schedule.
 *
 * first: none
 */
#include "answers.h"

int main(void)
{
	double sum = 0;

#pragma omp parallel for schedule(dynamic, 50) reduction(+ : sum)
	for (int i = 0; i < 20000; i++)
		sum += work(10 + i % 20);
	sink = sum;
	return 0;
}
