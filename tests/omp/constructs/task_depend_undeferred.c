/* SPDX-License-Identifier: BSD-2-Clause */
/* Undeferred tasks wait for what they depend on first. */
#include "depend.h"

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
			DEPEND(u1, depend(in : a) if (0));
			DEPEND(w2, depend(out : a));
			DEPEND(u2, depend(inout : a) if (0));
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
