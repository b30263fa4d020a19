/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table by definition, before and after: joins the rows of two profiles and adds what their matched
 * grains give.
 */
#include "analysis/compare/compare_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of one of the profiles. */
struct entry {
	const struct grain_graph *graph;
	const struct grain_profile *profile;
	const char *source, *function;
	uint32_t line;
	bool after;   /* true: a row of the run; false: of the base */
	uint32_t row; /* the row of the table that includes this entry; GRAIN_NONE: none yet */
};

struct table {
	struct grain_compare *compare;
	struct entry *entries;
	size_t entry_count;
	/* Per profile__slot(): the row that sums its grains, GRAIN_NONE: none. */
	uint32_t *row_of_base, *row_of_run;
	double *deviation, *median; /* deviation: per context of the run; median: per row */
};

static int compare_kinds(const struct entry *x, const struct entry *y)
{
	int r = strcmp(x->profile->kind, y->profile->kind);

	return r ? r : strcmp(x->function, y->function);
}

static int compare_places(const struct entry *x, const struct entry *y)
{
	int r = strcmp(x->source, y->source);

	return r ? r : compare_kinds(x, y);
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = compare_places(x, y);

	return r ? r : x->after - y->after;
}

/* Puts entries without a row first, and sorts them by what stays the same when a line moves. */
static int by_kind(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	bool x_done = x->row != GRAIN_NONE, y_done = y->row != GRAIN_NONE;
	int r;

	if (x_done != y_done)
		return x_done - y_done;
	r = compare_kinds(x, y);
	if (r == 0)
		r = x->after - y->after;
	if (r == 0)
		r = (x->line > y->line) - (x->line < y->line);
	return r ? r : strcmp(x->source, y->source);
}

static void add_entries(struct table *t, const struct grain_graph *g, bool after)
{
	size_t i;

	for (i = 0; i < g->profile_count; i++) {
		const struct grain_profile *p = &g->profiles[i];
		bool known = p->definition != GRAIN_NONE;

		t->entries[t->entry_count++] = (struct entry){
			.graph = g,
			.profile = p,
			.source = known ? g->definitions[p->definition].source : "",
			.function = known ? g->definitions[p->definition].function : "",
			.line = known ? g->definitions[p->definition].line : 0,
			.after = after,
			.row = GRAIN_NONE,
		};
	}
}

static struct grain_side side_of(const struct entry *e)
{
	struct grain_side side = {0};
	uint64_t complete;
	int k;

	for (k = 0; k < GRAIN_PROBLEM_COUNT; k++)
		side.problem_percent[k] = NAN;
	if (!e)
		return side;
	side.instances = e->profile->instances;
	side.exec = e->profile->exec;
	side.create = e->profile->create;
	side.wait = e->profile->wait;
	complete = side.instances - e->profile->incomplete - e->profile->discarded;
	for (k = 0; complete && k < GRAIN_PROBLEM_COUNT; k++)
		if (e->graph->problems[k].available)
			side.problem_percent[k] =
				100.0 * (double)e->profile->problem_grains[k] / (double)complete;
	return side;
}

/* Adds a row; one of `before` and `after` may be NULL. */
static void add_row(struct table *t, struct entry *before, struct entry *after)
{
	struct grain_compare *c = t->compare;
	const struct entry *named = after ? after : before;

	c->rows[c->row_count] = (struct grain_compare_definition){
		.base = before ? before->profile->definition : GRAIN_NONE,
		.run = after ? after->profile->definition : GRAIN_NONE,
		.source = named->source,
		.function = named->function,
		.kind = named->profile->kind,
		.before = side_of(before),
		.after = side_of(after),
		.median_deviation = NAN,
	};
	if (before)
		before->row = (uint32_t)c->row_count;
	if (after)
		after->row = (uint32_t)c->row_count;
	c->row_count++;
}

/* Returns the first entry of the run. The entries are sorted and equal except for their side. */
static size_t middle_of(const struct entry *entries, size_t count)
{
	size_t i = 0;

	while (i < count && !entries[i].after)
		i++;
	return i;
}

/* Makes one row for each place that has the same name in both runs. Other entries stay without a row. */
static void join_places(struct table *t)
{
	size_t i, past, k;

	qsort(t->entries, t->entry_count, sizeof *t->entries, by_place);
	for (i = 0; i < t->entry_count; i = past) {
		size_t middle;

		for (past = i + 1; past < t->entry_count; past++)
			if (compare_places(&t->entries[i], &t->entries[past]) != 0)
				break;
		middle = i + middle_of(&t->entries[i], past - i);
		for (k = 0; i + k < middle && middle + k < past; k++)
			add_row(t, &t->entries[i + k], &t->entries[middle + k]);
	}
}

