// SPDX-License-Identifier: BSD-2-Clause
/*
 * For a long job, the graph has only a part of the run. The rest was counted and summed up. This replaces the
 * part's numbers by those of the whole run, if they are known.
 */
#include "analysis/metrics/metrics.h"
#include "analysis/event/folded.h"
#include "analysis/metrics/profile.h"

#include <math.h>

static void add_up(uint64_t *to, uint64_t more)
{
	if (__builtin_add_overflow(*to, more, to))
		*to = UINT64_MAX;
}

static void merge(struct running_stat *to, const struct running_stat *from)
{
	if (!from->count)
		return;
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	add_up(&to->count, from->count);
	add_up(&to->sum, from->sum);
	if (__builtin_add_overflow(to->squares, from->squares, &to->squares))
		to->squares = ~(unsigned __int128)0;
}

void folded__profile(const struct grain_graph *g, struct profile_row *rows)
{
	static const enum grain_profile_of of[FOLD_KINDS] = {[FOLD_TASK] = GRAIN_PROFILE_TASKS,
							     [FOLD_TASKLOOP] = GRAIN_PROFILE_TASKS,
							     [FOLD_LOOP] = GRAIN_PROFILE_CHUNKS,
							     [FOLD_SECTIONS] = GRAIN_PROFILE_SECTIONS};
	const struct folded *folded = g->stream->folded;
	size_t n = profile__slots(g);

	if (!folded)
		return;
	for (size_t i = 0; i < n; i++) {
		struct grain_profile *p = &rows[i].profile;

		rows[i].exec = rows[i].create = rows[i].wait = (struct running_stat){0};
		p->instances = p->leaves = p->undeferred = p->incomplete = p->discarded = 0;
	}
	for (size_t i = 0; i < folded->count; i++) {
		const struct fold_row *sums = &folded->rows[i].sums;
		uint32_t source = folded->rows[i].source;
		size_t definition =
			source == GRAIN_NONE ? g->definition_count : g->definition_of_source[source];
		struct profile_row *row = &rows[definition * GRAIN_PROFILE_KINDS + of[sums->kind]];

		add_up(&row->profile.instances, sums->instances);
		add_up(&row->profile.leaves, sums->leaves);
		add_up(&row->profile.undeferred, sums->undeferred);
		add_up(&row->profile.incomplete, sums->incomplete);
		merge(&row->exec, &sums->exec);
		merge(&row->create, &sums->create);
		merge(&row->wait, &sums->wait);
		for (size_t b = 0; b < FOLD_BUCKETS; b++)
			add_up(&row->profile.exec_buckets[b], sums->buckets[b]);
	}
}

void folded__apply(struct grain_graph *g)
{
	const struct folded *folded = g->stream->folded;
	const struct fold_totals *t = folded ? &folded->totals : NULL;
	struct grain_coverage *coverage = &g->coverage;

	*coverage = (struct grain_coverage){.grains = g->totals.grains,
					    .events = g->truth.events,
					    .wall_ns = g->totals.wall_ns,
					    .work_ns = g->totals.work_ns,
					    .regions = g->region_count,
					    .why = "",
					    .first_ns = g->totals.wall_ns,
					    .unkept_why = ""};
	if (graph__windows_follow(g)) {
		coverage->first_ns = graph__first_window_ns(g);
		coverage->kept_regions = g->stream->window_count - 1;
	}
	if (!folded)
		return;
	coverage->partial = true;
	coverage->run_regions = t->regions;
	coverage->shares = t->shares;
	coverage->why = folded->why ? folded->why : "";
	coverage->regions_seen = folded->regions_seen;
	coverage->unkept_large = folded->unkept_large;
	coverage->unkept_overlapping = folded->unkept_overlapping;
	coverage->unkept_lost = folded->unkept_lost;
	coverage->unkept_room = folded->unkept_room;
	coverage->unkept_edge = folded->unkept_edge;
	coverage->unkept_why = folded->unkept_why ? folded->unkept_why : "";
	g->totals.tasks = t->tasks;
	g->totals.chunks = t->chunks;
	g->totals.grains = t->tasks;
	add_up(&g->totals.grains, t->chunks);
	g->totals.runtime_tasks = t->runtime_tasks;
	g->totals.discarded = 0;
	g->totals.work_ns = t->work_ns;
	g->totals.wall_ns = t->last_ns - t->first_ns;
	g->totals.events_per_s =
		g->totals.wall_ns ? (double)t->events * 1e9 / (double)g->totals.wall_ns : NAN;
	g->truth.lost -= folded->graph_lost;
	add_up(&g->truth.lost, t->lost);
	g->truth.lost_switches -= folded->graph_lost_switches;
	add_up(&g->truth.lost_switches, t->lost_switches);
	g->truth.events = t->events;
	g->truth.incomplete_grains = t->incomplete;
	g->truth.unmatched_begins = t->no_create;
	g->truth.unmatched_ends = t->unmatched_ends;
	g->truth.never_begun = t->never_begun;
	g->truth.never_ended = t->never_ended;
	g->truth.unclosed_waits = t->unclosed;
	add_up(&g->truth.dropped, folded->damaged);
}

const struct grain_coverage *grain_graph__coverage(const struct grain_graph *graph)
{
	return &graph->coverage;
}
