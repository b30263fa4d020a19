/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes every context as one line of comma-separated values. */
#include "analysis/graph/counters.h"
#include "analysis/export/export_text.h"
#include "analysis/include/grain_export.h"

#include <math.h>
#include <string.h>

static const char *const columns[] = {"id",	   "parent",   "kind",		 "source",    "definition",
				      "depth",	   "start_ns", "end_ns",	 "exec_ns",   "cpu_ns",
				      "create_ns", "wait_ns",  "bookkeeping_ns", "fragments", "tid",
				      "cpu",	   "node",     "join",		 "lower",     "upper",
				      "loop",	   "chunks",   "stride"};
static const char *const last_columns[] = {
	"parallel_benefit", "work_deviation", "instantaneous_parallelism",
	"scatter",	    "load_balance",   "memory_hierarchy_utilization",
	"cache_miss_ratio", "critical",	      "incomplete",
	"discarded",	    "runtime",	      "lock_ns",
	"fulfilled_ns",	    "depends_on"};

struct csv {
	struct export e;
	size_t next_depend; /* index of the first dependence that is not written yet */
};

static void comma(struct csv *v)
{
	PUT(&v->e, ",");
}

static void number(struct csv *v, uint64_t value)
{
	comma(v);
	json_out__uint(v->e.out, value);
}

static void number_or_none(struct csv *v, uint64_t value, bool known)
{
	if (known)
		number(v, value);
	else
		comma(v);
}

static void ratio(struct csv *v, double value)
{
	comma(v);
	if (isfinite(value))
		json_out__double(v->e.out, value);
}

static void truth(struct csv *v, bool value)
{
	comma(v);
	export__text(&v->e, value ? "true" : "false");
}

static void identifier(struct csv *v, enum id_kind kind, uint32_t index)
{
	comma(v);
	if (index != GRAIN_NONE)
		export__csv_id(&v->e, kind, index);
}

static void write_header(struct csv *v)
{
	const struct event_stream *s = v->e.graph->stream;
	char name[512];

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (i)
			comma(v);
		export__text(&v->e, columns[i]);
	}
	for (size_t i = 0; i < s->counter_count; i++) {
		comma(v);
		snprintf(name, sizeof(name), "counter_%s", s->counters[i].name);
		export__csv(&v->e, name);
	}
	for (size_t i = 0; i < sizeof(last_columns) / sizeof(last_columns[0]); i++) {
		comma(v);
		export__text(&v->e, last_columns[i]);
	}
	PUT(&v->e, "\r\n");
}

static void write_bound(struct csv *v, const struct grain_iterations *it, int64_t bound)
{
	comma(v);
	if (it->hidden)
		return;
	if (it->is_unsigned)
		json_out__uint(v->e.out, (uint64_t)bound);
	else
		json_out__int(v->e.out, bound);
}

static void write_bounds(struct csv *v, uint32_t context)
{
	struct grain_iterations it = {.hidden = true, .loop = GRAIN_NONE};
	bool chunk = v->e.graph->contexts[context].kind == GRAIN_CHUNK;

	if (chunk || v->e.graph->bounds_count)
		grain_graph__iterations(v->e.graph, context, &it);
	write_bound(v, &it, it.lower);
	write_bound(v, &it, it.upper);
	identifier(v, ID_LOOP, it.loop);
	number_or_none(v, it.chunks, chunk);
	comma(v);
	if (chunk && it.chunks > 1 && it.stride)
		json_out__int(v->e.out, it.stride);
}

static void write_places(struct csv *v, const struct context *c)
{
	const struct grain_graph *g = v->e.graph;
	const struct item *first = NULL;
	const struct spot *place;
	uint64_t fragments = 0;

	for (uint32_t i = c->first_item; i < c->first_item + c->item_count; i++) {
		if (g->items[i].kind != GRAIN_FRAGMENT)
			continue;
		first = first ? first : &g->items[i];
		fragments++;
	}
	number(v, fragments);
	place = first ? &g->places[first->place] : NULL;
	number_or_none(v, place ? g->threads[place->thread].tid : 0, place);
	number_or_none(v, place ? place->cpu : 0, place);
	number_or_none(v, place ? v->e.nodes[place->cpu] : 0, place && v->e.nodes[place->cpu] != GRAIN_NONE);
}

