/* SPDX-License-Identifier: BSD-2-Clause */
/* Dependences between target regions on the host and tasks. */
#include "depend.h"
#include "target.h"

/* Named by clauses only. */
int a, b;

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct truth *w1, *w2, *t1, *t2;

			DEPEND(w1, depend(out : a));
			TARGET_TASK(t1, in, nowait depend(inout : a), target__nothing);
			DEPEND(w2, depend(in : a));
			TARGET_TASK(t2, in, nowait depend(in : a, b), target__nothing);
			expect__depends(t1, w1);
			expect__depends(w2, t1);
			expect__depends(t2, t1);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
