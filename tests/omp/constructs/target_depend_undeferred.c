/* SPDX-License-Identifier: BSD-2-Clause */
/* Target regions on the host wait for what they depend on first. */
#include "depend.h"
#include "target.h"

/* Named by clauses only. */
int a;

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct truth *w1, *u1, *w2, *u2;

			DEPEND(w1, depend(out : a));
			TARGET_TASK(u1, in, depend(in : a), target__nothing);
			DEPEND(w2, depend(out : a));
			TARGET_TASK(u2, in, depend(inout : a), target__nothing);
			expect__undeferred(u1);
			expect__undeferred(u2);
			expect__depends(u1, w1);
			expect__depends(w2, u1);
			expect__depends(u2, w2);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
