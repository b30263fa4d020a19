/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of two microseconds, repeated. The cure begins one around the loop that repeats them.
 *
 * first: small_regions
 */
#include "answers.h"

#define ROUNDS 60000
#define N 16

int main(void)
{ /* HERE for gcc */
	static double a[N];

#ifdef CURED
#pragma omp parallel for schedule(static)
	for (int i = 0; i < N; i++)
		for (int round = 0; round < ROUNDS; round++)
			a[i] += work(0.1);
#else
	for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for schedule(static) /* HERE */
		for (int i = 0; i < N; i++) /* HERE */
			a[i] += work(0.1);
	}
#endif
	sink = a[0];
	return 0;
}
