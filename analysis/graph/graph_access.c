/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of grain.h that read the graph's elements. */
#include "analysis/graph/counters.h"
#include "analysis/event/event_build.h"
#include "analysis/graph/graph.h"

#include <math.h>

const struct grain_info *grain_graph__info(const struct grain_graph *graph)
{
	return &graph->info;
}

const struct grain_truth *grain_graph__truth(const struct grain_graph *graph)
{
	return &graph->truth;
}

size_t grain_graph__loss_count(const struct grain_graph *graph)
{
	return graph->stream->loss_count;
}

const char *grain_graph__loss(const struct grain_graph *graph, size_t index, uint64_t *count)
{
	*count = graph->stream->losses[index].count;
	return graph->stream->losses[index].cause;
}

size_t grain_graph__definition_count(const struct grain_graph *graph)
{
	return graph->definition_count;
}

void grain_graph__definition(const struct grain_graph *graph, uint32_t definition,
			     struct grain_definition *out)
{
	*out = graph->definitions[definition];
}

size_t grain_graph__context_count(const struct grain_graph *graph)
{
	return graph->context_count;
}

void grain_graph__context(const struct grain_graph *graph, uint32_t context, struct grain_context *out)
{
	const struct context *c = &graph->contexts[context];
	const struct fulfilment *fulfilment =
		c->flags & CONTEXT_FULFILLED ? graph__fulfilment(graph, context) : NULL;

	*out = (struct grain_context){
		.kind = c->kind,
		.parent = c->parent,
		.definition = c->definition,
		.region = c->region,
		.join = c->join,
		.depth = c->depth,
		.first_item = c->first_item,
		.item_count = c->item_count,
		.start_ns = c->start_ns,
		.end_ns = c->end_ns,
		.exec_ns = c->exec_ns,
		.create_ns = c->create_ns,
		.wait_ns = c->wait_ns,
		.bookkeeping_ns = context__bookkeeping(graph, c),
		.lock_ns = context__lock(graph, c),
		.cpu_ns = graph->scheduler_seen ? context__cpu(graph, c) : 0,
		.cpu_known = graph->scheduler_seen,
		.fulfilled_ns = fulfilment ? fulfilment->time_ns : 0,
		.flags = c->task_flags,
		.undeferred = c->flags & CONTEXT_UNDEFERRED,
		.critical = c->flags & CONTEXT_CRITICAL,
		.incomplete = c->flags & CONTEXT_INCOMPLETE,
		.discarded = c->flags & CONTEXT_DISCARDED,
		.runtime = c->flags & CONTEXT_SPLIT,
		.detached = c->task_flags & EVENT_TASK_DETACH,
		.parallel_benefit = context__benefit(c),
		.load_balance = c->load_balance,
		.instantaneous_parallelism = context__parallelism(c),
		.work_deviation = graph__deviation(graph, context),
		.scatter = context__scatter(graph, c),
		.memory_hierarchy_utilization = context__memory_utilization(graph, context),
		.cache_miss_ratio = context__miss_ratio(graph, context),
		.problems = c->problems,
	};
}

size_t grain_graph__counter_count(const struct grain_graph *graph)
{
	return graph->stream->counter_count;
}

const char *grain_graph__counter_name(const struct grain_graph *graph, size_t counter)
{
	return graph->stream->counters[counter].name;
}

bool grain_graph__counter(const struct grain_graph *graph, uint32_t context, size_t counter, uint64_t *value)
{
	*value = counters__sum(graph, context, (int)counter);
	if (*value != COUNTER_UNKNOWN)
		return true;
	*value = 0;
	return false;
}

void grain_graph__item(const struct grain_graph *graph, uint32_t item, struct grain_item *out)
{
	const struct item *i = &graph->items[item];

	*out = (struct grain_item){
		.kind = (enum grain_item_kind)i->kind,
		.ref = i->ref,
		.tid = graph->threads[graph->places[i->place].thread].tid,
		.cpu = graph->places[i->place].cpu,
		.critical = i->flags & ITEM_CRITICAL,
		.start_ns = i->start_ns,
		.end_ns = graph__item_end(graph, item),
		.own_ns = i->own_ns,
	};
}

