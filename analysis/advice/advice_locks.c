/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice on waiting for critical sections, ordered sections and locks, by the place in the source. */
#include "analysis/advice/advisor.h"
#include "analysis/advice/advice_text.h"

#include <math.h>
#include <string.h>

/* An upper bound of the waiting for locks that is on the critical path. */
static double critical_waiting(const struct advisor *a)
{
	const struct grain_graph *g = a->graph;
	double waiting = 0;
	size_t i;

	for (i = 0; i < g->context_count; i++)
		waiting += fmin((double)context__lock(g, &g->contexts[i]), (double)a->critical[i]);
	return waiting;
}

static void say(const struct grain_graph *g, const struct grain_lock *lock, struct advice *out)
{
	const char *where = advice__place(g, lock->definition);
	struct grain_evidence *evidence = &out->public.evidence;
	bool ordered = !strcmp(lock->kind, "ordered") || !strcmp(lock->kind, "doacross");
	char waits[32], wait[32], mean[32];

	evidence->grains = lock->waits;
	evidence->of = lock->waits;
	evidence->threads = g->info.threads;
	evidence->wait_ns = lock->wait_ns;
	snprintf(out->finding, sizeof out->finding,
		 "threads waited %s to enter the %s section or lock at %s, %s on average of %s %s",
		 advice__time((double)lock->wait_ns, wait), lock->kind, where,
		 advice__time((double)lock->wait_ns / (double)lock->waits, mean),
		 advice__count(lock->waits, waits), lock->waits == 1 ? "wait" : "waits");
	if (ordered)
		snprintf(out->text, sizeof out->text,
			 "shorten what must happen in order at %s: do as much as possible before and after "
			 "it, "
			 "and hand out small chunks",
			 where);
	else
		snprintf(out->text, sizeof out->text,
			 "enter %s less often or for a shorter time: gather results per thread and combine "
			 "them "
			 "once (reduction), use atomic for a single update, or several locks for separate "
			 "data",
			 where);
}

/*
 * What it saves not to wait. By the account: the waits, spread over the threads. Without one: an upper bound.
 */
static double saving(const struct advisor *a, const struct grain_lock *lock, double critical)
{
	const struct grain_account *account = grain_graph__account(a->graph);

	if (!account->why && account->threads)
		return (double)lock->wait_ns / account->threads;
	return advisor__shorter(a, (double)lock->wait_ns, fmin(critical, (double)lock->wait_ns));
}

int advisor__locks(struct advisor *a)
{
	struct grain_graph *g = a->graph;
	double critical = g->lock_count && g->info.threads > 1 ? critical_waiting(a) : 0;
	size_t i;

	/* With one thread, nobody waits for others. */
	for (i = 0; i < g->lock_count && i < ADVICE_CANDIDATES && g->info.threads > 1; i++) {
		const struct grain_lock *lock = &g->locks[i];
		double saves = saving(a, lock, critical);
		struct advice *advice;
		int error;

		if (saves < a->worth_ns)
			continue;
		error = advisor__add(a, GRAIN_ADVICE_LOCKS, GRAIN_PROBLEM_COUNT, lock->definition, saves,
				     &advice);
		if (error < 0)
			return error;
		say(g, lock, advice);
	}
	return 0;
}
