/* SPDX-License-Identifier: BSD-2-Clause */
/* Untied tasks, which may go on elsewhere after a scheduling point. */
#include "expect.h"

static void parts(struct truth *me)
{
	TASK(me, untied, expect__spin(5000));
	WAIT(me);
	TASK(me, , expect__spin(5000));
	WAIT(me);
	TASK(me, , );
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 8; i++)
				TASK(in, untied, expect__spin(2000); WAIT(t); parts(t); WAIT(t));
		}
		truth__barrier(member);
	}
}
