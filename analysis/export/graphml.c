/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the grain graph as GraphML: plain nodes and edges with typed attributes. yEd's property mapper and
 * Cytoscape's style panel can read these. Unknown values are left out. Identifiers of nodes are XML names;
 * the attribute "id" has those of elements.
 */
#include "analysis/graph/counters.h"
#include "analysis/include/grain_export.h"
#include "analysis/export/graphml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum key {
	KEY_LABEL,
	KEY_KIND,
	KEY_ID,
	KEY_PARENT,
	KEY_CONTEXT,
	KEY_SOURCE,
	KEY_FUNCTION,
	KEY_DEFINITION,
	KEY_DEPTH,
	KEY_START,
	KEY_END,
	KEY_OWN,
	KEY_EXEC,
	KEY_CPU_TIME,
	KEY_CREATE,
	KEY_WAIT,
	KEY_BOOKKEEPING,
	KEY_LOCK,
	KEY_MEMBERS,
	KEY_SHORTEST,
	KEY_LONGEST,
	KEY_TID,
	KEY_CPU,
	KEY_NODE,
	KEY_JOIN,
	KEY_LOWER,
	KEY_UPPER,
	KEY_CRITICAL,
	KEY_INCOMPLETE,
	KEY_DISCARDED,
	KEY_RUNTIME,
	KEY_PARALLEL_BENEFIT,
	KEY_LOAD_BALANCE,
	KEY_WORK_DEVIATION,
	KEY_INSTANTANEOUS_PARALLELISM,
	KEY_SCATTER,
	KEY_MEMORY_HIERARCHY_UTILIZATION,
	KEY_CACHE_MISS_RATIO,
	KEY_PROBLEM, /* one for each problem */
	KEY_EDGE_KIND = KEY_PROBLEM + GRAIN_PROBLEM_COUNT,
	KEY_EDGE_CRITICAL,
	KEY_GRAPH_SOURCE,
	KEY_GRAPH_UNIT,
	KEY_GRAPH_ABSENT, /* one for each problem */
	KEY_LOOK = KEY_GRAPH_ABSENT + GRAIN_PROBLEM_COUNT,
	KEY_COUNTER = KEY_LOOK + GRAPHML_LOOK_KEYS, /* one for each counter */
};

static const struct {
	const char *name, *type;
} node_keys[KEY_PROBLEM] = {
	[KEY_LABEL] = {"label", "string"},
	[KEY_KIND] = {"kind", "string"},
	[KEY_ID] = {"id", "string"},
	[KEY_PARENT] = {"parent", "string"},
	[KEY_CONTEXT] = {"context", "string"},
	[KEY_SOURCE] = {"source", "string"},
	[KEY_FUNCTION] = {"function", "string"},
	[KEY_DEFINITION] = {"definition", "int"},
	[KEY_DEPTH] = {"depth", "int"},
	[KEY_START] = {"start_ns", "long"},
	[KEY_END] = {"end_ns", "long"},
	[KEY_OWN] = {"own_ns", "long"},
	[KEY_EXEC] = {"exec_ns", "long"},
	[KEY_CPU_TIME] = {"cpu_ns", "long"},
	[KEY_CREATE] = {"create_ns", "long"},
	[KEY_WAIT] = {"wait_ns", "long"},
	[KEY_BOOKKEEPING] = {"bookkeeping_ns", "long"},
	[KEY_LOCK] = {"lock_ns", "long"},
	[KEY_MEMBERS] = {"members", "int"},
	[KEY_SHORTEST] = {"shortest_ns", "long"},
	[KEY_LONGEST] = {"longest_ns", "long"},
	[KEY_TID] = {"tid", "long"},
	[KEY_CPU] = {"cpu", "int"},
	[KEY_NODE] = {"node", "int"},
	[KEY_JOIN] = {"join", "string"},
	[KEY_LOWER] = {"lower", "long"},
	[KEY_UPPER] = {"upper", "long"},
	[KEY_CRITICAL] = {"critical", "boolean"},
	[KEY_INCOMPLETE] = {"incomplete", "boolean"},
	[KEY_DISCARDED] = {"discarded", "boolean"},
	[KEY_RUNTIME] = {"runtime", "boolean"},
	[KEY_PARALLEL_BENEFIT] = {"parallel_benefit", "double"},
	[KEY_LOAD_BALANCE] = {"load_balance", "double"},
	[KEY_WORK_DEVIATION] = {"work_deviation", "double"},
	[KEY_INSTANTANEOUS_PARALLELISM] = {"instantaneous_parallelism", "double"},
	[KEY_SCATTER] = {"scatter", "double"},
	[KEY_MEMORY_HIERARCHY_UTILIZATION] = {"memory_hierarchy_utilization", "double"},
	[KEY_CACHE_MISS_RATIO] = {"cache_miss_ratio", "double"},
};

