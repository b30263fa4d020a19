/* SPDX-License-Identifier: BSD-2-Clause */
/* More dependences than fit into one small record. */
#include "depend.h"

/* Named by clauses only. */
int a[40];

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			struct truth *w[40], *all;

			for (int i = 0; i < 40; i++)
				DEPEND(w[i], depend(out : a[i]));
			DEPEND(all, depend(iterator(int k = 0 : 40), in : a[k]));
			for (int i = 0; i < 40; i++)
				expect__depends(all, w[i]);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
