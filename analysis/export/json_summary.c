/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary as JSON. */
#include "analysis/include/grain_account.h"
#include "analysis/include/grain_whatif.h"
#include "analysis/graph/graph.h"
#include "analysis/graph/graph_ids.h"
#include "analysis/export/json_keys.h"
#include "analysis/metrics/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void write_kept_regions(struct json_out *o, const struct grain_graph *g)
{
	struct grain_kept_region r;

	json_out__key(o, "kept_regions");
	json_out__open(o, '[');
	for (size_t i = 0; grain_graph__kept_region(g, i, &r); i++) {
		json_out__open(o, '{');
		key_uint(o, "start_ns", r.start_ns);
		key_uint(o, "wall_ns", r.end_ns - r.start_ns);
		json_out__key(o, "slowest");
		json_out__bool(o, r.slowest);
		json_out__key(o, "last");
		json_out__bool(o, r.last);
		json_out__key(o, "every");
		if (r.every)
			json_out__uint(o, r.every);
		else
			json_out__null(o);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

/*
 * Writes facts about the parallel regions after the first part: how many there were to choose from, and how
 * many could not be kept.
 */
static void write_not_kept(struct json_out *o, const struct grain_coverage *c)
{
	key_uint(o, "regions_after_first", c->regions_seen);
	json_out__key(o, "regions_not_considered");
	json_out__open(o, '{');
	key_uint(o, "large", c->unkept_large);
	key_uint(o, "overlapping", c->unkept_overlapping);
	key_uint(o, "lost_events", c->unkept_lost);
	key_uint(o, "no_room", c->unkept_room);
	key_uint(o, "edge", c->unkept_edge);
	json_out__close(o, '}');
	key_string(o, "not_kept_why", c->unkept_why[0] ? c->unkept_why : NULL);
}

/*
 * Writes which part of the run is in the graph. What is outside of this part counts only in definitions,
 * grains, events, work_ns and wall_ns.
 */
static void write_coverage(struct json_out *o, const struct grain_graph *g)
{
	const struct grain_coverage *c = &g->coverage;

	json_out__key(o, "coverage");
	json_out__open(o, '{');
	json_out__key(o, "whole");
	json_out__bool(o, !c->partial && !c->kept_regions);
	key_uint(o, "graph_grains", c->grains);
	key_uint(o, "graph_events", c->events);
	key_uint(o, "graph_wall_ns", c->wall_ns);
	key_uint(o, "graph_work_ns", c->work_ns);
	key_uint(o, "graph_regions", c->regions);
	key_uint(o, "graph_first_ns", c->first_ns);
	write_kept_regions(o, g);
	if (c->partial) {
		key_uint(o, "run_regions", c->run_regions);
		key_uint(o, "uncounted_static_shares", c->shares);
		key_string(o, "why", c->why[0] ? c->why : NULL);
		write_not_kept(o, c);
	}
	json_out__close(o, '}');
}

/* Writes the histogram of a long job: [upper bound in ns, instances] for each bucket that is not empty. */
static void write_buckets(struct json_out *o, const struct grain_profile *p)
{
	json_out__key(o, "exec_histogram");
	json_out__open(o, '[');
	for (size_t b = 0; b < sizeof(p->exec_buckets) / sizeof(p->exec_buckets[0]); b++) {
		if (!p->exec_buckets[b])
			continue;
		json_out__open(o, '[');
		json_out__uint(o, b < 64 ? UINT64_C(1) << b : UINT64_MAX);
		json_out__uint(o, p->exec_buckets[b]);
		json_out__close(o, ']');
	}
	json_out__close(o, ']');
}

/*
 * Returns the cause of losses whose place in their thread is known. It depends on the way of recording. NULL:
 * the producer names the cause.
 */
static const char *full_ring(const char *source)
{
	return !strcmp(source, "uprobes") ? "ring-full" : !strcmp(source, "shim") ? "shim-ring-full" : NULL;
}

/*
 * Writes `lost` events by cause. Losses whose place in their thread is known did not fit into the ring
 * `full`. `switches` of them did not fit into the ring of a CPU.
 */
static void write_losses(struct json_out *o, const struct event_stream *stream, uint64_t lost,
			 uint64_t switches, const char *full)
{
	struct {
		const char *cause;
		uint64_t placed;
	} rings[] = {{"ring-full", 0}, {full, lost}};
	const size_t count = sizeof(rings) / sizeof(rings[0]);

	for (size_t i = 0; i < stream->loss_count; i++)
		if (event_loss__is_of_events(&stream->losses[i]))
			rings[1].placed -= stream->losses[i].count < rings[1].placed ? stream->losses[i].count
										     : rings[1].placed;
	if (!full || strcmp(full, rings[0].cause))
		rings[0].placed = switches < rings[1].placed ? switches : rings[1].placed;
	rings[1].placed -= rings[0].placed;
	for (size_t i = 0; i < stream->loss_count; i++) {
		uint64_t all = stream->losses[i].count;

		for (size_t k = 0; k < count; k++) {
			if (!rings[k].cause || strcmp(stream->losses[i].cause, rings[k].cause))
				continue;
			all += rings[k].placed;
			rings[k].placed = 0;
		}
		key_uint(o, stream->losses[i].cause, all);
	}
	for (size_t k = 0; k < count; k++)
		if (rings[k].placed && rings[k].cause)
			key_uint(o, rings[k].cause, rings[k].placed);
}

static void write_grain_counts(struct json_out *o, const struct grain_graph *g)
{
	json_out__key(o, "grains");
	json_out__open(o, '{');
	key_uint(o, "total", g->totals.grains);
	key_uint(o, "tasks", g->totals.tasks);
	key_uint(o, "chunks", g->totals.chunks);
	key_uint(o, "incomplete", g->truth.incomplete_grains);
	key_uint(o, "below_resolution", g->truth.below_resolution);
	key_uint(o, "discarded", g->totals.discarded);
	key_uint(o, "detached", g->totals.detached);
	key_uint(o, "runtime_tasks", g->totals.runtime_tasks);
	json_out__close(o, '}');
}

static void write_events(struct json_out *o, const struct grain_graph *g)
{
	const struct grain_truth *t = &g->truth;

	json_out__key(o, "events");
	json_out__open(o, '{');
	key_uint(o, "seen", t->events);
	key_uint(o, "lost", t->lost);
	key_uint(o, "unmatched_begins", t->unmatched_begins);
	key_uint(o, "unmatched_ends", t->unmatched_ends);
	key_uint(o, "never_begun", t->never_begun);
	key_uint(o, "never_ended", t->never_ended);
	key_uint(o, "unclosed_waits", t->unclosed_waits);
	key_uint(o, "read_faults", t->read_faults);
	key_uint(o, "dropped", t->dropped);
	json_out__key(o, "losses");
	json_out__open(o, '{');
	write_losses(o, g->stream, t->lost, t->lost_switches, full_ring(g->info.source));
	json_out__close(o, '}');
	json_out__close(o, '}');
}

static void write_conservation(struct json_out *o, const struct grain_graph *g)
{
	const struct grain_truth *t = &g->truth;

	json_out__key(o, "conservation");
	json_out__open(o, '{');
	json_out__key(o, "claimed");
	json_out__bool(o, !g->info.times_derived);
	key_uint(o, "violations", t->conservation_violations);
	key_string(o, "first", t->first_violation[0] ? t->first_violation : NULL);
	json_out__close(o, '}');
}

static void write_overhead(struct json_out *o, const struct grain_graph *g)
{
	json_out__key(o, "overhead");
	json_out__open(o, '{');
	key_double(o, "events_per_s", g->totals.events_per_s);
	key_double(o, "ns_per_event", g->info.ns_per_event);
	key_double(o, "percent", g->totals.measuring_percent);
	json_out__close(o, '}');
}

static void write_head(struct json_out *o, const struct grain_graph *g, uint64_t job)
{
	const struct grain_info *info = &g->info;

	json_out__key(o, "job");
	if (job)
		json_out__uint(o, job);
	else
		json_out__null(o);
	json_out__key(o, "pid");
	if (info->pid >= 0)
		json_out__int(o, info->pid);
	else
		json_out__null(o);
	key_string(o, "exe", info->exe);
	key_string(o, "cmd", info->command);
	json_out__key(o, "uid");
	if (info->uid >= 0)
		json_out__int(o, info->uid);
	else
		json_out__null(o);
	key_string(o, "host", info->host);
	key_string(o, "runtime", info->runtime);
	key_uint(o, "threads", info->threads);
	key_uint(o, "start_ns", info->start_ns);
	key_uint(o, "wall_ns", g->totals.wall_ns);
	key_string(o, "source", info->source);
	key_string(o, "unit", info->cycles ? "cycles" : "ns");
	key_string(o, "times", info->times_derived ? "derived" : "observed");
	json_out__key(o, "late");
	json_out__bool(o, info->late);
	json_out__key(o, "damaged");
	json_out__bool(o, info->damaged);
	write_grain_counts(o, g);
	write_events(o, g);
	write_conservation(o, g);
	write_coverage(o, g);
	key_uint(o, "incomplete_regions", g->truth.incomplete_regions);
	key_uint(o, "work_ns", g->totals.work_ns);
	key_uint(o, "span_ns", g->totals.span_ns);
	key_uint(o, "burdened_span_ns", g->totals.burdened_span_ns);
	key_double(o, "average_parallelism", g->totals.average_parallelism);
	key_double(o, "baseline_matched_percent", g->totals.baseline_matched_percent);
	write_overhead(o, g);
}

static void write_definitions(struct json_out *o, const struct grain_graph *g)
{
	size_t i, k;

	json_out__key(o, "definitions");
	json_out__open(o, '[');
	for (i = 0; i < g->profile_count; i++) {
		const struct grain_profile *p = &g->profiles[i];
		const struct grain_definition *d =
			p->definition == GRAIN_NONE ? NULL : &g->definitions[p->definition];
		uint64_t complete = p->graph_complete;

		json_out__open(o, '{');
		json_out__key(o, "definition");
		if (d)
			json_out__uint(o, p->definition);
		else
			json_out__null(o);
		key_source(o, g, p->definition);
		key_string(o, "func", d ? d->function : NULL);
		key_string(o, "kind", p->kind);
		key_uint(o, "instances", p->instances);
		key_uint(o, "leaves", p->leaves);
		key_uint(o, "undeferred", p->undeferred);
		key_uint(o, "incomplete", p->incomplete);
		key_uint(o, "discarded", p->discarded);
		key_stat(o, "exec_ns", &p->exec);
		if (g->coverage.partial)
			write_buckets(o, p);
		key_stat(o, "create_ns", &p->create);
		key_stat(o, "wait_ns", &p->wait);
		json__write_construct(o, g, p);
		key_uint(o, "critical_path_ns", p->critical_path_ns);
		key_double(o, "preemption_share", p->preemption_share);
		key_double(o, "work_deviation", p->work_deviation);
		json__write_profile_counters(o, g, i);
		json_out__key(o, "problems");
		json_out__open(o, '{');
		for (k = 0; k < GRAIN_PROBLEM_COUNT; k++) {
			if (!g->problems[k].available)
				continue;
			json_out__key(o, g->problems[k].name);
			json_out__open(o, '{');
			key_uint(o, "grains", p->problem_grains[k]);
			key_double(o, "percent",
				   complete ? 100.0 * (double)p->problem_grains[k] / (double)complete : NAN);
			json_out__close(o, '}');
		}
		json_out__close(o, '}');
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_regions(struct json_out *o, const struct grain_graph *g)
{
	size_t i;

	json_out__key(o, "regions");
	json_out__open(o, '[');
	for (i = 0; i < g->region_count; i++) {
		const struct region *r = &g->regions[i];

		json_out__open(o, '{');
		key_id(o, "id", g, ID_REGION, (uint32_t)i);
		key_id_or_null(o, "parent", g, ID_CONTEXT, r->begun ? r->parent : GRAIN_NONE);
		key_string(o, "kind", r->teams ? "teams" : "parallel");
		key_source(o, g, r->definition);
		key_uint(o, "threads", r->threads);
		key_uint(o, "start_ns", r->start_ns);
		key_uint(o, "wall_ns", r->end_ns - r->start_ns);
		key_uint(o, "tasks", r->tasks);
		key_double(o, "load_balance", r->load_balance);
		key_uint(o, "max_active_tasks_per_thread", r->max_active);
		json__write_barriers(o, g, (uint32_t)i);
		json_out__key(o, "incomplete");
		json_out__bool(o, r->incomplete);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_tables(struct json_out *o, const struct grain_graph *g)
{
	size_t i;

	json_out__key(o, "depths");
	json_out__open(o, '[');
	for (i = 0; i < g->depth_count; i++) {
		json_out__open(o, '{');
		key_uint(o, "depth", g->depths[i].depth);
		key_uint(o, "grains", g->depths[i].grains);
		key_stat(o, "exec_ns", &g->depths[i].exec);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
	json__write_scheduling_points(o, g);
	json__write_task_depths(o, g);
	json__write_advice(o, g);
}

int grain_graph__write_summary_json(const struct grain_graph *graph, uint64_t job, FILE *out)
{
	return grain_graph__write_summary_json_whatif(graph, job, NULL, 0, out);
}

int grain_graph__write_summary_json_whatif(const struct grain_graph *graph, uint64_t job,
					   const struct grain_whatif_question *questions, size_t count,
					   FILE *out)
{
	struct json_out *o = json_out__new(out);
	int error, failed;

	if (!o)
		return -ENOMEM;
	json_out__open(o, '{');
	write_head(o, graph, job);
	json__write_windows(o, graph);
	json__write_problems(o, graph);
	write_definitions(o, graph);
	write_regions(o, graph);
	json__write_loops(o, graph);
	json__write_account(o, graph);
	key_string(o, "verdict", grain_verdict__name(grain_graph__verdict(graph)));
	error = json__write_sequences(o, graph);
	json__write_locks(o, graph);
	json__write_scheduler(o, graph);
	json__write_asked_counters(o, graph);
	json__write_numa(o, graph);
	if (!error)
		error = json__write_sampling(o, graph);
	write_tables(o, graph);
	json__write_whatif(o, graph, questions, count);
	json_out__close(o, '}');
	json_out__line(o);
	failed = json_out__finish(o);
	return error ? error : failed;
}