void grain_graph__fetch_items(const struct grain_graph *graph, uint32_t first, uint32_t count)
{
	enum { LINE = 64 / sizeof(struct item), MOST = 4 * LINE };

	for (uint32_t i = 0; i < count && i < MOST; i += LINE)
		__builtin_prefetch(&graph->items[first + i]);
}

bool grain_graph__edge_critical(const struct grain_graph *graph, enum grain_edge edge, uint32_t index)
{
	switch (edge) {
	case GRAIN_EDGE_CONTINUATION:
		return graph->items[index].flags & ITEM_ONWARD;
	case GRAIN_EDGE_CREATION:
		return graph->contexts[index].flags & CONTEXT_ENTERED;
	case GRAIN_EDGE_SYNCHRONIZATION:
		return graph->contexts[index].flags & CONTEXT_LEFT;
	}
	return false;
}

size_t grain_graph__join_count(const struct grain_graph *graph)
{
	return graph->join_count;
}

void grain_graph__join(const struct grain_graph *graph, uint32_t join, struct grain_join *out)
{
	const struct join *j = &graph->joins[join];

	*out = (struct grain_join){
		.kind = j->kind,
		.waiter = j->waiter,
		.region = j->region,
		.ordinal = j->ordinal,
		.joined = j->joined,
		.definition = j->definition,
		.start_ns = j->start_ns,
		.end_ns = j->end_ns,
		.critical = j->flags & JOIN_CRITICAL,
	};
}

size_t grain_graph__region_count(const struct grain_graph *graph)
{
	return graph->region_count;
}

void grain_graph__region(const struct grain_graph *graph, uint32_t region, struct grain_region *out)
{
	const struct region *r = &graph->regions[region];

	*out = (struct grain_region){
		.parent = r->parent,
		.definition = r->definition,
		.threads = r->threads,
		.first_member = r->first_member,
		.end_join = r->end_join,
		.start_ns = r->start_ns,
		.end_ns = r->end_ns,
		.tasks = r->tasks,
		.load_balance = r->load_balance,
		.max_active_tasks_per_thread = r->max_active,
		.incomplete = r->incomplete,
		.teams = r->teams,
	};
}

uint32_t grain_graph__member(const struct grain_graph *graph, uint32_t index)
{
	return graph->members[index].context;
}

size_t grain_graph__loop_count(const struct grain_graph *graph)
{
	return graph->loop_count;
}

/* Returns the number of iterations lower, lower + step, ... up to upper. 0: none, or too many to count. */
static uint64_t count_iterations(const struct event_loop *l)
{
	__int128 from, to, n;

	if (!l->has_lower || !l->has_upper || (l->has_step && l->step == 0))
		return 0;
	from = l->is_unsigned ? (__int128)(uint64_t)l->lower : l->lower;
	to = l->is_unsigned ? (__int128)(uint64_t)l->upper : l->upper;
	n = (to - from) / (l->has_step ? l->step : 1) + 1;
	if ((l->has_step && l->step < 0 ? from < to : to < from) || n > UINT64_MAX)
		return 0;
	return (uint64_t)n;
}

void grain_graph__loop(const struct grain_graph *graph, uint32_t loop, struct grain_loop *out)
{
	const struct loop *l = &graph->loops[loop];
	static const struct event_loop unknown;
	const struct event_loop *said = graph->stream->loops ? &graph->stream->loops[loop] : &unknown;

	*out = (struct grain_loop){
		.context = l->context,
		.region = l->context == GRAIN_NONE ? GRAIN_NONE : graph->contexts[l->context].region,
		.definition = l->definition,
		.join = l->join,
		.sections = l->sections,
		.schedule = said->sched	  ? event_sched_names[said->sched]
			    : l->sections ? "sections"
					  : NULL,
		.chunk = said->has_chunk ? said->chunk : 0,
		.bounds = l->hidden    ? GRAIN_BOUNDS_HIDDEN
			  : l->derived ? GRAIN_BOUNDS_DERIVED
				       : GRAIN_BOUNDS_OBSERVED,
		.ordered = said->ordered,
		.doacross = said->doacross,
		.nonmonotonic = said->nonmonotonic,
		.distribute = said->distribute,
		.incomplete = l->incomplete,
		.iterations = count_iterations(said),
		.chunks = l->chunks,
		.members = l->members,
		.start_ns = l->start_ns,
		.end_ns = l->end_ns,
		.exec_ns = l->exec_ns,
		.bookkeeping_ns = l->bookkeeping_ns,
		.load_balance = l->load_balance,
		.minimum_cores = l->minimum_cores,
	};
}