static void write_metrics(struct csv *v, uint32_t context)
{
	const struct grain_graph *g = v->e.graph;
	const struct context *c = &g->contexts[context];
	uint64_t value;

	for (size_t i = 0; i < g->stream->counter_count; i++) {
		bool known = grain_graph__counter(g, context, i, &value);

		number_or_none(v, value, known);
	}
	ratio(v, context__benefit(c));
	ratio(v, graph__deviation(g, context));
	ratio(v, context__parallelism(c));
	ratio(v, context__scatter(g, c));
	ratio(v, c->load_balance);
	ratio(v, context__memory_utilization(g, context));
	ratio(v, context__miss_ratio(g, context));
	truth(v, c->flags & CONTEXT_CRITICAL);
	truth(v, c->flags & CONTEXT_INCOMPLETE);
	truth(v, c->flags & CONTEXT_DISCARDED);
	truth(v, c->flags & CONTEXT_SPLIT);
}

/*
 * Writes the predecessors, separated by spaces. Names with bounds contain commas; the whole list is quoted
 * then.
 */
static void write_dependences(struct csv *v, uint32_t context)
{
	const struct grain_graph *g = v->e.graph;
	bool any = false;

	comma(v);
	while (v->next_depend < g->depend_count && g->depends[v->next_depend].to < context)
		v->next_depend++;
	for (; v->next_depend < g->depend_count && g->depends[v->next_depend].to == context;
	     v->next_depend++) {
		export__text(&v->e, any ? " " : "\"");
		export__id(&v->e, ID_CONTEXT, g->depends[v->next_depend].from);
		any = true;
	}
	export__text(&v->e, any ? "\"\r\n" : "\r\n");
}

static void write_line(struct csv *v, uint32_t context)
{
	const struct grain_graph *g = v->e.graph;
	const struct context *c = &g->contexts[context];
	const struct fulfilment *fulfilment = NULL;

	export__csv_id(&v->e, ID_CONTEXT, context);
	identifier(v, ID_CONTEXT, context__parent(g, c));
	comma(v);
	export__text(&v->e, export_context_kinds[c->kind]);
	comma(v);
	if (c->definition != GRAIN_NONE)
		export__csv(&v->e, g->definitions[c->definition].source);
	number_or_none(v, c->definition, c->definition != GRAIN_NONE);
	number(v, c->depth);
	number(v, c->start_ns);
	number(v, c->end_ns);
	number(v, c->exec_ns);
	number_or_none(v, context__cpu(g, c), g->scheduler_seen);
	number(v, c->create_ns);
	number(v, c->wait_ns);
	number(v, context__bookkeeping(g, c));
	write_places(v, c);
	identifier(v, ID_JOIN, c->join);
	write_bounds(v, context);
	write_metrics(v, context);
	number_or_none(v, context__lock(g, c), context__lock(g, c));
	if (c->kind == GRAIN_TASK && c->task_flags & EVENT_TASK_DETACH)
		fulfilment = graph__fulfilment(g, context);
	number_or_none(v, fulfilment ? fulfilment->time_ns : 0, fulfilment);
	write_dependences(v, context);
}

int grain_graph__write_csv(const struct grain_graph *graph, FILE *out)
{
	struct csv v = {.next_depend = 0};
	int error = export__begin(&v.e, graph, out);

	if (error)
		return error;
	write_header(&v);
	for (size_t i = 0; i < graph->context_count && !v.e.out->error; i++)
		write_line(&v, (uint32_t)i);
	return export__end(&v.e, 0);
}