static void join_moved(struct table *t)
{
	size_t i, past, k, waiting = 0;

	qsort(t->entries, t->entry_count, sizeof *t->entries, by_kind);
	while (waiting < t->entry_count && t->entries[waiting].row == GRAIN_NONE)
		waiting++;
	for (i = 0; i < waiting; i = past) {
		size_t before, after;
		bool moved;

		for (past = i + 1; past < waiting; past++)
			if (compare_kinds(&t->entries[i], &t->entries[past]) != 0)
				break;
		before = middle_of(&t->entries[i], past - i);
		after = past - i - before;
		moved = before == after && t->entries[i].function[0];
		for (k = 0; k < before; k++)
			add_row(t, &t->entries[i + k], moved ? &t->entries[i + before + k] : NULL);
		for (k = 0; k < after && !moved; k++)
			add_row(t, NULL, &t->entries[i + before + k]);
	}
}

static int index_rows(struct table *t, const struct grain_graph *g, bool after, uint32_t **out)
{
	size_t i, n = profile__slots(g);
	int error = memory__array(&t->compare->memory, n, sizeof **out, (void **)out);

	if (error < 0)
		return error;
	for (i = 0; i < n; i++)
		(*out)[i] = GRAIN_NONE;
	for (i = 0; i < t->entry_count; i++)
		if (t->entries[i].after == after)
			(*out)[profile__slot(g, t->entries[i].profile)] = t->entries[i].row;
	return 0;
}

static void sum_pairs(struct table *t)
{
	struct grain_compare *c = t->compare;
	const struct match *m = &c->match;
	size_t i;

	for (i = 0; i < m->run->context_count; i++) {
		enum grain_compare_reason reason = match__reason(m, (uint32_t)i);
		const struct context *before, *after = &m->run->contexts[i];
		struct grain_compare_definition *d;

		t->deviation[i] = match__deviation(m, (uint32_t)i);
		if (reason != GRAIN_COMPARE_MEASURED && reason != GRAIN_COMPARE_BASE_ZERO)
			continue;
		before = &m->base->contexts[m->base_of[i]];
		d = &c->rows[t->row_of_run[profile__slot_of(m->run, after)]];
		d->matched++;
		d->excess_ns += (int64_t)(after->exec_ns - before->exec_ns);
		d->inflated += t->deviation[i] > c->totals.threshold;
		c->totals.other_definition +=
			d != &c->rows[t->row_of_base[profile__slot_of(m->base, before)]];
	}
}

static uint64_t change_of(const struct grain_compare_definition *d)
{
	uint64_t x = d->before.exec.sum, y = d->after.exec.sum;

	return x > y ? x - y : y - x;
}

static int by_change(const void *a, const void *b)
{
	const struct grain_compare_definition *x = a, *y = b;
	int r;

	if (change_of(x) != change_of(y))
		return change_of(x) > change_of(y) ? -1 : 1;
	r = strcmp(x->source, y->source);
	if (r == 0)
		r = strcmp(x->function, y->function);
	return r ? r : strcmp(x->kind, y->kind);
}

static int fill(struct table *t)
{
	struct grain_compare *c = t->compare;
	const struct grain_graph *run = c->match.run;
	size_t i;
	int error = index_rows(t, c->match.base, false, &t->row_of_base);

	if (error == 0)
		error = index_rows(t, run, true, &t->row_of_run);
	if (error == 0)
		error = memory__array(&c->memory, run->context_count, sizeof *t->deviation,
				      (void **)&t->deviation);
	if (error == 0)
		error = memory__array(&c->memory, c->row_count, sizeof *t->median, (void **)&t->median);
	if (error < 0)
		return error;
	sum_pairs(t);
	error = deviation__medians(run, t->deviation, t->row_of_run, c->row_count, &c->memory, t->median);
	if (error < 0)
		return error;
	for (i = 0; i < c->row_count; i++)
		c->rows[i].median_deviation = t->median[i];
	if (c->row_count)
		qsort(c->rows, c->row_count, sizeof *c->rows, by_change);
	return 0;
}

int compare__make_rows(struct grain_compare *c)
{
	struct table t = {.compare = c};
	size_t most = c->match.base->profile_count + c->match.run->profile_count;
	int error = memory__array(&c->memory, most, sizeof *t.entries, (void **)&t.entries);

	if (error == 0)
		error = memory__array(&c->memory, most, sizeof *c->rows, (void **)&c->rows);
	if (error == 0) {
		add_entries(&t, c->match.base, false);
		add_entries(&t, c->match.run, true);
		join_places(&t);
		join_moved(&t);
		error = fill(&t);
	}
	free(t.entries);
	free(t.row_of_base);
	free(t.row_of_run);
	free(t.deviation);
	free(t.median);
	return error;
}
