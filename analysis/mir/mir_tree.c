/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a tree of the rows: which row created which, and which rows are members of one team or chunks of one
 * loop. A profile leaves out some contexts (the runtime as a parent, a member above chunks). They are added
 * as rows without time of their own.
 */
#include "analysis/mir/mir.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int make_row(struct mir *m, struct mir_row row, uint32_t *out)
{
	int error = array__grow(&m->rows, m->row_count, sizeof(*m->rows), &m->budget);

	if (error)
		return error;
	row.made = true;
	row.join_step = row.region = GRAIN_NONE;
	*out = (uint32_t)m->row_count;
	m->rows[m->row_count++] = row;
	return 0;
}

/* Finds each row's parent. `counts` gets the number of children that are in the file. */
static int find_parents(struct mir *m, uint32_t *counts, bool *runtime)
{
	for (size_t i = 0; i < m->row_count; i++) {
		struct mir_row *row = &m->rows[i];
		uint32_t up = number_map__get(&m->row_of, row->parent);
		int error = 0;

		if (row->parent == 0 && (up == GRAIN_NONE || up == i)) {
			*runtime |= row->kind != MIR_INITIAL;
			continue;
		}
		if (up == GRAIN_NONE)
			error = mir__broken(m, row->line,
					    "parent %" PRIu64 " of task %" PRIu64 " is not in the file",
					    row->parent, row->task);
		else if (up == i)
			error = mir__broken(m, row->line, "task %" PRIu64 " is its own parent", row->task);
		else if (row->kind != MIR_INITIAL)
			counts[row->up = up]++;
		if (error)
			return error;
		row->spoiled |= row->up == GRAIN_NONE;
	}
	return 0;
}

static int check_counts(struct mir *m, const uint32_t *counts)
{
	for (size_t i = 0; i < m->row_count; i++) {
		struct mir_row *row = &m->rows[i];
		int error;

		if (row->children_said == counts[i])
			continue;
		error = mir__broken(m, row->line,
				    "task %" PRIu64 " has %u children; %u of them are in the file", row->task,
				    row->children_said, counts[i]);
		if (error)
			return error;
		row->spoiled = true;
	}
	return 0;
}

/*
 * Decides the kinds of rows. An idle task without children is only idle time. Checks that the parents of
 * members and chunks may have such children.
 */
static int settle_kinds(struct mir *m, const uint32_t *counts)
{
	for (size_t i = 0; i < m->row_count; i++) {
		struct mir_row *row = &m->rows[i];

		if (row->kind == MIR_INITIAL && (counts[i] == 0 || row->up != GRAIN_NONE))
			row->kind = MIR_UNUSED;
	}
	for (size_t i = 0; i < m->row_count; i++) {
		struct mir_row *row = &m->rows[i];
		const struct mir_row *up = row->up == GRAIN_NONE ? NULL : &m->rows[row->up];
		int error = 0;

		if (row->kind == MIR_MEMBER && ((up && up->kind != MIR_INITIAL) || (!up && row->spoiled)))
			row->kind = MIR_TASK;
		if (row->kind == MIR_BOOK && counts[i])
			error = mir__broken(m, row->line, "book-keeping with children");
		else if (mir_row__of_loop(row) && up && mir_row__of_loop(up))
			error = mir__broken(m, row->line, "a chunk inside a chunk");
		else if (!mir_row__of_loop(row) || !row->spoiled)
			continue;
		if (error)
			return error;
		row->kind = MIR_TASK;
		row->spoiled = true;
	}
	return 0;
}

