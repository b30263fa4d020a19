/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for all descendants made inside, in groups inside groups. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			TASK(in, , );
			truth__group_begin(in);
#pragma omp taskgroup
			{
				TASK(in, , TASK(t, , TASK(t, , expect__spin(5000))));
				truth__group_begin(in);
#pragma omp taskgroup
				TASK(in, , TASK(t, , ));
				truth__group_end(in);
				TASK(in, , TASK(t, , ); WAIT(t); TASK(t, , ));
			}
			truth__group_end(in);
			TASK(in, , );
		}
		truth__barrier(member);
	}
}
