/* SPDX-License-Identifier: BSD-2-Clause */
/* Every context as one line of JSON. */
#include "analysis/graph/graph.h"
#include "analysis/graph/counters.h"
#include "analysis/graph/graph_ids.h"
#include "analysis/export/json_keys.h"
#include "analysis/export/json_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY(out, text) json_out__raw_key(out, ",\"" text "\":", sizeof(",\"" text "\":") - 1)

struct lines {
	const struct grain_graph *graph;
	struct json_out *out;
	char *id; /* buffer; an identifier ends at the buffer's end. It grows to the longest identifier */
	size_t id_size;
	size_t next_depend; /* index of the first dependence that is not written yet */
	uint32_t *nodes;    /* per CPU: its node, or GRAIN_NONE */
};

static const char *const kinds[] = {"initial", "implicit", "task", "chunk"};

/* Returns the identifier. NULL: there was no memory, and the writer's error is set. */
static const char *id_of(struct lines *l, enum id_kind kind, uint32_t index, size_t *length)
{
	*length = graph__id_before(l->graph, kind, index, l->id + l->id_size, l->id_size);
	if (*length > l->id_size) {
		char *larger = realloc(l->id, *length * 2);

		if (!larger) {
			l->out->error = l->out->error ? l->out->error : -ENOMEM;
			return NULL;
		}
		l->id = larger;
		l->id_size = *length * 2;
		graph__id_before(l->graph, kind, index, l->id + l->id_size, l->id_size);
	}
	return l->id + l->id_size - *length;
}

static void write_id(struct lines *l, enum id_kind kind, uint32_t index)
{
	const char *id;
	size_t length;

	id = index == GRAIN_NONE ? NULL : id_of(l, kind, index, &length);
	if (id)
		json_out__plain(l->out, id, length);
	else
		json_out__null(l->out);
}

/*
 * Writes the identifiers of a context and its parent. The parent's identifier is mostly that of the context
 * without its last number.
 */
static void write_ids(struct lines *l, uint32_t context)
{
	const struct context *c = &l->graph->contexts[context];
	size_t length;
	const char *id = id_of(l, ID_CONTEXT, context, &length);

	json_out__key(l->out, "id");
	if (!id) {
		json_out__null(l->out);
		return;
	}
	json_out__plain(l->out, id, length);
	KEY(l->out, "parent");
	if (c->kind == GRAIN_TASK && c->parent != GRAIN_NONE && c->single == GRAIN_NONE &&
	    !(c->flags & CONTEXT_SPLIT)) {
		while (id[--length] != '.')
			;
		json_out__plain(l->out, id, length);
	} else {
		write_id(l, ID_CONTEXT, context__parent(l->graph, c));
	}
}

static uint32_t *nodes_of_cpus(const struct grain_graph *g)
{
	uint32_t *nodes = malloc((UINT16_MAX + 1) * sizeof *nodes);
	size_t i;

	if (!nodes)
		return NULL;
	for (i = 0; i <= UINT16_MAX; i++)
		nodes[i] = GRAIN_NONE;
	for (i = g->stream->cpu_count; i-- > 0;)
		if (g->stream->cpus[i].cpu <= UINT16_MAX)
			nodes[g->stream->cpus[i].cpu] = g->stream->cpus[i].node;
	return nodes;
}

static void write_fragments(struct lines *l, const struct context *c)
{
	const struct grain_graph *g = l->graph;
	struct json_out *o = l->out;
	uint32_t i, node, past = c->first_item + c->item_count;

	KEY(o, "fragments");
	json_out__open(o, '[');
	for (i = c->first_item; i < past; i++) {
		const struct item *item = &g->items[i];
		const struct spot *place = &g->places[item->place];

		if (item->kind != GRAIN_FRAGMENT)
			continue;
		json_out__open(o, '{');
		json_out__key(o, "start_ns");
		json_out__uint(o, item->start_ns);
		KEY(o, "end_ns");
		json_out__uint(o, graph__item_end(g, i));
		KEY(o, "tid");
		json_out__uint(o, g->threads[place->thread].tid);
		KEY(o, "cpu");
		json_out__uint(o, place->cpu);
		KEY(o, "node");
		node = l->nodes[place->cpu];
		if (node == GRAIN_NONE)
			json_out__null(o);
		else
			json_out__uint(o, node);
		json_out__close(o, '}');
	}
	json_out__close(o, ']');
}

