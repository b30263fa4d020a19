/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's libomp fails on detached tasks in a team of one. Tasks that are complete when an event is fulfilled,
 * before or after their body's end. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	struct truth *t;
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel num_threads(omp_get_max_threads() > 1 ? omp_get_max_threads() : 2)
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		{
			omp_event_handle_t event = (omp_event_handle_t)0; /* set by the directive */

			truth__group_begin(in);
#pragma omp taskgroup
			{
				struct truth *t = truth__task(in, __LINE__ + 1);
#pragma omp task detach(event) firstprivate(t)
				{
					truth__begin(t);
					expect__spin(2000);
					truth__end(t);
				}
				truth__created();
				TASK(in, firstprivate(event), omp_fulfill_event(event));
			}
			truth__group_end(in);
			t = truth__task(in, __LINE__ + 1);
#pragma omp task detach(event) firstprivate(t)
			{
				truth__begin(t);
				omp_fulfill_event(event);
				truth__end(t);
			}
			truth__created();
			expect__count(2, "task-fulfill");
			WAIT(in);
		}
		truth__barrier(member);
	}
}
