/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of writers that are unordered among themselves. */
#include "depend.h"

/* Compilers without the kind: what later ones store in the object. */
static void make_inoutset(omp_depend_t *object)
{
#ifdef __clang__
	struct {
		void *address;
		size_t length;
		unsigned char flags;
	} * info;

	memcpy(&info, object, sizeof(info));
	info->flags = 8;
#else
	size_t kind = 5;

	memcpy((char *)object + sizeof(size_t), &kind, sizeof(kind));
#endif
}

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
			struct truth *w1, *s1, *s2, *r1;
			omp_depend_t set;

#pragma omp depobj(set) depend(inout : a)
			make_inoutset(&set);
			DEPEND(w1, depend(out : a));
			DEPEND(s1, depend(depobj : set));
			DEPEND(s2, depend(depobj : set));
			DEPEND(r1, depend(in : a));
			expect__depends(s1, w1);
			expect__depends(s2, w1);
			expect__depends(r1, s1);
			expect__depends(r1, s2);
			WAIT(in);
		}
		truth__barrier(member);
	}
}
