/* SPDX-License-Identifier: BSD-2-Clause */
/* Target regions on the host: undeferred tasks. */
#include "target.h"

static void nested(struct truth *in)
{
	struct truth *region = truth__region(in, __LINE__ + 1);
#pragma omp parallel num_threads(2)
	{
		struct truth *member = truth__member(region);

		TASK(member, , );
	}
}

static void makes_tasks(struct truth *in)
{
	TASK(in, if (0), TASK(t, , ));
	TASK(in, , );
}

static void again(struct truth *in)
{
	TARGET(in, , makes_tasks);
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region;

#ifdef __clang__
	expect__line("allow target_regions\n");
#endif
	TARGET(initial, , target__nothing);
	TARGET(initial, if (0), nested);
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

		TARGET(member, , makes_tasks);
#pragma omp single
		{
			TASK(in, , again(t); WAIT(t));
			TARGET(in, , nested);
			TASK(in, , );
			WAIT(in);
		}
		truth__barrier(member);
	}
}
