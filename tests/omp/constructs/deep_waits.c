/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits nested deeper than the kernel's return probes: their ends are seen late, which is said. */
#include "expect.h"

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
		waiting_chain(in, 120);
		truth__barrier(member);
	}
	expect__line("allow unclosed_waits\n");
}