static const char *const item_kinds[] = {"fragment", "fork", "region", "join", "bookkeeping", "chunk"};
static const char *const join_kinds[] = {"taskwait", "taskgroup", "barrier", "region-end", "loop"};
static const char *const reduced_kinds[] = {"grain", "fork", "region", "join", "bookkeeping"};
static const char *const edge_kinds[] = {"creation", "continuation", "synchronization", "dependence"};

/* ---- the head ---------------------------------------------------------- */

static void declare(struct export *e, unsigned key, const char *of, const char *prefix, const char *name,
		    const char *type)
{
	PUT(e, "<key id=\"d");
	json_out__uint(e->out, key);
	PUT(e, "\" for=\"");
	export__text(e, of);
	PUT(e, "\" attr.name=\"");
	export__text(e, prefix);
	export__xml(e, name);
	PUT(e, "\" attr.type=\"");
	export__text(e, type);
	PUT(e, "\"/>\n");
}

static void begin_data(struct export *e, unsigned key)
{
	PUT(e, "<data key=\"d");
	json_out__uint(e->out, key);
	PUT(e, "\">");
}

static void end_data(struct export *e)
{
	PUT(e, "</data>");
}

static void put_text(struct export *e, unsigned key, const char *text)
{
	begin_data(e, key);
	export__xml(e, text);
	end_data(e);
}

static void put_number(struct export *e, unsigned key, uint64_t value)
{
	/* GraphML's long is signed. */
	if (value > INT64_MAX)
		return;
	begin_data(e, key);
	json_out__uint(e->out, value);
	end_data(e);
}

static void put_ratio(struct export *e, unsigned key, double value)
{
	if (!isfinite(value))
		return;
	begin_data(e, key);
	json_out__double(e->out, value);
	end_data(e);
}

static void put_truth(struct export *e, unsigned key, bool value)
{
	begin_data(e, key);
	export__text(e, value ? "true" : "false");
	end_data(e);
}

static void put_id(struct export *e, unsigned key, enum id_kind kind, uint32_t index)
{
	if (index == GRAIN_NONE)
		return;
	begin_data(e, key);
	export__id(e, kind, index);
	end_data(e);
}

static void write_head(struct export *e)
{
	const struct grain_graph *g = e->graph;

	PUT(e, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
	       "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
	       "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
	       "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\"");
	if (e->positions)
		PUT(e, " xmlns:y=\"http://www.yworks.com/xml/graphml\"");
	PUT(e, ">\n");
	for (unsigned k = 0; k < KEY_PROBLEM; k++)
		declare(e, k, "node", "", node_keys[k].name, node_keys[k].type);
	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		declare(e, KEY_PROBLEM + i, "node", "problem_", g->problems[i].name, "boolean");
	for (unsigned i = 0; i < g->stream->counter_count; i++)
		declare(e, KEY_COUNTER + i, "node", "counter_", g->stream->counters[i].name, "long");
	declare(e, KEY_EDGE_KIND, "edge", "", "kind", "string");
	declare(e, KEY_EDGE_CRITICAL, "edge", "", "critical", "boolean");
	declare(e, KEY_GRAPH_SOURCE, "graph", "", "source", "string");
	declare(e, KEY_GRAPH_UNIT, "graph", "", "unit", "string");
	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		declare(e, KEY_GRAPH_ABSENT + i, "graph", "absent_", g->problems[i].name, "string");
	if (e->positions)
		graphml__declare_looks(e, KEY_LOOK);
	PUT(e, "<graph id=\"grains\" edgedefault=\"directed\">\n");
	put_text(e, KEY_GRAPH_SOURCE, g->info.source);
	put_text(e, KEY_GRAPH_UNIT, g->info.cycles ? "cycles" : "ns");
	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		if (!g->problems[i].available)
			put_text(e, KEY_GRAPH_ABSENT + i, g->problems[i].why);
	PUT(e, "\n");
}

/* ---- nodes ------------------------------------------------------------- */

