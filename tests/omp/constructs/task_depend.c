/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks in the order of their accesses; the edges are known from the clauses. */
#include "depend.h"

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
			struct truth *w1, *r1, *r2, *w2, *m1, *m2, *w3;

			DEPEND(w1, depend(out : a));
			DEPEND(r1, depend(in : a));
			DEPEND(r2, depend(in : a) depend(out : b));
			DEPEND(w2, depend(inout : a));
			DEPEND(m1, depend(mutexinoutset : a));
			DEPEND(m2, depend(mutexinoutset : a));
			DEPEND(w3, depend(in : a) depend(in : b));
			expect__depends(r1, w1);
			expect__depends(r2, w1);
			expect__depends(w2, r1);
			expect__depends(w2, r2);
			expect__depends(m1, w2);
			expect__depends(m2, w2);
			expect__depends(w3, m1);
			expect__depends(w3, m2);
			expect__depends(w3, r2);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
