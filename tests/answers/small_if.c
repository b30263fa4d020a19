/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of a microsecond, repeated. The cure leaves them to one thread.
 *
 * first: small_regions
 */
#include "answers.h"

#ifdef CURED
#define MANY 0
#else
#define MANY 1
#endif

int main(void)
{ /* HERE for gcc */
	static double a[8];

	for (int round = 0; round < 100000; round++) {
#pragma omp parallel for schedule(static) if (MANY) /* HERE */
		for (int i = 0; i < 8; i++)	    /* HERE */
			a[i] += work(0.1);
	}
	sink = a[0];
	return 0;
}
