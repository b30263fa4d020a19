/* SPDX-License-Identifier: BSD-2-Clause */
/* What grain.h shows of the graph's elements. */
#include "analysis/graph.h"

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
		.flags = c->task_flags,
		.undeferred = c->flags & CONTEXT_UNDEFERRED,
		.critical = c->flags & CONTEXT_CRITICAL,
		.incomplete = c->flags & CONTEXT_INCOMPLETE,
		.parallel_benefit = context__benefit(c),
		.load_balance = c->load_balance,
		.instantaneous_parallelism = context__parallelism(c),
		.work_deviation = NAN,
		.scatter = c->scatter,
		.memory_hierarchy_utilization = NAN,
		.problems = c->problems,
	};
}

void grain_graph__item(const struct grain_graph *graph, uint32_t item, struct grain_item *out)
{
	const struct item *i = &graph->items[item];

	*out = (struct grain_item){
		.kind = i->kind,
		.ref = i->ref,
		.tid = graph->threads[i->thread].tid,
		.cpu = i->cpu,
		.critical = i->flags & ITEM_CRITICAL,
		.start_ns = i->start_ns,
		.end_ns = i->end_ns,
		.own_ns = i->own_ns,
	};
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
	};
}

uint32_t grain_graph__member(const struct grain_graph *graph, uint32_t index)
{
	return graph->members[index].context;
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
