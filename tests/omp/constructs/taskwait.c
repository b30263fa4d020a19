/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for children, not for grandchildren. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 6; i++)
				TASK(in, , TASK(t, , expect__spin(5000)); TASK(t, , ); WAIT(t); TASK(t, , ));
			WAIT(in);
			WAIT(in);
			TASK(in, , );
		}
		truth__barrier(member);
	}
}