void graphml__name(struct export *e, struct node node)
{
	export__bytes(e, &node.prefix, 1);
	json_out__uint(e->out, node.index);
}

static void begin_node(struct export *e, struct node node, const char *kind)
{
	PUT(e, "<node id=\"");
	graphml__name(e, node);
	PUT(e, "\">");
	put_text(e, KEY_KIND, kind);
}

static void end_node(struct export *e)
{
	PUT(e, "</node>\n");
}

static void put_definition(struct export *e, uint32_t definition)
{
	const struct grain_definition *d;

	if (definition == GRAIN_NONE)
		return;
	d = &e->graph->definitions[definition];
	put_text(e, KEY_SOURCE, d->source);
	if (d->function[0])
		put_text(e, KEY_FUNCTION, d->function);
	put_number(e, KEY_DEFINITION, definition);
}

static void put_place(struct export *e, const struct item *item)
{
	const struct spot *place = &e->graph->places[item->place];

	put_number(e, KEY_TID, e->graph->threads[place->thread].tid);
	put_number(e, KEY_CPU, place->cpu);
	if (e->nodes[place->cpu] != GRAIN_NONE)
		put_number(e, KEY_NODE, e->nodes[place->cpu]);
}

static void put_bounds(struct export *e, uint32_t context)
{
	struct grain_iterations it;

	if (e->graph->contexts[context].kind != GRAIN_CHUNK && !e->graph->bounds_count)
		return;
	if (!grain_graph__iterations(e->graph, context, &it) || it.hidden ||
	    (it.is_unsigned && (it.lower < 0 || it.upper < 0)))
		return;
	begin_data(e, KEY_LOWER);
	json_out__int(e->out, it.lower);
	end_data(e);
	begin_data(e, KEY_UPPER);
	json_out__int(e->out, it.upper);
	end_data(e);
}

static void put_metrics(struct export *e, uint32_t context)
{
	const struct grain_graph *g = e->graph;
	const struct context *c = &g->contexts[context];

	put_ratio(e, KEY_PARALLEL_BENEFIT, context__benefit(c));
	put_ratio(e, KEY_LOAD_BALANCE, c->load_balance);
	put_ratio(e, KEY_WORK_DEVIATION, graph__deviation(g, context));
	put_ratio(e, KEY_INSTANTANEOUS_PARALLELISM, context__parallelism(c));
	put_ratio(e, KEY_SCATTER, context__scatter(e->graph, c));
	put_ratio(e, KEY_MEMORY_HIERARCHY_UTILIZATION, context__memory_utilization(g, context));
	put_ratio(e, KEY_CACHE_MISS_RATIO, context__miss_ratio(g, context));
	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		if (context__is_grain(c) && g->problems[i].available)
			put_truth(e, KEY_PROBLEM + i, c->problems & 1u << i);
}

/* Writes what is known of a context on each node of its execution. */
static void put_context(struct export *e, uint32_t context)
{
	const struct grain_graph *g = e->graph;
	const struct context *c = &g->contexts[context];
	uint64_t value;

	put_id(e, KEY_LABEL, ID_CONTEXT, context);
	put_id(e, KEY_ID, ID_CONTEXT, context);
	put_id(e, KEY_PARENT, ID_CONTEXT, context__parent(g, c));
	put_text(e, KEY_CONTEXT, export_context_kinds[c->kind]);
	put_definition(e, c->definition);
	put_number(e, KEY_DEPTH, c->depth);
	put_number(e, KEY_EXEC, c->exec_ns);
	if (g->scheduler_seen)
		put_number(e, KEY_CPU_TIME, context__cpu(g, c));
	put_number(e, KEY_CREATE, c->create_ns);
	put_number(e, KEY_WAIT, c->wait_ns);
	put_number(e, KEY_BOOKKEEPING, context__bookkeeping(g, c));
	if (context__lock(g, c))
		put_number(e, KEY_LOCK, context__lock(g, c));
	put_id(e, KEY_JOIN, ID_JOIN, c->join);
	put_bounds(e, context);
	put_truth(e, KEY_INCOMPLETE, c->flags & CONTEXT_INCOMPLETE);
	if (c->flags & CONTEXT_DISCARDED)
		put_truth(e, KEY_DISCARDED, true);
	if (c->flags & CONTEXT_SPLIT)
		put_truth(e, KEY_RUNTIME, true);
	put_metrics(e, context);
	for (size_t i = 0; i < g->stream->counter_count; i++)
		if (grain_graph__counter(g, context, i, &value))
			put_number(e, (unsigned)(KEY_COUNTER + i), value);
}

