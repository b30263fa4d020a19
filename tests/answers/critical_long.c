/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical section holds a third of the work. The cure gathers it for each thread.
 *
 * first: lock_waiting
 */
#include "answers.h"

int main(void)
{
	static double all, own[64][8];

#pragma omp parallel for schedule(static)
	for (int i = 0; i < 4000; i++) {
		double x = work(20);
#ifdef CURED
		own[omp_get_thread_num()][0] += x + work(60);
#else
#pragma omp critical /* HERE */
		all += x + work(60);
#endif
	}
	sink = all + own[0][0];
	return 0;
}
