/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds which bodies of a MIR profile ran inside which waits.
 *
 * The file has the end and the own time of each task. Own time stands still while another body runs on the
 * worker. Going backwards from its end, a task has run since the end of the last body before it. If that is
 * less than its own time, that body ran inside the task. Repeating this gives every begin and the end of
 * every wait. Only the time that the runtime spent on switching is unknown: no task's time includes it.
 */
#include "analysis/mir/mir.h"

#include <stdlib.h>

struct frame {
	uint32_t row, wait; /* wait: number of waits whose ends are not found yet */
	int64_t now;	    /* the walk has come back to this time */
	int64_t left;	    /* own time before `now` */
};

static int by_end(const void *a, const void *b, void *ctx)
{
	const struct mir *m = ctx;
	const struct mir_row *x = &m->rows[*(const uint32_t *)a], *y = &m->rows[*(const uint32_t *)b];

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	/* If two bodies have the same end, assume that the longer one ended last. */
	if (x->exec != y->exec)
		return x->exec < y->exec ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/*
 * Walks the frame back from `now` to `since`, or to its begin if that is later. The frame ran in all of this
 * time.
 */
static void run_back(struct mir *m, struct frame *f, int64_t since)
{
	const struct mir_row *row = &m->rows[f->row];
	int64_t ran = f->now - since < f->left ? f->now - since : f->left;

	/* The end of one body and the begin of the next may overlap slightly. */
	if (ran < 0)
		ran = 0;
	for (; f->wait; f->wait--) {
		int64_t instant = (int64_t)m->waits[row->first_wait + f->wait - 1];

		if (instant < f->left - ran)
			break;
		m->passed[row->first_wait + f->wait - 1] =
			f->now - (f->left > instant ? f->left - instant : 0);
	}
	f->left -= ran;
	f->now = f->now - ran < -MIR_TIME_LIMIT ? -MIR_TIME_LIMIT : f->now - ran;
}

/*
 * Removes the top frame. It began when none of its own time is left. The frame below it ran until that time.
 */
static size_t leave(struct mir *m, struct frame *frames, size_t depth)
{
	struct frame *f = &frames[depth - 1];
	struct mir_row *row = &m->rows[f->row];

	run_back(m, f, f->now - f->left);
	if (f->now < row->begin)
		row->begin = f->now;
	if (depth > 1)
		frames[depth - 2].now = row->begin;
	return depth - 1;
}

/* Whether the body that ended at `end` ran inside the frame. */
static bool inside(const struct mir *m, const struct frame *f, int64_t end)
{
	return f->now - end < f->left || end > m->rows[f->row].begin;
}

int mir__walk(struct mir *m)
{
	uint32_t *list = NULL;
	struct frame *frames = NULL;
	size_t n = 0, depth = 0;
	int error = mir__array(m, m->row_count, sizeof(*list), (void **)&list);

	if (!error)
		error = mir__array(m, m->row_count, sizeof(*frames), (void **)&frames);
	for (size_t i = 0; i < m->row_count && !error; i++)
		if (!m->rows[i].made && m->rows[i].kind != MIR_UNUSED)
			list[n++] = (uint32_t)i;
	if (!error)
		qsort_r(list, n, sizeof(*list), by_end, m);
	for (size_t i = n; i-- > 0 && !error;) {
		const struct mir_row *row = &m->rows[list[i]];

		while (depth && (m->rows[frames[depth - 1].row].cpu != row->cpu ||
				 !inside(m, &frames[depth - 1], (int64_t)row->end)))
			depth = leave(m, frames, depth);
		if (depth)
			run_back(m, &frames[depth - 1], (int64_t)row->end);
		frames[depth++] = (struct frame){.row = list[i],
						 .wait = row->waits,
						 .now = (int64_t)row->end,
						 .left = (int64_t)row->exec};
	}
	while (depth)
		depth = leave(m, frames, depth);
	free(list);
	free(frames);
	return error;
}
