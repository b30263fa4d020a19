/* SPDX-License-Identifier: BSD-2-Clause */
/* The task profile per definition and the table of depths. */
#include "analysis/graph.h"
#include "analysis/metrics.h"

#include <stdlib.h>
#include <string.h>

struct row {
	struct running_stat exec, create, wait;
	struct grain_profile profile;
};

/* Of each definition, and of none, a row for tasks, for chunks and for sections. */
enum { ROW_TASK, ROW_LOOP, ROW_SECTIONS, ROW_KINDS };

static struct row *row_of(const struct grain_graph *g, struct row *rows, const struct context *c)
{
	size_t definition = c->definition == GRAIN_NONE ? g->definition_count : c->definition;
	int kind = ROW_TASK;

	if (c->kind == GRAIN_CHUNK)
		kind = g->loops[g->chunks[c->number].loop].sections ? ROW_SECTIONS : ROW_LOOP;
	return &rows[definition * ROW_KINDS + kind];
}

static const char *kind_of(const struct grain_graph *g, size_t definition, int kind)
{
	if (kind != ROW_TASK)
		return kind == ROW_LOOP ? "loop" : "sections";
	return definition < g->definition_count && g->definitions[definition].kind[0]
		       ? g->definitions[definition].kind
		       : "task";
}

static void add(struct row *row, const struct context *c)
{
	struct grain_profile *p = &row->profile;
	int k;

	p->instances++;
	p->leaves += !!(c->flags & CONTEXT_LEAF);
	p->undeferred += !!(c->flags & CONTEXT_UNDEFERRED);
	if (c->flags & CONTEXT_INCOMPLETE) {
		p->incomplete++;
		return;
	}
	if (c->flags & CONTEXT_DISCARDED) {
		p->discarded++;
		return;
	}
	running_stat__add(&row->exec, c->exec_ns);
	running_stat__add(&row->create, c->kind == GRAIN_CHUNK ? c->bookkeeping_ns : c->create_ns);
	running_stat__add(&row->wait, c->wait_ns);
	for (k = 0; k < GRAIN_PROBLEM_COUNT; k++)
		p->problem_grains[k] += c->problems >> k & 1;
}

static void add_critical(const struct grain_graph *g, struct row *rows)
{
	size_t i;

	for (i = 0; i < g->item_count; i++) {
		const struct item *item = &g->items[i];
		const struct context *c = &g->contexts[item->context];

		if (item->kind == GRAIN_FRAGMENT && item->flags & ITEM_CRITICAL && context__is_grain(c))
			row_of(g, rows, c)->profile.critical_path_ns += item->own_ns;
	}
}

static int by_exec(const void *a, const void *b)
{
	const struct grain_profile *x = a, *y = b;

	if (x->exec.sum != y->exec.sum)
		return x->exec.sum > y->exec.sum ? -1 : 1;
	if (x->definition != y->definition)
		return x->definition < y->definition ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

static int keep_rows(struct grain_graph *g, struct row *rows)
{
	size_t i, kept = 0, n = (g->definition_count + 1) * ROW_KINDS;
	int error;

	for (i = 0; i < n; i++)
		g->profile_count += rows[i].profile.instances > 0;
	error = memory__array(&g->memory, g->profile_count, sizeof *g->profiles, (void **)&g->profiles);
	if (error < 0) {
		g->profile_count = 0;
		return error;
	}
	for (i = 0; i < n; i++) {
		struct grain_profile *p = &rows[i].profile;

		if (!p->instances)
			continue;
		p->definition = i / ROW_KINDS == g->definition_count ? GRAIN_NONE : (uint32_t)(i / ROW_KINDS);
		p->kind = kind_of(g, i / ROW_KINDS, (int)(i % ROW_KINDS));
		p->exec = running_stat__result(&rows[i].exec);
		p->create = running_stat__result(&rows[i].create);
		p->wait = running_stat__result(&rows[i].wait);
		g->profiles[kept++] = *p;
	}
	qsort(g->profiles, kept, sizeof *g->profiles, by_exec);
	return 0;
}

static int profile_definitions(struct grain_graph *g)
{
	struct row *rows = NULL;
	size_t i, n = (g->definition_count + 1) * ROW_KINDS;
	int error = memory__array(&g->memory, n, sizeof *rows, (void **)&rows);

	if (error < 0)
		return error;
	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (context__is_grain(c))
			add(row_of(g, rows, c), c);
	}
	add_critical(g, rows);
	error = keep_rows(g, rows);
	memory__release(&g->memory, (void **)&rows, n, sizeof *rows);
	return error;
}

static bool counts(const struct context *c)
{
	return c->kind == GRAIN_TASK &&
	       !(c->flags & (CONTEXT_INCOMPLETE | CONTEXT_DISCARDED | CONTEXT_SPLIT));
}

static int profile_depths(struct grain_graph *g)
{
	struct running_stat *exec = NULL;
	size_t i, depths = 0, kept = 0;
	int error;

	for (i = 0; i < g->context_count; i++)
		if (counts(&g->contexts[i]) && g->contexts[i].depth >= depths)
			depths = (size_t)g->contexts[i].depth + 1;
	error = memory__array(&g->memory, depths, sizeof *exec, (void **)&exec);
	if (error < 0)
		return error;
	for (i = 0; i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (counts(c))
			running_stat__add(&exec[c->depth], c->exec_ns);
	}
	error = memory__array(&g->memory, depths, sizeof *g->depths, (void **)&g->depths);
	for (i = 0; error == 0 && i < depths; i++) {
		if (exec[i].count)
			g->depths[kept++] = (struct grain_depth){.depth = (uint32_t)i,
								 .grains = exec[i].count,
								 .exec = running_stat__result(&exec[i])};
	}
	g->depth_count = kept;
	memory__release(&g->memory, (void **)&exec, depths, sizeof *exec);
	return error;
}

int graph__profile(struct grain_graph *graph)
{
	int error = profile_definitions(graph);

	return error < 0 ? error : profile_depths(graph);
}