static void put_times(struct export *e, uint64_t start, uint64_t end)
{
	put_number(e, KEY_START, start);
	put_number(e, KEY_END, end);
}

static void put_join(struct export *e, uint32_t join)
{
	const struct join *j = &e->graph->joins[join];

	put_id(e, KEY_LABEL, ID_JOIN, join);
	put_id(e, KEY_ID, ID_JOIN, join);
	put_text(e, KEY_CONTEXT, join_kinds[j->kind]);
	if (j->start_ns != UINT64_MAX)
		put_times(e, j->start_ns, j->end_ns);
}

static void put_item_look(struct export *e, uint32_t index, const struct item *item)
{
	static const enum grain_reduced_kind kinds[] = {[GRAIN_FRAGMENT] = GRAIN_REDUCED_CONTEXT,
							[GRAIN_FORK] = GRAIN_REDUCED_FORK,
							[GRAIN_REGION] = GRAIN_REDUCED_REGION,
							[GRAIN_BOOKKEEPING] = GRAIN_REDUCED_BOOKKEEPING};
	const struct context *c = &e->graph->contexts[graph__item_context(e->graph, index)];
	bool runs = item->kind == GRAIN_FRAGMENT;
	const struct graphml_look look = {.kind = kinds[item->kind],
					  .critical = item->flags & ITEM_CRITICAL,
					  .flagged = runs && c->problems,
					  .own_ns = item->own_ns,
					  .definition = runs ? c->definition : GRAIN_NONE};

	graphml__node_look(e, KEY_LOOK, (struct node){'i', index}, &look);
}

static void write_item(struct export *e, uint32_t index)
{
	const struct grain_graph *g = e->graph;
	const struct item *item = &g->items[index];

	begin_node(e, (struct node){'i', index}, item_kinds[item->kind]);
	if (item->kind == GRAIN_FRAGMENT) {
		put_context(e, graph__item_context(g, index));
	} else {
		put_text(e, KEY_LABEL, item_kinds[item->kind]);
		put_id(e, KEY_PARENT, ID_CONTEXT, graph__item_context(g, index));
		if (item->kind == GRAIN_FORK)
			put_definition(e, g->contexts[item->ref].definition);
		else if (item->kind == GRAIN_REGION)
			put_definition(e, g->regions[item->ref].definition);
		else
			put_definition(e, g->loops[item->ref].definition);
	}
	if (item->kind == GRAIN_REGION)
		put_id(e, KEY_ID, ID_REGION, item->ref);
	put_times(e, item->start_ns, graph__item_end(g, index));
	put_number(e, KEY_OWN, item->own_ns);
	put_place(e, item);
	put_truth(e, KEY_CRITICAL, item->flags & ITEM_CRITICAL);
	if (e->positions)
		put_item_look(e, index, item);
	end_node(e);
}

/* Sums up the waits of all threads for each join. */
static void sum_waits(const struct grain_graph *g, uint64_t *sums)
{
	for (size_t i = 0; i < g->item_count; i++)
		if (g->items[i].kind == GRAIN_JOIN)
			sums[g->items[i].ref] += g->items[i].own_ns;
}

