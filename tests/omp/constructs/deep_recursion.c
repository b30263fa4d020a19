/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks in tasks in tasks, over 100 deep, deferred and not. */
#include "expect.h"

static void chain(struct truth *in, int depth)
{
	if (depth > 0)
		TASK(in, , chain(t, depth - 1));
}

static void undeferred_chain(struct truth *in, int depth)
{
	if (depth > 0)
		TASK(in, if (0), undeferred_chain(t, depth - 1));
}

static void waiting_chain(struct truth *in, int depth)
{
	if (depth > 0) {
		TASK(in, , waiting_chain(t, depth - 1));
		WAIT(in);
	}
}

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			chain(in, 150);
			undeferred_chain(in, 120);
			waiting_chain(in, 25);
		}
		truth__barrier(member);
	}
	expect__line("allow nested_creations\n");
}
