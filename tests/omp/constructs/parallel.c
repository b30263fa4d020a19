/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions of the default number of threads, of two, and of one by an if clause. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	truth__member(region);
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	truth__member(region);
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel if (omp_get_max_threads() > 100)
	truth__member(region);
}