static int write_full_nodes(struct export *e)
{
	const struct grain_graph *g = e->graph;
	uint64_t *sums = calloc(g->join_count + 1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	sum_waits(g, sums);
	for (size_t i = 0; i < g->item_count && !e->out->error; i++)
		if (g->items[i].kind != GRAIN_JOIN && g->items[i].kind != GRAIN_CHUNK_ITEM)
			write_item(e, (uint32_t)i);
	for (uint32_t i = 0; i < g->join_count && !e->out->error; i++) {
		begin_node(e, (struct node){'j', i}, "join");
		put_join(e, i);
		put_number(e, KEY_OWN, sums[i]);
		put_truth(e, KEY_CRITICAL, g->joins[i].flags & JOIN_CRITICAL);
		if (e->positions)
			graphml__node_look(e, KEY_LOOK, (struct node){'j', i},
					   &(struct graphml_look){.kind = GRAIN_REDUCED_JOIN,
								  .critical =
									  g->joins[i].flags & JOIN_CRITICAL,
								  .definition = GRAIN_NONE});
		end_node(e);
	}
	free(sums);
	return 0;
}

static void write_reduced_node(struct export *e, const struct grain_reduced *reduced, uint32_t index)
{
	const struct grain_graph *g = e->graph;
	struct grain_reduced_node n;

	grain_reduced__node(reduced, index, &n);
	begin_node(e, (struct node){'n', index}, reduced_kinds[n.kind]);
	if (n.kind == GRAIN_REDUCED_CONTEXT) {
		const struct context *c = &g->contexts[n.context];

		put_context(e, n.context);
		if (c->flags & CONTEXT_BEGUN)
			put_times(e, c->start_ns, c->end_ns);
		if (n.members)
			put_place(e, &g->items[grain_reduced__item(reduced, index, 0)]);
	} else if (n.kind == GRAIN_REDUCED_JOIN && n.join != GRAIN_NONE) {
		put_join(e, n.join);
	} else {
		put_text(e, KEY_LABEL, reduced_kinds[n.kind]);
		put_id(e, KEY_PARENT, ID_CONTEXT, n.context);
		if (n.kind == GRAIN_REDUCED_FORK)
			put_id(e, KEY_JOIN, ID_JOIN, n.join);
		else if (n.kind == GRAIN_REDUCED_BOOKKEEPING)
			put_id(e, KEY_ID, ID_LOOP, n.loop);
		else
			put_id(e, KEY_ID, ID_REGION, n.region);
	}
	put_number(e, KEY_MEMBERS, n.members);
	put_number(e, KEY_OWN, n.sum_ns);
	if (n.members) {
		put_number(e, KEY_SHORTEST, n.min_ns);
		put_number(e, KEY_LONGEST, n.max_ns);
	}
	put_truth(e, KEY_CRITICAL, n.critical);
	if (e->positions) {
		const struct context *c = n.kind == GRAIN_REDUCED_CONTEXT ? &g->contexts[n.context] : NULL;

		graphml__node_look(e, KEY_LOOK, (struct node){'n', index},
				   &(struct graphml_look){.kind = n.kind,
							  .critical = n.critical,
							  .flagged = c && c->problems,
							  .own_ns = n.sum_ns,
							  .definition = c ? c->definition : GRAIN_NONE});
	}
	end_node(e);
}

/* ---- edges ------------------------------------------------------------- */

void graphml__edge(struct export *e, struct node from, struct node to, enum grain_reduced_edge_kind kind,
		   bool critical)
{
	if (from.index == GRAIN_NONE || to.index == GRAIN_NONE ||
	    (from.prefix == to.prefix && from.index == to.index))
		return;
	PUT(e, "<edge source=\"");
	graphml__name(e, from);
	PUT(e, "\" target=\"");
	graphml__name(e, to);
	PUT(e, "\">");
	put_text(e, KEY_EDGE_KIND, edge_kinds[kind]);
	put_truth(e, KEY_EDGE_CRITICAL, critical);
	if (e->positions)
		graphml__edge_look(e, KEY_LOOK, from, to, kind, critical);
	PUT(e, "</edge>\n");
}

static int write_reduced(struct export *e)
{
	struct grain_reduced *reduced;
	struct grain_reduced_edge edge;
	int error = grain_reduced__new(e->graph, &reduced);

	if (error)
		return error;
	for (size_t i = 0; i < grain_reduced__node_count(reduced) && !e->out->error; i++)
		write_reduced_node(e, reduced, (uint32_t)i);
	for (size_t i = 0; i < grain_reduced__edge_count(reduced) && !e->out->error; i++) {
		grain_reduced__edge(reduced, i, &edge);
		graphml__edge(e, (struct node){'n', edge.from}, (struct node){'n', edge.to}, edge.kind,
			      edge.critical);
	}
	grain_reduced__free(reduced);
	return 0;
}

int grain_graph__write_graphml(const struct grain_graph *graph, enum grain_reduction reduction, FILE *out)
{
	return grain_graph__write_graphml_at(graph, reduction, NULL, out);
}

int grain_graph__write_graphml_at(const struct grain_graph *graph, enum grain_reduction reduction,
				  const struct grain_positions *positions, FILE *out)
{
	struct export e;
	int error = export__begin(&e, graph, out);

	if (error)
		return error;
	e.positions = positions;
	write_head(&e);
	if (reduction == GRAIN_REDUCED) {
		error = write_reduced(&e);
	} else {
		error = write_full_nodes(&e);
		if (!error)
			graphml__full_edges(&e);
	}
	PUT(&e, "</graph>\n</graphml>\n");
	return export__end(&e, error);
}
