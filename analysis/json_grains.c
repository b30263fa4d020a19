/* SPDX-License-Identifier: BSD-2-Clause */
/* Every context as one line of JSON. */
#include "analysis/graph.h"
#include "analysis/graph_ids.h"
#include "analysis/json_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY(out, text) json_out__raw_key(out, ",\"" text "\":", sizeof(",\"" text "\":") - 1)

struct lines {
	const struct grain_graph *graph;
	struct json_out *out;
	char *id; /* identifiers end at its end; it grows to the longest */
	size_t id_size;
};

static const char *const kinds[] = {"initial", "implicit", "task", "chunk"};

/* The identifier, NULL with the writer's error set when there is no memory for it. */
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
 * The identifiers of a context and its parent; the parent's is mostly the
 * context's without its last number.
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
	if (c->kind == GRAIN_TASK && c->parent != GRAIN_NONE && c->single == GRAIN_NONE) {
		while (id[--length] != '.')
			;
		json_out__plain(l->out, id, length);
	} else {
		write_id(l, ID_CONTEXT, c->parent);
	}
}

static uint32_t node_of(const struct grain_graph *g, uint16_t cpu)
{
	size_t i;

	for (i = 0; i < g->stream->cpu_count; i++)
		if (g->stream->cpus[i].cpu == cpu)
			return g->stream->cpus[i].node;
	return GRAIN_NONE;
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

		if (item->kind != GRAIN_FRAGMENT)
			continue;
		json_out__open(o, '{');
		json_out__key(o, "start_ns");
		json_out__uint(o, item->start_ns);
		KEY(o, "end_ns");
		json_out__uint(o, item->end_ns);
		KEY(o, "tid");
		json_out__uint(o, g->threads[item->thread].tid);
		KEY(o, "cpu");
		json_out__uint(o, item->cpu);
		KEY(o, "node");
		node = node_of(g, item->cpu);
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
		json_out__uint(o, c->exec_ns > c->off_ns ? c->exec_ns - c->off_ns : 0);
	else
		json_out__null(o);
	KEY(o, "create_ns");
	json_out__uint(o, c->create_ns);
	KEY(o, "wait_ns");
	json_out__uint(o, c->wait_ns);
	KEY(o, "bookkeeping_ns");
	json_out__uint(o, c->bookkeeping_ns);
}

static void write_bounds(struct lines *l, const struct context *c)
{
	struct json_out *o = l->out;

	KEY(o, "lower");
	if (c->kind == GRAIN_CHUNK)
		json_out__int(o, l->graph->chunks[c->number].lower);
	else
		json_out__null(o);
	KEY(o, "upper");
	if (c->kind == GRAIN_CHUNK)
		json_out__int(o, l->graph->chunks[c->number].upper);
	else
		json_out__null(o);
}

static void write_metrics(struct lines *l, const struct context *c)
{
	struct json_out *o = l->out;

	KEY(o, "counters");
	json_out__open(o, '{');
	json_out__close(o, '}');
	KEY(o, "parallel_benefit");
	json_out__double(o, context__benefit(c));
	KEY(o, "work_deviation");
	json_out__null(o);
	KEY(o, "instantaneous_parallelism");
	json_out__double(o, context__parallelism(c));
	KEY(o, "scatter");
	json_out__double(o, c->scatter);
	KEY(o, "load_balance");
	json_out__double(o, c->load_balance);
	KEY(o, "memory_hierarchy_utilization");
	json_out__null(o);
	KEY(o, "critical");
	json_out__bool(o, c->flags & CONTEXT_CRITICAL);
	KEY(o, "incomplete");
	json_out__bool(o, c->flags & CONTEXT_INCOMPLETE);
	KEY(o, "depends_on");
	json_out__open(o, '[');
	json_out__close(o, ']');
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
	write_bounds(l, c);
	write_metrics(l, c);
	json_out__close(o, '}');
	json_out__line(o);
}

int grain_graph__write_grains_json(const struct grain_graph *graph, FILE *out)
{
	struct lines l = {.graph = graph, .id_size = 256};
	size_t i;

	l.id = malloc(l.id_size);
	l.out = json_out__new(out);
	if (!l.id || !l.out) {
		free(l.id);
		free(l.out);
		return -ENOMEM;
	}
	for (i = 0; i < graph->context_count && !l.out->error; i++)
		write_line(&l, (uint32_t)i);
	free(l.id);
	return json_out__finish(l.out);
}
