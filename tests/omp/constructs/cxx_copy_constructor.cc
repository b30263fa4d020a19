/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks with copies that a constructor makes. */
#include "expect.h"

namespace
{
struct long_string {
	int value;
	long_string() : value(7)
	{
	}
	long_string(const long_string &other) : value(other.value)
	{
		expect__spin(1000);
	}
	~long_string()
	{
		value = 0;
	}
};
} // namespace

static long sum;

static void add(const long_string &text)
{
	__atomic_fetch_add(&sum, text.value, __ATOMIC_SEQ_CST);
}

static void inner(struct truth *in, long_string text)
{
	TASK(in, firstprivate(text) if (0), add(text));
}

CONSTRUCT construct(struct truth *initial)
{
	sum = 0;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			long_string text;

			for (int i = 0; i < 6; i++)
				TASK(in, firstprivate(text), add(text); inner(t, text));
			WAIT(in);
			expect__check(sum == 12 * 7);
		}
		truth__barrier(member);
	}
}
