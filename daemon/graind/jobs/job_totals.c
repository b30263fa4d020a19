// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/jobs/job_totals.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/sums.h"

#include <stdio.h>
#include <string.h>

void job_totals__refused(struct job_totals *totals, int status)
{
	enum job_refusal why = status == 403			? REFUSED_DENIED
			       : status == 404			? REFUSED_GONE
			       : status == 409 || status == 503 ? REFUSED_BUSY
			       : status == 422			? REFUSED_UNSUITABLE
								: REFUSED_OTHER;

	totals->refused[why]++;
}

void job_figures__take(struct job_figures *out, const struct job_view *view)
{
	const char *base = strrchr(view->exe, '/');

	*out = (struct job_figures){
		.number = view->number,
		.uid = view->uid,
		.threads = view->threads,
		.grains = view->grains,
		.events = view->events,
		.lost = job_view__lost(view),
		.events_per_s = view->events_per_s,
		.overhead_percent = view->overhead_percent,
		.live = view->live,
		.measures = view->measures,
		.ceiling = view->ceiling,
		.account = view->account,
	};
	snprintf(out->user, sizeof(out->user), "%s", view->user);
	snprintf(out->command, sizeof(out->command), "%.63s", base ? base + 1 : view->exe);
	snprintf(out->runtime, sizeof(out->runtime), "%s", view->runtime);
}

void job_totals__add(struct job_totals *totals, const struct job_view *view)
{
	totals->grains = sums__add(totals->grains, view->grains);
	totals->events = sums__add(totals->events, view->events);
	for (size_t i = 0; i < LOST_CAUSES; i++)
		totals->lost[i] = sums__add(totals->lost[i], view->lost[i]);
	job_account__add(&totals->account, &view->account);
}

void job_totals__ended(struct job_totals *totals, const struct job_view *view)
{
	struct job_figures *job = &totals->ended[totals->ended_next++ % JOB_TOTALS_ENDED];

	if (view->state == JOB_FAILED)
		totals->failed++;
	else
		totals->finished++;
	job_totals__add(totals, view);
	job_figures__take(job, view);
	job->ended_ns = view->end_ns ? view->end_ns : clock__now_ns();
}
