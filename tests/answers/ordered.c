/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All of the work happens in order. The cure does it before.
 *
 * first: lock_waiting
 */
#include "answers.h"

int main(void)
{
	double all = 0;

#pragma omp parallel for ordered schedule(static, 1) /* HERE */
	for (int i = 0; i < 4000; i++) {
		double x = work(20); /* HERE for gcc */
#ifdef CURED
		x += work(60);
#endif
#pragma omp ordered /* HERE */
		{
#ifndef CURED
			x += work(60);
#endif
			all += x;
		}
	}
	sink = all;
	return 0;
}
