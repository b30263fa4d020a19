/* SPDX-License-Identifier: BSD-2-Clause */
/* Constructs in templates, lambdas and methods. */
#include "expect.h"

namespace shapes
{
template <typename T> struct worker {
	struct truth *in;
	void run(T n)
	{
		auto one = [this]() { TASK(in, , ); };

		for (T i = 0; i < n; i++)
			one();
	}
};
} // namespace shapes

CONSTRUCT construct(struct truth *initial)
{
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			shapes::worker<long> worker = {in};
			worker.run(5);
		}
		truth__barrier(member);
	}
}
