/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's libomp fails on detached tasks in a team of one. Locks that threads surely wait for, and an event,
 * by the names that Fortran calls them. */
#include "expect.h"

/* As Fortran's kinds: a lock is a word, an event is handed over by value. */
void omp_init_lock_(void **lock);
void omp_set_lock_(void **lock);
void omp_unset_lock_(void **lock);
void omp_destroy_lock_(void **lock);
void omp_init_nest_lock_(void **lock);
void omp_set_nest_lock_(void **lock);
void omp_unset_nest_lock_(void **lock);
void omp_destroy_nest_lock_(void **lock);
void omp_fulfill_event_(omp_event_handle_t event);

CONSTRUCT construct(struct truth *initial)
{
	unsigned wanting = 0, wanting_nested = 0, inside = 0;
	void *lock = NULL, *nested = NULL;

	omp_init_lock_(&lock);
	omp_init_nest_lock_(&nested);
	struct truth *region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel num_threads(omp_get_max_threads() > 1 ? omp_get_max_threads() : 2)
	{
		unsigned threads = omp_get_num_threads();
		struct truth *member = truth__member(region), *in;

#pragma omp barrier
		truth__barrier(member);
		expect__want(&wanting);
		omp_set_lock_(&lock);
		expect__hold(&wanting, threads);
		inside++;
		omp_unset_lock_(&lock);
#pragma omp barrier
		truth__barrier(member);
		expect__want(&wanting_nested);
		omp_set_nest_lock_(&nested);
		omp_set_nest_lock_(&nested);
		expect__hold(&wanting_nested, threads);
		inside++;
		omp_unset_nest_lock_(&nested);
		omp_unset_nest_lock_(&nested);
		if (member && member->ordinal == 0)
			expect__atleast(2 * (threads - 1), "lock-got kind=lock");
		in = truth__single(member);
#pragma omp single
		{
			omp_event_handle_t event = (omp_event_handle_t)0; /* set by the directive */
			struct truth *t = truth__task(in, __LINE__ + 1);
#pragma omp task detach(event) firstprivate(t)
			{
				truth__begin(t);
				omp_fulfill_event_(event);
				truth__end(t);
			}
			truth__created();
			expect__count(1, "task-fulfill");
			WAIT(in);
		}
		truth__barrier(member);
	}
	omp_destroy_nest_lock_(&nested);
	omp_destroy_lock_(&lock);
	expect__check(inside == wanting + wanting_nested);
}
