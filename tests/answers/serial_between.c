/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Half of the work lies between the regions, where one thread works alone.
 *
 * first: serial_code
 */
#include "answers.h"

static double a[1000], b[1000];

int main(void)
{
	for (int round = 0; round < 10; round++) {
#pragma omp parallel for schedule(static)
		for (int i = 0; i < 1000; i++)
			a[i] = work(20);
#ifdef CURED
#pragma omp parallel for schedule(static)
#endif
		for (int i = 0; i < 1000; i++)
			b[i] = a[i] + work(20);
	}
	sink = b[0];
	return 0;
}