static int attach_to_runtime(struct mir *m)
{
	size_t count = m->row_count;
	uint32_t root, cpu = 0;
	int error;

	for (size_t i = 0; i < count; i++)
		if (m->rows[i].cpu >= cpu)
			cpu = m->rows[i].cpu + 1;
	error = make_row(m, (struct mir_row){.kind = MIR_INITIAL, .up = GRAIN_NONE, .cpu = cpu}, &root);
	for (size_t i = 0; !error && i < count; i++) {
		struct mir_row *row = &m->rows[i];

		if (row->up != GRAIN_NONE || row->spoiled || row->kind == MIR_INITIAL ||
		    row->kind == MIR_UNUSED)
			continue;
		row->up = root;
		if (row->joins_at >= m->rows[root].waits)
			m->rows[root].waits = row->joins_at + 1;
	}
	return error;
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_worker(const void *a, const void *b, void *ctx)
{
	const struct mir *m = ctx;
	const struct mir_row *x = &m->rows[*(const uint32_t *)a], *y = &m->rows[*(const uint32_t *)b];
	int order = compare_u32(x->up, y->up);

	order = order ? order : compare_u32(x->joins_at, y->joins_at);
	order = order ? order : compare_u32(x->cpu, y->cpu);
	order = order ? order : compare_u32(x->number, y->number);
	return order ? order : compare_u32(x->line, y->line);
}

/*
 * Adds members above chunks that have none. Each worker that executes some of the loop's chunks becomes a
 * member.
 */
static int make_members(struct mir *m)
{
	uint32_t *list, member = GRAIN_NONE;
	size_t n = 0, count = m->row_count;
	int error = mir__array(m, count, sizeof(*list), (void **)&list);

	for (size_t i = 0; !error && i < count; i++) {
		const struct mir_row *row = &m->rows[i];

		if (mir_row__of_loop(row) && row->up != GRAIN_NONE && m->rows[row->up].kind == MIR_INITIAL)
			list[n++] = (uint32_t)i;
	}
	if (error)
		return error;
	qsort_r(list, n, sizeof(*list), by_worker, m);
	for (size_t i = 0; !error && i < n; i++) {
		struct mir_row row = m->rows[list[i]];
		const struct mir_row *of = member == GRAIN_NONE ? NULL : &m->rows[member];

		if (!of || of->up != row.up || of->joins_at != row.joins_at || of->cpu != row.cpu)
			error = make_row(m,
					 (struct mir_row){.kind = MIR_MEMBER,
							  .up = row.up,
							  .joins_at = row.joins_at,
							  .cpu = row.cpu,
							  .number = row.number,
							  .line = row.line,
							  .source = row.source,
							  .waits = 1},
					 &member);
		if (error)
			break;
		m->rows[list[i]].up = member;
		m->rows[list[i]].joins_at = 0;
	}
	free(list);
	return error;
}

static int by_parent(const void *a, const void *b, void *ctx)
{
	const struct mir *m = ctx;
	const struct mir_row *x = &m->rows[*(const uint32_t *)a], *y = &m->rows[*(const uint32_t *)b];
	int order = compare_u32(x->up, y->up);

	order = order ? order : compare_u32(x->number, y->number);
	return order ? order : compare_u32(x->line, y->line);
}

static int check_joins(struct mir *m, struct mir_row *up)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < up->children; i++) {
		struct mir_row *row = &m->rows[m->child[up->first_child + i]];
		int error = 0;

		if (row->joins_at > up->waits)
			error = mir__broken(m, row->line,
					    "task %" PRIu64 " joins at wait %u of a parent with %u",
					    row->task, row->joins_at, up->waits);
		else if (row->joins_at < last)
			error = mir__broken(m, row->line,
					    "task %" PRIu64
					    " joins at wait %u; one that was made before it at %u",
					    row->task, row->joins_at, last);
		else
			last = row->joins_at;
		if (error)
			return error;
		if (row->joins_at != last)
			row->spoiled = true;
		row->joins_at = last;
	}
	return 0;
}

static int sort_children(struct mir *m)
{
	size_t n = 0;
	int error = mir__array(m, m->row_count, sizeof(*m->child), (void **)&m->child);

	for (size_t i = 0; !error && i < m->row_count; i++)
		if (m->rows[i].up != GRAIN_NONE && m->rows[i].kind != MIR_UNUSED)
			m->child[n++] = (uint32_t)i;
	if (error)
		return error;
	qsort_r(m->child, n, sizeof(*m->child), by_parent, m);
	for (size_t i = 0; i < n; i++) {
		struct mir_row *up = &m->rows[m->rows[m->child[i]].up];

		if (up->children++ == 0)
			up->first_child = (uint32_t)i;
	}
	for (size_t i = 0; !error && i < m->row_count; i++)
		error = check_joins(m, &m->rows[i]);
	return error;
}

/*
 * Orders rows breadth first, starting with rows without a parent. A row that this does not reach is its own
 * ancestor.
 */
static int order_rows(struct mir *m)
{
	uint8_t *reached;
	int error = mir__array(m, m->row_count, sizeof(*m->order), (void **)&m->order);

	if (!error)
		error = mir__array(m, m->row_count, 1, (void **)&reached);
	if (error)
		return error;
	for (size_t i = 0; i < m->row_count; i++)
		if (m->rows[i].up == GRAIN_NONE && m->rows[i].kind != MIR_UNUSED)
			m->order[m->order_count++] = (uint32_t)i;
	for (size_t at = 0; at < m->order_count; at++) {
		const struct mir_row *row = &m->rows[m->order[at]];

		reached[m->order[at]] = 1;
		for (uint32_t i = 0; i < row->children; i++)
			m->order[m->order_count++] = m->child[row->first_child + i];
	}
	for (size_t i = 0; i < m->row_count && !error; i++) {
		if (reached[i] || m->rows[i].kind == MIR_UNUSED)
			continue;
		error = mir__broken(m, m->rows[i].line, "task %" PRIu64 " is among its own ancestors",
				    m->rows[i].task);
		m->rows[i].kind = MIR_UNUSED;
	}
	free(reached);
	return error;
}

int mir__tree(struct mir *m)
{
	uint32_t *counts;
	bool runtime = false;
	int error = mir__array(m, m->row_count, sizeof(*counts), (void **)&counts);

	if (error)
		return error;
	error = find_parents(m, counts, &runtime);
	if (!error)
		error = check_counts(m, counts);
	if (!error)
		error = settle_kinds(m, counts);
	free(counts);
	if (!error && runtime)
		error = attach_to_runtime(m);
	if (!error)
		error = make_members(m);
	if (!error)
		error = sort_children(m);
	return error ? error : order_rows(m);
}