static void write_times(struct lines *l, const struct context *c)
{
	struct json_out *o = l->out;

	KEY(o, "start_ns");
	json_out__uint(o, c->start_ns);
	KEY(o, "end_ns");
	json_out__uint(o, c->end_ns);
	KEY(o, "exec_ns");
	json_out__uint(o, c->exec_ns);
	KEY(o, "cpu_ns");
	if (l->graph->scheduler_seen)
		json_out__uint(o, context__cpu(l->graph, c));
	else
		json_out__null(o);
	KEY(o, "create_ns");
	json_out__uint(o, c->create_ns);
	KEY(o, "wait_ns");
	json_out__uint(o, c->wait_ns);
	KEY(o, "bookkeeping_ns");
	json_out__uint(o, context__bookkeeping(l->graph, c));
}

static void write_bound(struct json_out *o, const struct grain_iterations *it, int64_t bound)
{
	if (it->hidden)
		json_out__null(o);
	else if (it->is_unsigned)
		json_out__uint(o, (uint64_t)bound);
	else
		json_out__int(o, bound);
}

static void write_bounds(struct lines *l, uint32_t context)
{
	const struct context *c = &l->graph->contexts[context];
	struct grain_iterations it = {.hidden = true};
	struct json_out *o = l->out;

	if (c->kind == GRAIN_CHUNK || l->graph->bounds_count)
		grain_graph__iterations(l->graph, context, &it);
	KEY(o, "lower");
	write_bound(o, &it, it.lower);
	KEY(o, "upper");
	write_bound(o, &it, it.upper);
	if (c->kind != GRAIN_CHUNK)
		return;
	KEY(o, "loop");
	write_id(l, ID_LOOP, it.loop);
	KEY(o, "chunks");
	json_out__uint(o, it.chunks);
	KEY(o, "stride");
	if (it.chunks > 1 && it.stride)
		json_out__int(o, it.stride);
	else
		json_out__null(o);
	if (it.hidden) {
		KEY(o, "note");
		json_out__string(o, "static share, bounds not observable");
	}
}

/* Writes the keys that only some grains have. */
static void write_state(struct lines *l, uint32_t context)
{
	const struct grain_graph *g = l->graph;
	const struct context *c = &g->contexts[context];
	const struct fulfilment *fulfilment;
	struct json_out *o = l->out;

	if (c->flags & CONTEXT_DISCARDED) {
		KEY(o, "discarded");
		json_out__bool(o, true);
	}
	if (g->scheduler_seen && context__off(g, c)) {
		KEY(o, "scheduled");
		json__write_scheduled(o, g, context);
	}
	if (c->flags & CONTEXT_SPLIT) {
		KEY(o, "runtime");
		json_out__bool(o, true);
	}
	json__write_accesses_of(o, g, context);
	if (context__lock(g, c)) {
		KEY(o, "lock_ns");
		json_out__uint(o, context__lock(g, c));
	}
	if (c->kind != GRAIN_TASK || !(c->task_flags & EVENT_TASK_DETACH))
		return;
	fulfilment = graph__fulfilment(g, context);
	KEY(o, "fulfilled_ns");
	if (fulfilment)
		json_out__uint(o, fulfilment->time_ns);
	else
		json_out__null(o);
}

static void write_dependences(struct lines *l, uint32_t context)
{
	const struct grain_graph *g = l->graph;

	KEY(l->out, "depends_on");
	json_out__open(l->out, '[');
	while (l->next_depend < g->depend_count && g->depends[l->next_depend].to < context)
		l->next_depend++;
	for (; l->next_depend < g->depend_count && g->depends[l->next_depend].to == context; l->next_depend++)
		write_id(l, ID_CONTEXT, g->depends[l->next_depend].from);
	json_out__close(l->out, ']');
}

