/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up the grains by definition and by depth, and for the task profile, in one pass over the contexts. */
#include "analysis/metrics/metrics.h"
#include "analysis/metrics/profile.h"
#include "analysis/graph/tasking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct profile_row *row_of(const struct grain_graph *g, struct profile_row *rows,
				  const struct context *c)
{
	return &rows[profile__slot_of(g, c)];
}

static const char *kind_of(const struct grain_graph *g, size_t definition, int kind)
{
	if (kind != GRAIN_PROFILE_TASKS)
		return kind == GRAIN_PROFILE_CHUNKS ? "loop" : "sections";
	return definition < g->definition_count && g->definitions[definition].kind[0]
		       ? g->definitions[definition].kind
		       : "task";
}

/* The time of the context's fragments that are on the critical path. */
static uint64_t critical_of(const struct grain_graph *g, const struct context *c)
{
	uint64_t ns = 0;
	uint32_t k;

	for (k = c->first_item; k < c->first_item + c->item_count; k++)
		if (g->items[k].kind == GRAIN_FRAGMENT && g->items[k].flags & ITEM_CRITICAL)
			ns += g->items[k].own_ns;
	return ns;
}

static void add(const struct grain_graph *g, struct profile_row *row, const struct context *c)
{
	struct grain_profile *p = &row->profile;
	int k;

	p->instances++;
	p->leaves += !!(c->flags & CONTEXT_LEAF);
	p->undeferred += !!(c->flags & CONTEXT_UNDEFERRED);
	if (c->flags & CONTEXT_CRITICAL)
		p->critical_path_ns += critical_of(g, c);
	if (c->flags & CONTEXT_INCOMPLETE) {
		p->incomplete++;
		return;
	}
	if (c->flags & CONTEXT_DISCARDED) {
		p->discarded++;
		return;
	}
	p->graph_complete++;
	row->graph_exec_ns += c->exec_ns;
	row->cpu_ns += context__cpu(g, c);
	running_stat__add(&row->exec, c->exec_ns);
	running_stat__add(&row->create, c->kind == GRAIN_CHUNK ? context__bookkeeping(g, c) : c->create_ns);
	running_stat__add(&row->wait, c->wait_ns);
	for (k = 0; k < GRAIN_PROBLEM_COUNT; k++)
		p->problem_grains[k] += c->problems >> k & 1;
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

static int keep_rows(struct grain_graph *g, struct profile_row *rows)
{
	size_t i, kept = 0, n = profile__slots(g);
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
		p->definition = i / GRAIN_PROFILE_KINDS == g->definition_count
					? GRAIN_NONE
					: (uint32_t)(i / GRAIN_PROFILE_KINDS);
		p->of = (enum grain_profile_of)(i % GRAIN_PROFILE_KINDS);
		p->kind = kind_of(g, i / GRAIN_PROFILE_KINDS, (int)(i % GRAIN_PROFILE_KINDS));
		p->preemption_share = g->scheduler_seen && rows[i].graph_exec_ns
					      ? 1 - (double)rows[i].cpu_ns / (double)rows[i].graph_exec_ns
					      : NAN;
		p->exec = running_stat__result(&rows[i].exec);
		p->create = running_stat__result(&rows[i].create);
		p->wait = running_stat__result(&rows[i].wait);
		g->profiles[kept++] = *p;
	}
	qsort(g->profiles, kept, sizeof *g->profiles, by_exec);
	return 0;
}

static bool counts(const struct context *c)
{
	return c->kind == GRAIN_TASK &&
	       !(c->flags & (CONTEXT_INCOMPLETE | CONTEXT_DISCARDED | CONTEXT_SPLIT));
}

/* Execution times by depth, while they are summed up. */
struct levels {
	struct running_stat *exec;
	size_t count, capacity;
};

static int add_level(struct grain_graph *g, struct levels *levels, const struct context *c)
{
	if (!counts(c))
		return 0;
	while (levels->count <= c->depth) {
		int error = memory__grow(&g->memory, (void **)&levels->exec, &levels->capacity, levels->count,
					 sizeof *levels->exec);

		if (error < 0)
			return error;
		levels->exec[levels->count++] = (struct running_stat){0};
	}
	running_stat__add(&levels->exec[c->depth], c->exec_ns);
	return 0;
}

static int keep_levels(struct grain_graph *g, const struct levels *levels)
{
	size_t i, kept = 0;
	int error = memory__array(&g->memory, levels->count, sizeof *g->depths, (void **)&g->depths);

	for (i = 0; error == 0 && i < levels->count; i++) {
		const struct running_stat *exec = &levels->exec[i];

		if (exec->count)
			g->depths[kept++] = (struct grain_depth){.depth = (uint32_t)i,
								 .grains = exec->count,
								 .exec = running_stat__result(exec)};
	}
	g->depth_count = kept;
	return error;
}

int graph__profile(struct grain_graph *g)
{
	struct levels levels = {0};
	struct profile_row *rows = NULL;
	size_t i, n = profile__slots(g);
	int error = memory__array(&g->memory, n, sizeof *rows, (void **)&rows);

	if (error == 0)
		error = graph__sum_inclusive(g);
	for (i = 0; error == 0 && i < g->context_count; i++) {
		const struct context *c = &g->contexts[i];

		if (!context__is_grain(c))
			continue;
		add(g, row_of(g, rows, c), c);
		error = add_level(g, &levels, c);
		if (error == 0)
			error = tasking__count(g, (uint32_t)i);
	}
	if (error == 0)
		folded__profile(g, rows);
	if (error == 0)
		error = keep_rows(g, rows);
	if (error == 0)
		error = keep_levels(g, &levels);
	if (error == 0)
		error = tasking__finish(g);
	memory__release(&g->memory, (void **)&levels.exec, levels.capacity, sizeof *levels.exec);
	memory__release(&g->memory, (void **)&rows, n, sizeof *rows);
	return error;
}
