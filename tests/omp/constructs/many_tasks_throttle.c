/* SPDX-License-Identifier: BSD-2-Clause */
/* More tasks than a runtime keeps waiting: the rest run in the call that creates them. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 1500; i++)
				TASK(in, , );
			WAIT(in);
		}
		truth__barrier(member);
	}
}