/* For each taskwait with depend, writes the tasks that it waited for. */
static void write_depend_waits(struct lines *l, const struct context *c)
{
	const struct grain_graph *g = l->graph;
	struct json_out *o = l->out;
	uint32_t i, past = c->first_item + c->item_count;
	bool any = false;

	for (i = c->first_item; i < past; i++) {
		size_t k = g->items[i].kind == GRAIN_JOIN ? graph__first_depend_wait(g, g->items[i].ref)
							  : g->depend_wait_count;

		if (k == g->depend_wait_count)
			continue;
		if (!any) {
			KEY(o, "depend_waits");
			json_out__open(o, '[');
			any = true;
		}
		json_out__open(o, '{');
		json_out__key(o, "join");
		write_id(l, ID_JOIN, g->items[i].ref);
		json_out__key(o, "depends_on");
		json_out__open(o, '[');
		for (; k < g->depend_wait_count && g->depend_waits[k].join == g->items[i].ref; k++)
			write_id(l, ID_CONTEXT, g->depend_waits[k].from);
		json_out__close(o, ']');
		json_out__close(o, '}');
	}
	if (any)
		json_out__close(o, ']');
}

static void write_metrics(struct lines *l, uint32_t context)
{
	const struct context *c = &l->graph->contexts[context];
	struct json_out *o = l->out;

	KEY(o, "counters");
	json__write_counters(o, l->graph, context);
	KEY(o, "parallel_benefit");
	json_out__double(o, context__benefit(c));
	KEY(o, "work_deviation");
	json_out__double(o, graph__deviation(l->graph, context));
	KEY(o, "instantaneous_parallelism");
	json_out__double(o, context__parallelism(c));
	KEY(o, "scatter");
	json_out__double(o, context__scatter(l->graph, c));
	KEY(o, "load_balance");
	json_out__double(o, c->load_balance);
	KEY(o, "memory_hierarchy_utilization");
	json_out__double(o, context__memory_utilization(l->graph, context));
	KEY(o, "cache_miss_ratio");
	json_out__double(o, context__miss_ratio(l->graph, context));
	KEY(o, "critical");
	json_out__bool(o, c->flags & CONTEXT_CRITICAL);
	KEY(o, "incomplete");
	json_out__bool(o, c->flags & CONTEXT_INCOMPLETE);
}

static void write_line(struct lines *l, uint32_t context)
{
	const struct grain_graph *g = l->graph;
	const struct context *c = &g->contexts[context];
	struct json_out *o = l->out;

	json_out__open(o, '{');
	write_ids(l, context);
	KEY(o, "kind");
	json_out__plain(o, kinds[c->kind], strlen(kinds[c->kind]));
	KEY(o, "source");
	json_out__string(o, c->definition == GRAIN_NONE ? NULL : g->definitions[c->definition].source);
	KEY(o, "definition");
	if (c->definition == GRAIN_NONE)
		json_out__null(o);
	else
		json_out__uint(o, c->definition);
	KEY(o, "depth");
	json_out__uint(o, c->depth);
	write_times(l, c);
	write_fragments(l, c);
	KEY(o, "join");
	write_id(l, ID_JOIN, c->join);
	write_bounds(l, context);
	write_metrics(l, context);
	write_state(l, context);
	write_dependences(l, context);
	if (g->depend_wait_count)
		write_depend_waits(l, c);
	json_out__close(o, '}');
	json_out__line(o);
}

int grain_graph__write_grains_json(const struct grain_graph *graph, FILE *out)
{
	struct lines l = {.graph = graph, .id_size = 256};
	size_t i;

	l.id = malloc(l.id_size);
	l.nodes = nodes_of_cpus(graph);
	l.out = json_out__new(out);
	if (!l.id || !l.nodes || !l.out) {
		free(l.id);
		free(l.nodes);
		free(l.out);
		return -ENOMEM;
	}
	for (i = 0; i < graph->context_count && !l.out->error; i++)
		write_line(&l, (uint32_t)i);
	free(l.id);
	free(l.nodes);
	return json_out__finish(l.out);
}
