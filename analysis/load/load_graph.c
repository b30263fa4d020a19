/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a graph from a file or a stream of events, with all metrics, and frees it. */
#include "analysis/compare/compare.h"
#include "analysis/account/account.h"
#include "analysis/advice/advice.h"
#include "analysis/metrics/metrics.h"
#include "analysis/replay/replay.h"
#include "analysis/graph/counters.h"
#include "analysis/event/event_build.h"
#include "analysis/graph/graph.h"
#include "analysis/graph/sample_names.h"
#include "analysis/metrics/profile.h"
#include "analysis/machine/numa.h"
#include "analysis/machine/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct grain_error *err, int error, const struct grain_load_opts *opts)
{
	char text[160];

	if (err && !err->text[0]) {
		memory_bound__say(memory_bound(opts), text);
		if (error == -E2BIG)
			snprintf(err->text, sizeof err->text, "the graph %s", text);
		else
			snprintf(err->text, sizeof err->text, "cannot build the graph: %s", strerror(-error));
	}
	return error;
}

static void drop_events(struct grain_graph *g)
{
	struct event_stream *s = g->stream;

	free(s->events);
	s->events = NULL;
	g->memory.used -= (uint64_t)s->capacity * sizeof *s->events;
	g->memory.used -= (uint64_t)s->reading_count * sizeof *s->readings;
	s->count = s->capacity = 0;
	g->events_dropped = true;
	free(s->readings);
	s->readings = NULL;
	s->reading_count = 0;
}

static int compute(struct grain_graph *g, const struct grain_load_opts *opts, struct grain_error *err)
{
	int error = graph__read_topology(g, err);

	if (error == 0)
		error = graph__find_nodes(g);
	if (error == 0)
		error = graph__number_definitions(g);
	if (error == 0)
		error = counters__begin(g);
	/* The replay takes over the memory of the events. */
	if (error == 0)
		error = graph__account(g);
	if (error == 0)
		error = graph__replay(g, opts, err);
	if (error < 0)
		return error;
	if (!opts || !opts->keep_events)
		drop_events(g);
	error = graph__arrange(g);
	if (error == 0)
		error = graph__name_samples(g);
	if (error == 0)
		error = graph__name_serial(g);
	if (error == 0)
		error = graph__name_loops(g);
	if (error == 0)
		error = graph__check_conservation(g);
	if (error == 0)
		error = graph__find_span(g);
	if (error == 0)
		error = graph__measure_parallelism(g);
	if (error == 0)
		error = graph__measure_counters(g);
	if (error == 0)
		error = graph__measure_siblings(g);
	if (error == 0)
		error = graph__measure_loops(g);
	if (error == 0)
		error = graph__measure_deviation(g, opts ? opts->baseline : NULL);
	if (error < 0)
		return error;
	graph__flag_problems(g);
	error = graph__profile(g);
	if (error == 0)
		error = graph__name_neighbours(g);
	if (error == 0)
		error = graph__profile_counters(g);
	if (error == 0)
		error = graph__profile_deviation(g);
	if (error == 0)
		error = graph__measure_numa(g);
	if (error == 0)
		error = graph__advise(g);
	if (error == 0)
		folded__apply(g);
	memory__release(&g->memory, (void **)&g->path_start, g->context_count, sizeof *g->path_start);
	memory__release(&g->memory, (void **)&g->path_end, g->context_count, sizeof *g->path_end);
	memory__release(&g->memory, (void **)&g->inclusive_ns, g->context_count, sizeof *g->inclusive_ns);
	return error;
}

int grain_graph__build(struct event_stream *stream, const struct grain_load_opts *opts,
		       struct grain_graph **out, struct grain_error *err)
{
	struct grain_graph *g = calloc(1, sizeof *g);
	uint64_t events = (uint64_t)stream->capacity * sizeof *stream->events +
			  (uint64_t)stream->reading_count * sizeof *stream->readings;
	int error;

	if (err)
		err->text[0] = '\0';
	if (!g) {
		event_stream__free(stream);
		return fail(err, -ENOMEM, opts);
	}
	g->stream = stream;
	g->memory.max = memory_bound(opts);
	g->memory.used = events;
	if (events > g->memory.max) {
		grain_graph__free(g);
		return fail(err, -E2BIG, opts);
	}
	g->info = stream->info;
	if (!g->info.times_derived)
		g->info.threads = 1;
	g->truth = stream->truth;
	if (!g->truth.first_violation)
		g->truth.first_violation = "";
	if (opts && opts->settings)
		g->settings = *opts->settings;
	else
		grain_settings__default(&g->settings);
	error = compute(g, opts, err);
	if (error < 0) {
		grain_graph__free(g);
		return fail(err, error, opts);
	}
	if (g->violation[0])
		g->truth.first_violation = g->violation;
	if (opts && opts->progress)
		opts->progress(opts->progress_ctx, 1.0);
	*out = g;
	return 0;
}

int grain_graph__load(const char *path, const struct grain_load_opts *opts, struct grain_graph **out,
		      struct grain_error *err)
{
	struct event_stream *stream = NULL;
	int error;

	if (err)
		err->text[0] = '\0';
	error = event_stream__read(path, opts, &stream, err);
	if (error < 0)
		return fail(err, error, opts);
	return grain_graph__build(stream, opts, out, err);
}

int grain_graph__load_fd(int fd, const char *name, const struct grain_load_opts *opts,
			 struct grain_graph **out, struct grain_error *err)
{
	struct event_stream *stream = NULL;
	int error;

	if (err)
		err->text[0] = '\0';
	error = event_stream__read_fd(fd, name, opts, &stream, err);
	if (error < 0)
		return fail(err, error, opts);
	return grain_graph__build(stream, opts, out, err);
}

void grain_graph__free(struct grain_graph *graph)
{
	if (!graph)
		return;
	event_stream__free(graph->stream);
	account__free(graph->account);
	free(graph->contexts);
	free(graph->scatters);
	free(graph->rares);
	free(graph->taken);
	free(graph->samples);
	sample_names__free(graph->functions);
	sample_names__free(graph->lines);
	free(graph->neighbours);
	free(graph->raw);
	free(graph->items);
	free(graph->places);
	free(graph->aparts);
	free(graph->joins);
	free(graph->regions);
	free(graph->members);
	free(graph->loops);
	free(graph->chunks);
	free(graph->visits);
	free(graph->bounds);
	free(graph->depends);
	free(graph->depend_waits);
	free(graph->fulfilments);
	free(graph->locks);
	free(graph->threads);
	free(graph->definition_of_source);
	free(graph->definitions);
	free(graph->definition_text);
	free(graph->profiles);
	free(graph->depths);
	free(graph->advice);
	free(graph->imbalance);
	counters__free(graph->counters);
	numa__free(graph->numa);
	topology__free(graph->topology);
	free(graph->deviation);
	free(graph->path_start);
	free(graph->path_end);
	free(graph->inclusive_ns);
	tasking__free(graph->tasking);
	free(graph);
}

int grain_graph__write_log(const struct grain_graph *graph, FILE *out)
{
	if (graph->events_dropped)
		return -ENODATA;
	return event_stream__write_log(graph->stream, out);
}
