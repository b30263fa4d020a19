/* SPDX-License-Identifier: BSD-2-Clause */
/* Dependences that are kept in an object. */
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
			struct truth *w1, *r1, *w2;
			omp_depend_t d;

			(void)d;

#pragma omp depobj(d) depend(inout : a)
			DEPEND(w1, depend(depobj : d));
#pragma omp depobj(d) update(in)
			DEPEND(r1, depend(depobj : d));
#pragma omp depobj(d) update(out)
			DEPEND(w2, depend(depobj : d));
#pragma omp depobj(d) destroy
			expect__depends(r1, w1);
			expect__depends(w2, r1);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
