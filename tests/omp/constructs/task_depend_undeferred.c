/* SPDX-License-Identifier: BSD-2-Clause */
/* Undeferred tasks wait for what they depend on first. */
#include "expect.h"

/* Named by clauses only. */
int a;

#define DEPEND(name, clauses)                                                                                \
	do {                                                                                                 \
		name = truth__task(in, __LINE__);                                                            \
		struct truth *t = name;                                                                      \
		TASK_PRAGMA(clauses)                                                                         \
		{                                                                                            \
			truth__begin(t);                                                                     \
			expect__spin(5000);                                                                  \
			truth__end(t);                                                                       \
		}                                                                                            \
		truth__created();                                                                            \
	} while (0)

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
