/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks whose body runs in the call that creates them. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			TASK(in, if (0), TASK(t, if (0), TASK(t, if (0), )));
			TASK(in, if (0), TASK(t, , ); WAIT(t));
			TASK(in, final(1), TASK(t, , TASK(t, , )));
			TASK(in, final(1) mergeable, TASK(t, mergeable, ));
			TASK(in, , );
		}
		truth__barrier(member);
	}
}
