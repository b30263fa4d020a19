/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions thrown and caught inside constructs. */
#include "expect.h"

static int caught;

static void throws_inside()
{
	try {
		throw 2;
	} catch (int) {
		__atomic_fetch_add(&caught, 1, __ATOMIC_SEQ_CST);
	}
}

static void catches(struct truth *in, int i)
{
	try {
		TASK(in, , );
		TASK(in, if (0), throws_inside());
		throw i;
	} catch (int) {
		__atomic_fetch_add(&caught, 1, __ATOMIC_SEQ_CST);
	}
	WAIT(in);
}

CONSTRUCT construct(struct truth *initial)
{
	caught = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			for (int i = 0; i < 6; i++)
				TASK(in, , catches(t, i));
			try {
				TASK(in, , );
				throw 1.0;
			} catch (double) {
				__atomic_fetch_add(&caught, 1, __ATOMIC_SEQ_CST);
			}
			WAIT(in);
			expect__check(caught == 13);
		}
		truth__barrier(member);
	}
}