bool grain_graph__iterations(const struct grain_graph *graph, uint32_t context, struct grain_iterations *out)
{
	const struct context *c = &graph->contexts[context];
	const struct event_stream *s = graph->stream;
	const struct task_bounds *bounds;
	const struct chunk *chunk;

	if (c->kind != GRAIN_CHUNK) {
		bounds = graph__task_bounds(graph, context);
		if (bounds)
			*out = (struct grain_iterations){.loop = GRAIN_NONE,
							 .lower = bounds->lower,
							 .upper = bounds->upper,
							 .chunks = 1};
		return bounds;
	}
	chunk = &graph->chunks[c->number];
	*out = (struct grain_iterations){
		.loop = chunk->loop,
		.hidden = chunk->hidden,
		.is_unsigned = s->loops && s->loops[chunk->loop].is_unsigned,
		.lower = chunk->lower,
		.upper = chunk->upper,
		.chunks = chunk->count,
		.stride = s->loops && s->loops[chunk->loop].has_stride ? s->loops[chunk->loop].stride : 0,
	};
	return true;
}

size_t grain_graph__dependence_count(const struct grain_graph *graph)
{
	return graph->depend_count + graph->depend_wait_count;
}

void grain_graph__dependence(const struct grain_graph *graph, size_t index, struct grain_dependence *out)
{
	*out = (struct grain_dependence){.to = GRAIN_NONE, .join = GRAIN_NONE};
	if (index < graph->depend_count) {
		out->from = graph->depends[index].from;
		out->to = graph->depends[index].to;
		out->critical = graph->depends[index].critical;
	} else {
		out->from = graph->depend_waits[index - graph->depend_count].from;
		out->join = graph->depend_waits[index - graph->depend_count].join;
		out->critical = graph->depend_waits[index - graph->depend_count].critical;
	}
}

size_t grain_graph__lock_count(const struct grain_graph *graph)
{
	return graph->lock_count;
}

void grain_graph__lock(const struct grain_graph *graph, size_t index, struct grain_lock *out)
{
	*out = graph->locks[index];
}

const struct grain_totals *grain_graph__totals(const struct grain_graph *graph)
{
	return &graph->totals;
}

void grain_graph__problem(const struct grain_graph *graph, enum grain_problem problem,
			  struct grain_problem_summary *out)
{
	*out = graph->problems[problem];
}

size_t grain_graph__profile_count(const struct grain_graph *graph)
{
	return graph->profile_count;
}

void grain_graph__profile(const struct grain_graph *graph, size_t index, struct grain_profile *out)
{
	*out = graph->profiles[index];
}

bool grain_graph__profile_counter(const struct grain_graph *graph, size_t index, size_t counter,
				  uint64_t *sum, uint64_t *instances)
{
	const struct counters *c = graph->counters;

	*sum = *instances = 0;
	if (!c)
		return false;
	*sum = c->rows[index * c->count + counter].sum;
	*instances = c->rows[index * c->count + counter].instances;
	return *instances > 0;
}

size_t grain_graph__depth_count(const struct grain_graph *graph)
{
	return graph->depth_count;
}

void grain_graph__depth(const struct grain_graph *graph, size_t index, struct grain_depth *out)
{
	*out = graph->depths[index];
}

size_t grain_graph__advice_count(const struct grain_graph *graph)
{
	return graph->advice_count;
}

void grain_graph__advice(const struct grain_graph *graph, size_t index, struct grain_advice *out)
{
	*out = graph->advice[index].public;
}
