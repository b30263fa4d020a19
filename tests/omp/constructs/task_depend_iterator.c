/* SPDX-License-Identifier: BSD-2-Clause */
/* Dependences on a computed number of places. */
#include "depend.h"

/* Named by clauses only. */
int a[4];

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct truth *w[4], *all, *after;

			for (int i = 0; i < 4; i++)
				DEPEND(w[i], depend(out : a[i]));
			DEPEND(all, depend(iterator(int k = 0 : 4), in : a[k]));
			DEPEND(after, depend(iterator(int k = 1 : 3), inout : a[k]));
			for (int i = 0; i < 4; i++)
				expect__depends(all, w[i]);
			expect__depends(after, all);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
